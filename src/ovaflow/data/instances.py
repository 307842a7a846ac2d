"""The labelled texts of a source, as its settings want them, and names of labels as further texts."""

import re
from array import array
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import chain, compress, pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.data.docstrings import docstrings
from ovaflow.data.labels import labels_of
from ovaflow.data.readers.annif import read_annif
from ovaflow.data.readers.streams import FORMATS, ending_of, matching_paths
from ovaflow.data.readers.texts import FIELD, Instances, read_texts, without_markup
from ovaflow.data.repeated_ids import RepeatedIds, last_of_each_id
from ovaflow.data.splitting import group_numbers, set_aside
from ovaflow.data.tfidf import stack
from ovaflow.settings.models import TEXT_FORMATS, listed
from ovaflow.sparse.csr import CSR, from_scipy, offsets, rows_of

_MARKUP = re.compile(
    r"&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,6});"
    r"|</?(?:a|b|br|div|em|h[1-6]|i|img|li|ol|p|span|strong|su[bp]|t[dr]|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)
"""Entities and tags of HTML."""


def training_instances(source, threads=1):
    source.require_files()
    if source.format not in ("builtin", *TEXT_FORMATS):
        message = f"{source.format} holds features, not texts"
        raise InputError(message, path=source.train_name, remedy="leave out features: auto")
    train = read_instances(source, labels_of(source), threads).train
    return (instance for instance in train if instance.weight is None)


def read_instances(source, labels, threads=1, folder=None):
    settings = source.settings
    if source.format == "builtin":
        # near twins may be on both sides, so that figures stay comparable with published ones
        made = docstrings(test_fraction=settings.test_fraction, seed=settings.seed)
        parts = ([_chosen(each, labels.choice, made.counts) for each in part] for part in made[:2])
        return Instances(*parts, made.counts)
    counts, read = Counter(), _reader(source, labels, "train")
    if source.test is not None:
        return Instances(read(counts), _reader(source, labels, "test")(counts), counts)
    instances = (instance for instance in read(counts) if instance.weight is None)
    division = set_aside(instances, settings, threads, folder)
    counts.update(division.counts)
    # the first pass has counted all; extra instances are the last
    extra = np.ones(counts["extra_instances"], bool)
    parts = np.append(division.train, extra), np.append(division.test, ~extra)
    train, test = (compress(read(Counter()), part.tolist()) for part in parts)
    return Instances(train, test, counts)


def _reader(source, labels, role):
    """A function that reads the train or test files, and counts what the settings leave out."""
    files = partial(_read_files, source, labels.n_labels, role)
    if role == "train" and source.extra:
        files = partial(_read_all, source, labels.n_labels)
    adapt = partial(_adapted, settings=source.settings, kinds=labels)
    if source.settings.repeated == "keep":
        return lambda counts: adapt(files(counts), counts=counts)
    kept = last_of_each_id(files(Counter()))

    def instances(counts):
        counts["records_replaced"] += kept.count(False)
        return adapt(compress(files(counts), kept), counts=counts)

    return instances


def _read_all(source, n_labels, counts):
    """Training instances, then those of extra files with their weights."""
    yield from _read_files(source, n_labels, "train", counts)
    no_columns = {"group_column": None, "split_column": None}
    for location, weight in zip(listed(source.extra), source.settings.extra_weight, strict=True):
        for path in matching_paths(location):
            format = FORMATS.get(ending_of(path), source.format)
            settings = source.settings.model_copy(update={"format": format} | no_columns)
            for instance in read_texts(settings, path, n_labels):
                yield instance._replace(weight=weight, file=path.name)


def _read_files(source, n_labels, role, counts):
    if source.format == "annif":
        return chain.from_iterable(read_annif(location, counts) for location in listed(source.files[role]))
    paths = source.paths[role]
    if len(paths) == 1:
        return read_texts(source.settings, paths[0], n_labels)
    return (
        instance._replace(file=path.name) for path in paths for instance in read_texts(source.settings, path, n_labels)
    )


def _adapted(instances, settings, kinds, counts):
    """Instances with the right labels, without markup and unlabelled ones, as the settings say."""
    repeated, new_names, choice = RepeatedIds(), kinds.new_names, kinds.choice
    for instance in instances:
        if renamed := new_names.keys() & set(instance.labels):
            counts["labels_renamed"] += len(renamed)
            names = dict.fromkeys(new_names.get(label, label) for label in instance.labels)
            instance = instance._replace(labels=tuple(filter(None, names)))
        if kinds.above is not None:
            above = chain.from_iterable(map(kinds.above, instance.labels))
            instance = instance._replace(labels=tuple(dict.fromkeys([*instance.labels, *above])))
        instance = _chosen(instance, choice, counts)
        if settings.unlabelled == "drop" and not instance.labels:
            counts["instances_without_labels"] += 1
            continue
        if settings.html:
            instance = instance._replace(text=without_markup(instance.text))
        elif ("<" in instance.text or "&" in instance.text) and _MARKUP.search(instance.text) is not None:
            counts["texts_with_markup"] += 1
        counts["extra_instances"] += instance.weight is not None
        repeated.add(instance)
        yield instance
    repeated.count(counts)


def _chosen(instance, choice, counts):
    """An instance with those of its labels that are chosen, where not all are."""
    if choice is None:
        return instance
    kept = tuple(filter(choice.keeps, instance.labels))
    amount = counts.get("labels_of_instances_left_out", 0) + len(instance.labels) - len(kept)
    counts["labels_of_instances_left_out"] = amount
    return instance._replace(labels=kept)


class LabelLists:
    """The labels of one instance after the other, as numbers."""

    def __init__(self, number_of):
        self._number_of = number_of
        self._numbers, self._indptr = array("i"), array("q", [0])

    def append(self, labels):
        self._numbers.extend([self._number_of(label) for label in labels])
        self._indptr.append(len(self._numbers))

    @property
    def numbers(self):
        return np.array(self._numbers, np.int32)

    @property
    def lengths(self):
        return np.diff(np.array(self._indptr, np.int64))

    def __iter__(self):
        for start, end in pairwise(self._indptr):
            yield self._numbers[start:end]

    def matrix(self, ids, n_labels):
        """The matrix (n, l) of ones at the ids of the numbers; labels of the id -1 are left out."""
        known = ids >= 0
        indptr = offsets(known)[np.array(self._indptr, np.int64)]
        ones = np.ones(indptr[-1], np.float32)
        rows = scipy.sparse.csr_array((ones, ids[known], indptr), shape=(len(indptr) - 1, n_labels))
        rows.sum_duplicates()
        rows.data[:] = 1
        return from_scipy(rows)


class Corpus(NamedTuple):
    """What one pass over instances leaves."""

    features: Any
    labels: LabelLists
    records: list
    excerpts: list
    groups: np.ndarray | None
    extra: np.ndarray | None  # float32: what extra instances weigh, 0 for the others


def read_corpus(instances, labels, count, excerpt=0):
    """Read instances once; ``count`` makes features of texts, ``excerpt`` characters are kept."""
    lists, records, excerpts = LabelLists(labels.number_of), [], []
    groups, numbers, extra = array("q"), group_numbers(), array("f")

    def texts():
        for instance in instances:
            lists.append(instance.labels)
            records.append(instance.name)
            groups.append(numbers[instance.group])
            extra.append(instance.weight or 0)
            if excerpt:
                excerpts.append(instance.text[:excerpt].replace(FIELD, " "))
            yield instance.text

    features = count(texts())
    grouped = np.array(groups, np.int64) if len(numbers) > 1 else None
    weighted = np.array(extra, np.float32) if any(extra) else None
    return Corpus(features, lists, records, excerpts, grouped, weighted)


def with_label_names(train, names, transform, folder=None, others=()):
    """Training instances, then the names, and ``others``, of each label as texts with that label."""
    X, lengths = transform.features_and_norms([*names, *chain.from_iterable(others)], quiet=True)
    rows = np.flatnonzero(np.diff(X.indptr) > (transform.bias != 0))
    labels = np.repeat(np.arange(len(others)), [len(more) for more in others])
    labels = np.concatenate([np.arange(len(names)), labels])[rows].astype(np.int32)
    Y = CSR(np.ones(len(rows), np.float32), labels, np.arange(len(rows) + 1), len(names))
    norms = None if train.norms is None else np.concatenate([train.norms, lengths[rows]])
    X = stack([train.X, rows_of(X, rows)], X.n_columns, folder)
    named = replace(train, X=X, Y=stack([train.Y, Y], len(names)), norms=norms)
    if train.extra is None:
        return named
    weights = np.pad(train.weights, (0, len(rows)), constant_values=1)
    extra = np.pad(train.extra, (0, len(rows)))
    return replace(named, weights=weights, extra=extra)
