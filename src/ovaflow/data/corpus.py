"""Texts with labels, read in one pass, and names of labels as further texts."""

from array import array
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from ovaflow.data.dataset import Split
from ovaflow.data.readers.texts import FIELD
from ovaflow.data.tfidf import stack
from ovaflow.sparse.csr import CSR, from_scipy, offsets, rows_of


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


def read_corpus(instances, labels, count, excerpt=0):
    """Read instances once; ``count`` makes features of texts, ``excerpt`` characters are kept."""
    lists, records, excerpts = LabelLists(labels.number_of), [], []

    def texts():
        for instance in instances:
            lists.append(instance.labels)
            records.append(instance.name)
            if excerpt:
                excerpts.append(instance.text[:excerpt].replace(FIELD, " "))
            yield instance.text

    return Corpus(count(texts()), lists, records, excerpts)


def with_label_names(train, names, transform, folder=None, others=()):
    """Training instances, then the names, and ``others``, of each label as texts with that label.

    A label with few instances learns most from its name, which a person would look for in a text.
    """
    X, lengths = transform.features_and_norms([*names, *chain.from_iterable(others)], quiet=True)
    rows = np.flatnonzero(np.diff(X.indptr) > (transform.bias != 0))
    labels = np.repeat(np.arange(len(others)), [len(more) for more in others])
    labels = np.concatenate([np.arange(len(names)), labels])[rows].astype(np.int32)
    Y = CSR(np.ones(len(rows), np.float32), labels, np.arange(len(rows) + 1), len(names))
    norms = None if train.norms is None else np.concatenate([train.norms, lengths[rows]])
    X = stack([train.X, rows_of(X, rows)], X.n_columns, folder)
    return Split(X, stack([train.Y, Y], len(names)), norms=norms, records=train.records)
