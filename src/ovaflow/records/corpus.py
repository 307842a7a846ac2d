"""The records of a source, one by one, with labels as the settings want them."""

import re
from dataclasses import replace
from itertools import chain

import numpy as np

from ovaflow.labels.separators import SAMPLE, cut_sentence, doubt_about
from ovaflow.reading.formats import FORMATS, format_of
from ovaflow.reading.instances import NO_SEPARATOR
from ovaflow.reading.markup import without_markup
from ovaflow.reading.streams import File, matching_paths
from ovaflow.settings.section import listed
from ovaflow.settings.source import holds_texts

_MARKUP = re.compile(
    r"&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,6});"
    r"|</?(?:a|b|br|div|em|h[1-6]|i|img|li|ol|p|span|strong|su[bp]|t[dr]|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)
"""Entities and tags of HTML."""


class Corpus:
    """Records of the files of a role in their order, as the settings want them; ``counts`` says what was seen."""

    def __init__(self, source, labels, role):
        self._source, self._labels, self._role = source, labels, role
        self._reading = source.reading_for(labels)
        if role in ("test", "dev"):
            self._reading = replace(self._reading, weight_column=None)
        self.counts = self._reading.counts

    def __iter__(self):
        if self._source.format == "builtin":
            yield from map(self._chosen, self._docstrings())
        else:
            yield from map(self._adapted, self._instances())

    def doubt(self, lists, counts):
        """Whether the labels are combinations of others; None where no separator was used, or none is wanted."""
        reading = self._reading
        if self._labels.n_labels is not None or reading.separator == NO_SEPARATOR or not reading.seen.get("separated"):
            return None
        several = lists.lengths > 1
        cells = [list(map(self._labels.written, lists.of(row))) for row in np.flatnonzero(several)[:SAMPLE]]
        if (sentence := cut_sentence(cells, reading.separator)) is not None:
            counts["labels_cut"] = sentence
        joined = map(reading.separator.join, cells)
        return doubt_about(reading.written_labels, several.mean(), reading.separator, joined)

    def _docstrings(self):
        # near twins may be on both sides, so that figures stay comparable with published ones
        if self._role == "train":
            for name, figure in self._source.docstrings.counts.items():
                self.counts[name] = figure
        return getattr(self._source.docstrings, self._role)

    def _instances(self):
        paths = self._source.paths[self._role]
        for path in paths:
            for instance in self._read(path, self._source.format, self._reading):
                yield instance._replace(file=path.name) if len(paths) > 1 and path.is_file() else instance
        if self._role == "train" and self._source.extra:
            yield from self._extra_instances()

    def _extra_instances(self):
        """Instances of extra files with their weights."""
        reading = replace(self._reading, group_column=None, time_column=None, weight_column=None)
        for location, weight in zip(listed(self._source.extra), self._source.settings.extra_weight, strict=True):
            for path in matching_paths(location):
                named = format_of(path)
                format = named if holds_texts(named) else self._source.format
                for instance in self._read(path, format, reading):
                    yield instance._replace(weight=weight, extra=True, file=path.name)

    def _read(self, path, format, reading):
        return FORMATS[format].read(File(path, reading.encoding), reading)

    def _adapted(self, instance):
        """An instance with the right labels, without markup, as the settings say."""
        new_names, above = self._labels.new_names, self._labels.above
        if renamed := new_names.keys() & set(instance.labels):
            self.counts["labels_renamed"] += len(renamed)
            names = dict.fromkeys(new_names.get(label, label) for label in instance.labels)
            instance = instance._replace(labels=tuple(filter(None, names)))
        if followed := self._labels.replaced.keys() & set(instance.labels):
            self.counts["records_with_replaced_subjects"] += 1
            self._labels.followed.update(followed)
            uris = dict.fromkeys(self._labels.replaced.get(label, label) for label in instance.labels)
            instance = instance._replace(labels=tuple(uris))
        if above is not None:
            higher = chain.from_iterable(map(above, instance.labels))
            instance = instance._replace(labels=tuple(dict.fromkeys([*instance.labels, *higher])))
        if self._reading.vectors:
            return self._chosen(instance)
        if self._source.settings.html:
            instance = instance._replace(text=without_markup(instance.text))
        elif ("<" in instance.text or "&" in instance.text) and _MARKUP.search(instance.text) is not None:
            self.counts["texts_with_markup"] += 1
        return self._chosen(instance)

    def _chosen(self, instance):
        """An instance with those of its labels that are chosen, where not all are."""
        choice = self._labels.choice
        if choice is None:
            return instance
        kept = tuple(filter(choice.keeps, instance.labels))
        self.counts["labels_of_instances_left_out"] += len(instance.labels) - len(kept)
        return instance._replace(labels=kept)
