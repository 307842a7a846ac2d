"""The records of a source, read once and kept as tokens: what split, features and label matrices are made from."""

import re
from array import array
from collections import Counter
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.data.hold_out import hash_of
from ovaflow.data.labels import labels_of
from ovaflow.data.repeated import count_repeated, joined_rows, last_rows
from ovaflow.data.separators import SAMPLE, Doubt, cut_sentence, doubt_about
from ovaflow.data.splitting import group_numbers, set_aside
from ovaflow.data.tfidf import GrowingVector
from ovaflow.data.tokens import Tokens
from ovaflow.data.vocabulary import read_tokens, taken
from ovaflow.reading.formats import FORMATS, format_of
from ovaflow.reading.instances import FIELD, NO_SEPARATOR
from ovaflow.reading.markup import without_markup
from ovaflow.reading.streams import File, matching_paths
from ovaflow.settings.models import holds_texts, listed
from ovaflow.sparse.csr import CSR, from_scipy, offsets, rows_of

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
        reading = replace(self._reading, group_column=None, time_column=None)
        for location, weight in zip(listed(self._source.extra), self._source.settings.extra_weight, strict=True):
            for path in matching_paths(location):
                named = format_of(path)
                format = named if holds_texts(named) else self._source.format
                for instance in self._read(path, format, reading):
                    self.counts["extra_instances"] += 1
                    yield instance._replace(weight=weight, file=path.name)

    def _read(self, path, format, reading):
        return FORMATS[format].read(File(path, reading.encoding), reading)

    def _adapted(self, instance):
        """An instance with the right labels, without markup, as the settings say."""
        new_names, above = self._labels.new_names, self._labels.above
        if renamed := new_names.keys() & set(instance.labels):
            self.counts["labels_renamed"] += len(renamed)
            names = dict.fromkeys(new_names.get(label, label) for label in instance.labels)
            instance = instance._replace(labels=tuple(filter(None, names)))
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


class LabelLists:
    """The labels of one instance after the other, as numbers."""

    def __init__(self, number_of):
        self._number_of = number_of
        self._numbers, self._indptr = array("i"), array("q", [0])

    @classmethod
    def made_of(cls, numbers, indptr):
        lists = cls(None)
        lists._numbers, lists._indptr = numbers, indptr
        return lists

    def append(self, labels):
        self._numbers.extend([self._number_of(label) for label in labels])
        self._indptr.append(len(self._numbers))

    @property
    def numbers(self):
        return np.array(self._numbers, np.int32)

    @property
    def indptr(self):
        return np.array(self._indptr, np.int64)

    @property
    def lengths(self):
        return np.diff(self.indptr)

    def of(self, row):
        return self._numbers[self._indptr[row] : self._indptr[row + 1]]

    def __iter__(self):
        for start, end in pairwise(self._indptr):
            yield self._numbers[start:end]

    def take(self, rows):
        numbers = self.numbers
        chosen = rows_of(CSR(np.empty(len(numbers), np.float32), numbers, self.indptr, 0), rows)
        return LabelLists.made_of(chosen.indices, chosen.indptr)

    def all_given(self, n):
        """The labels of the first n instances as a matrix of ones, a column for each that any file has."""
        known, indptr = self.numbers >= 0, self.indptr[: n + 1]
        numbers, ends = self.numbers[: indptr[-1]], offsets(known[: indptr[-1]])[indptr]
        numbers = numbers[numbers >= 0]
        return scipy.sparse.csr_array((np.ones(len(numbers)), numbers, ends))

    def united(self, numbers, n):
        """Labels of all instances with the same number, below n, each once."""
        rows = scipy.sparse.csr_array((np.ones(len(self._numbers), bool), self.numbers, self.indptr))
        joins = scipy.sparse.csr_array((np.ones(len(numbers), bool), (numbers, np.arange(len(numbers)))))
        joins.resize(n, len(numbers))
        united = (joins @ rows).tocsr()
        return LabelLists.made_of(united.indices, united.indptr)

    def matrix(self, ids, n_labels):
        """The matrix (n, l) of ones at the ids of the numbers; labels of the id -1 are left out."""
        known = ids >= 0
        indptr = offsets(known)[self.indptr]
        ones = np.ones(indptr[-1], np.float32)
        rows = scipy.sparse.csr_array((ones, ids[known], indptr), shape=(len(indptr) - 1, n_labels))
        rows.sum_duplicates()
        rows.data[:] = 1
        return from_scipy(rows)


class StoredTexts:
    """Texts one after the other; with a folder they are mapped from there."""

    def __init__(self, folder=None):
        self._bytes, self._ends = GrowingVector(np.uint8, folder), array("q", [0])
        self._rows = None

    def append(self, text):
        content = text.encode("utf-8", "surrogatepass")
        self._bytes.extend(np.frombuffer(content, np.uint8))
        self._ends.append(self._ends[-1] + len(content))

    def take(self, rows):
        """Some of the texts, which are not copied."""
        chosen = copy(self)
        chosen._rows = rows if self._rows is None else self._rows[rows]
        return chosen

    def __iter__(self):
        content = self._bytes.mapped()
        for row in range(len(self._ends) - 1) if self._rows is None else self._rows:
            yield content[self._ends[row] : self._ends[row + 1]].tobytes().decode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Collected:
    """The records of a corpus, row by row: tokens of texts, and what else they have."""

    tokens: Tokens
    labels: LabelLists
    ids: list  # empty where a record has none
    records: list  # what a report calls them
    hashes: np.ndarray  # uint64, of the texts
    sets: np.ndarray  # int64, of their sets of words; -1 without a word
    groups: np.ndarray | None  # int64, -1 for none
    times: list
    extra: np.ndarray | None  # float32: what extra instances weigh, 0 for the others
    excerpts: StoredTexts
    rows: np.ndarray  # int64, ascending: which of the corpus they are

    @property
    def n(self):
        return len(self.records)

    def take(self, rows, folder=None):
        """Some of the records, in ascending order."""
        if len(rows) == self.n:
            return self
        arrays = {name: getattr(self, name) for name in ("hashes", "sets", "groups", "extra", "rows")}
        arrays = {name: None if array is None else array[rows] for name, array in arrays.items()}
        lists = {name: [getattr(self, name)[row] for row in rows] for name in ("ids", "records", "times")}
        tokens, labels, excerpts = taken(self.tokens, rows, folder), self.labels.take(rows), self.excerpts.take(rows)
        return Collected(tokens, labels, excerpts=excerpts, **arrays, **lists)


class Parts(NamedTuple):
    """Training and test records, and figures."""

    train: Collected
    test: Collected
    counts: Counter
    doubt: Doubt | None  # about the separator of labels


def _quick_hash(text):
    return hash(text) % (1 << 64)


def collect(corpus, labels, seed=None, threads=1, folder=None, excerpt=0):
    """Read a corpus once; of each text so many characters are kept."""
    lists, ids, records = LabelLists(labels.number_of), [], []
    groups, numbers, times, extra = array("q"), group_numbers(), [], array("f")
    hashes, excerpts = array("Q"), StoredTexts(folder)
    # only what is divided needs numbers that are the same tomorrow
    number_of = _quick_hash if seed is None else lambda text: hash_of(text.replace(FIELD, " "), seed)

    def texts():
        for instance in corpus:
            lists.append(instance.labels)
            ids.append(instance.id)
            records.append(instance.name)
            hashes.append(number_of(instance.text))
            groups.append(numbers[instance.group])
            times.append(instance.time)
            extra.append(instance.weight or 0)
            if excerpt:
                excerpts.append(instance.text[:excerpt].replace(FIELD, " "))
            yield instance.text

    sets = [np.empty(0, np.int64)]
    tokens = read_tokens(texts(), threads, folder, sets)
    grouped = np.array(groups, np.int64) if len(numbers) > 1 else None
    weighted = np.array(extra, np.float32) if any(extra) else None
    hashes = np.array(hashes, np.uint64)
    rows, sets = np.arange(len(ids)), np.concatenate(sets)
    return Collected(tokens, lists, ids, records, hashes, sets, grouped, times, weighted, excerpts, rows)


def read_parts(source, labels, threads=1, folder=None, excerpt=0):
    """The training and the test records of a source."""
    source.require_files()
    seed, divided = source.settings.seed, source.test is None and source.format != "builtin"
    reading = {"seed": seed if divided else None, "threads": threads, "folder": folder}
    corpora = [Corpus(source, labels, role) for role in ("train", "test")[: 2 - divided]]
    counts, parts = {"extra_instances": 0}, []
    for corpus, kept in zip(corpora, (excerpt * divided, excerpt), strict=False):
        parts.append(
            _as_wanted(collect(corpus, labels, excerpt=kept, **reading), source.settings, corpus.counts, folder)
        )
        _add(counts, corpus.counts)
    doubt = corpora[0].doubt(parts[0].labels, counts)
    if not divided:
        return Parts(*parts, counts, doubt)
    [records] = parts
    n = records.n if records.extra is None else records.n - np.count_nonzero(records.extra)
    # extra instances are the last, and never set aside
    division = set_aside(records, n, source.settings)
    counts |= division.counts
    extra = np.ones(records.n - n, bool)
    train, test = (
        np.flatnonzero(rows) for rows in (np.append(division.train, extra), np.append(division.test, ~extra))
    )
    return Parts(records.take(train, folder), records.take(test, folder), counts, doubt)


def _add(counts, others):
    """Add numbers; what else there is stays as it was first."""
    for name, value in others.items():
        counts[name] = counts.get(name, 0) + value if isinstance(value, int) else counts.get(name, value)


def _as_wanted(records, settings, counts, folder):
    """Records without those that others replace or that have no label, as the settings say."""
    n = records.n
    if settings.repeated == "last":
        records = records.take(last_rows(records), folder)
        counts["records_replaced"] += n - records.n
    if settings.repeated == "join":
        firsts, numbers = joined_rows(records)
        labels = records.labels.united(numbers, len(firsts))
        records = replace(records.take(firsts, folder), labels=labels)
        counts["records_joined"] += n - records.n
    count_repeated(records, counts)
    if settings.unlabelled == "drop":
        labelled = np.flatnonzero(records.labels.lengths)
        counts["instances_without_labels"] += records.n - len(labelled)
        records = records.take(labelled, folder)
    return records


def training_instances(source, threads=1):
    """Training instances that may be held out, with their texts: a second reading of the files."""
    source.require_files()
    if source.format != "builtin" and not holds_texts(source.format):
        message = f"{source.format} holds features, not texts"
        raise InputError(message, path=source.train_name, remedy="leave out features: auto")
    labels = labels_of(source)
    records = read_parts(source, labels, threads).train
    wanted = dict(zip(records.rows.tolist(), records.labels, strict=True))
    for row, instance in enumerate(Corpus(source, labels, "train")):
        if row in wanted and instance.weight is None:
            yield instance._replace(labels=tuple(labels.written(number) for number in wanted[row] if number >= 0))
