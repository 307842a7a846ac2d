"""The records of a source, one by one, with labels as they are written."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ovaflow.labels.lists import LabelLists
from ovaflow.labels.matrix import Labels
from ovaflow.labels.separators import (
    SAMPLED_LABELS,
    SeparatorDoubt,
    find_cut_sentence,
    find_separator_doubt,
)
from ovaflow.reading.feature_columns import FeatureColumn
from ovaflow.reading.formats import FORMATS, guess_format
from ovaflow.reading.instances import NO_SEPARATOR, TextInstance, read_kept_instances
from ovaflow.reading.markup import remove_markup
from ovaflow.records.doubtful_names import count_doubtful_names
from ovaflow.records.source import SourceFiles, find_record_files
from ovaflow.settings.section import as_list
from ovaflow.settings.source import holds_texts

_MARKUP = re.compile(
    r"&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,6});"
    r"|</?(?:a|b|br|div|em|h[1-6]|i|img|li|ol|p|span|strong|su[bp]|t[dr]|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)
"""Entities and tags of HTML."""


class Corpus:
    """Records of the files of a role, in their order.

    Parameters
    ----------
    source : SourceFiles
    labels : Labels
    role : str
        ``"train"``, ``"test"`` or ``"dev"``.

    Attributes
    ----------
    counts : Counter
        Numbers of what was left out or is remarkable.
    """

    def __init__(self, source: SourceFiles, labels: Labels, role: str) -> None:
        self._source = source
        self._labels = labels
        self._role = role
        self._reading = source.make_corpus_reading(labels)
        if role in ("test", "dev"):
            self._reading = replace(self._reading, weight_column=None)
        self.counts = self._reading.counts

    def __iter__(self) -> Iterator[TextInstance]:
        if self._source.format == "builtin":
            yield from self._get_docstrings()
        else:
            for instance in self._read_instances():
                yield self._remove_markup(instance)

    @property
    def feature_columns(self) -> tuple[FeatureColumn, ...]:
        """Columns next to the texts whose values are features."""
        return self._reading.feature_columns

    def find_doubt(self, written: LabelLists, counts: dict[str, Any]) -> SeparatorDoubt | None:
        """Find a doubt about the separator: written labels may be combinations of others.

        Parameters
        ----------
        written : LabelLists
            The labels of some of the records, as they are written.
        counts : Counter
            Gets a sentence about labels that are cut.

        Returns
        -------
        SeparatorDoubt, or None
            None also if no separator was used, or if labels are ids.
        """
        reading = self._reading
        if self._labels.n_labels is None:
            count_doubtful_names(reading, counts)
        has_separator = reading.separator != NO_SEPARATOR and reading.seen.get("separated")
        if self._labels.n_labels is not None or not has_separator:
            return None
        has_several = written.lengths > 1
        names = list(self._labels.meanings.written)
        cells = []
        for row in np.flatnonzero(has_several)[:SAMPLED_LABELS].tolist():
            cells.append([names[number] for number in written.get_labels(row)])
        sentence = find_cut_sentence(cells, reading.separator)
        if sentence is not None:
            counts["labels_cut"] = sentence
        joined = [reading.separator.join(cell) for cell in cells]
        return find_separator_doubt(
            reading.written_labels, has_several.mean(), reading.separator, joined
        )

    def _get_docstrings(self) -> list[TextInstance]:
        # near twins may be on both sides, so that figures stay comparable with published ones
        docstrings = self._source.docstrings
        if self._role == "train":
            counts: dict[str, Any] = self.counts
            for name, figure in docstrings.counts.items():
                counts[name] = figure
            return docstrings.train
        return docstrings.test

    def _read_instances(self) -> Iterator[TextInstance]:
        """Yield the instances of all files; where there are several, with the file's name."""
        paths = self._source.paths[self._role]
        read = FORMATS[self._source.format].read
        for path in paths:
            has_name = len(paths) > 1 and path.is_file()
            for instance in read_kept_instances(read, path, self._reading):
                yield instance._replace(file=path.name) if has_name else instance
        if self._role == "train" and self._source.extra:
            yield from self._read_extra_instances()

    def _read_extra_instances(self) -> Iterator[TextInstance]:
        """Yield the instances of extra files with their weights."""
        reading = replace(self._reading, group_column=None, time_column=None, weight_column=None)
        locations = as_list(self._source.extra)
        for location, weight in zip(locations, self._source.settings.extra_weight, strict=True):
            for path in find_record_files(location, self._source.format).paths:
                guessed = guess_format(path)
                format = self._source.format
                if guessed is not None and holds_texts(guessed):
                    format = guessed
                for instance in read_kept_instances(FORMATS[format].read, path, reading):
                    yield instance._replace(weight=weight, extra=True, file=path.name)

    def _remove_markup(self, instance: TextInstance) -> TextInstance:
        """Remove markup if the settings say so; else count the texts that have some."""
        if self._reading.vectors:
            return instance
        text = instance.text
        if self._source.settings.html:
            return instance._replace(text=remove_markup(text))
        # the first test is faster
        if ("<" in text or "&" in text) and _MARKUP.search(text):
            self.counts["texts_with_markup"] += 1
        return instance
