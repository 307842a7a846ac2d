"""The records of a source, one by one, with labels as they are written."""

import re
from dataclasses import replace

import numpy as np

from ovaflow.labels.separators import SAMPLED_LABELS, find_cut_sentence, find_separator_doubt
from ovaflow.reading.formats import FORMATS, guess_format
from ovaflow.reading.instances import NO_SEPARATOR
from ovaflow.reading.markup import remove_markup
from ovaflow.reading.streams import RecordFile, find_matching_paths
from ovaflow.settings.section import as_list
from ovaflow.settings.source import holds_texts

_MARKUP = re.compile(
    r"&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,6});"
    r"|</?(?:a|b|br|div|em|h[1-6]|i|img|li|ol|p|span|strong|su[bp]|t[dr]|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)
"""Entities and tags of HTML."""


class Corpus:
    """Records of the files of a role in their order; ``counts`` says what was seen."""

    def __init__(self, source, labels, role) -> None:
        self._source = source
        self._labels = labels
        self._role = role
        self._reading = source.reading_for(labels)
        if role in ("test", "dev"):
            self._reading = replace(self._reading, weight_column=None)
        self.counts = self._reading.counts

    def __iter__(self):
        if self._source.format == "builtin":
            yield from self._docstrings()
        else:
            yield from map(self._without_markup, self._instances())

    @property
    def feature_columns(self):
        """Columns beside the texts whose values are features."""
        return self._reading.feature_columns

    def doubt(self, written, counts):
        """Whether written labels are combinations of others; None where no separator was used, or
        none is wanted.
        """
        reading = self._reading
        if (
            self._labels.n_labels is not None
            or reading.separator == NO_SEPARATOR
            or not reading.seen.get("separated")
        ):
            return None
        several = written.lengths > 1
        names = list(self._labels.meanings.written)
        cells = []
        for row in np.flatnonzero(several)[:SAMPLED_LABELS].tolist():
            cells.append([names[number] for number in written.of(row)])
        if (sentence := find_cut_sentence(cells, reading.separator)) is not None:
            counts["labels_cut"] = sentence
        joined = map(reading.separator.join, cells)
        return find_separator_doubt(
            reading.written_labels, several.mean(), reading.separator, joined
        )

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
                yield (
                    instance._replace(file=path.name)
                    if len(paths) > 1 and path.is_file()
                    else instance
                )
        if self._role == "train" and self._source.extra:
            yield from self._extra_instances()

    def _extra_instances(self):
        """Instances of extra files with their weights."""
        reading = replace(self._reading, group_column=None, time_column=None, weight_column=None)
        for location, weight in zip(
            as_list(self._source.extra), self._source.settings.extra_weight, strict=True
        ):
            for path in find_matching_paths(location):
                named = guess_format(path)
                format = named if holds_texts(named) else self._source.format
                for instance in self._read(path, format, reading):
                    yield instance._replace(weight=weight, extra=True, file=path.name)

    def _read(self, path, format, reading):
        return FORMATS[format].read(RecordFile(path, reading.encoding), reading)

    def _without_markup(self, instance):
        """An instance without markup, if the settings say so; else texts that have some are
        counted.
        """
        if self._reading.vectors:
            return instance
        if self._source.settings.html:
            return instance._replace(text=remove_markup(instance.text))
        if ("<" in instance.text or "&" in instance.text) and _MARKUP.search(
            instance.text
        ) is not None:
            self.counts["texts_with_markup"] += 1
        return instance
