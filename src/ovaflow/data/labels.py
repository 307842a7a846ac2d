"""Label lists of instances, by name, by number or by subject, to the label matrix."""

from array import array
from itertools import chain, islice, pairwise

import numpy as np
import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.data.tokens import Numbers
from ovaflow.sparse.csr import from_scipy


class LabelLists:
    """The labels of one instance after the other, as numbers."""

    def __init__(self, number_of):
        self._number_of = number_of
        self._numbers, self._indptr = array("i"), array("q", [0])

    def append(self, labels):
        """Append the labels of an instance."""
        self._numbers.extend([self._number_of(label) for label in labels])
        self._indptr.append(len(self._numbers))

    @property
    def numbers(self):
        """The numbers of all labels, one list after the other."""
        return np.array(self._numbers, np.int32)

    def __iter__(self):
        for start, end in pairwise(self._indptr):
            yield self._numbers[start:end]

    def matrix(self, ids, n_labels):
        """The matrix (n, l) of ones at the ids of the numbers; labels of the id -1 are left out."""
        kept = ids >= 0
        before = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(kept, out=before[1:])
        indptr = before[np.array(self._indptr, np.int64)]
        ones = np.ones(before[-1], np.float32)
        rows = scipy.sparse.csr_array((ones, ids[kept], indptr), shape=(len(indptr) - 1, n_labels))
        rows.sum_duplicates()
        rows.data[:] = 1
        return from_scipy(rows)


class NamedLabels:
    """Labels given by name: those of training instances; their ids are the positions of the names in sorted order."""

    n_labels = None
    uris, notations, others, language = (), (), (), None

    def __init__(self):
        self._numbers = Numbers()
        self.number_of = self._numbers.__getitem__

    def matrices(self, train, test):
        """Names, training matrix (n, l), test matrix, and figures; names of test instances alone are left out."""
        in_train = np.zeros(len(self._numbers), bool)
        in_train[train.numbers] = True
        names = sorted(name for name, number in self._numbers.items() if in_train[number])
        ids = np.full(len(self._numbers), -1, np.int32)
        ids[[self._numbers[name] for name in names]] = np.arange(len(names))
        Y, Y_test = (lists.matrix(ids[lists.numbers], len(names)) for lists in (train, test))
        unknown = test.numbers[~in_train[test.numbers]]
        counts = {
            "test_labels_unknown_in_train": len(unknown),
            "different_test_labels_unknown_in_train": len(np.unique(unknown)),
            "test_with_unknown_labels_only": _only_unknown(test, Y_test),
        }
        return names, Y, Y_test, counts

    def check_separator(self, train, source):
        """Refuse the labels of training instances where another separator is right."""
        names = list(self._numbers)
        lists = ([names[number] for number in numbers] for numbers in train if numbers)
        _check_separator(list(islice(lists, _SAMPLE)), source)


def _only_unknown(lists, Y):
    labelled = np.fromiter(map(bool, lists), bool, Y.n_rows)
    return int(np.count_nonzero(labelled & (np.diff(Y.indptr) == 0)))


class NumberedLabels:
    """Labels given by their 0-based line numbers in a file of names; all of them are labels."""

    notations, others, language = (), (), None
    number_of = int

    def __init__(self, names, uris=()):
        self._names, self.uris = names, uris
        self.n_labels = len(names)

    def matrices(self, train, test):
        """Names and matrices; as :meth:`NamedLabels.matrices`."""
        Y, Y_test = (lists.matrix(lists.numbers, self.n_labels) for lists in (train, test))
        return self._names, Y, Y_test, {}


class SubjectLabels:
    """Labels given by URIs, or names, of a subject vocabulary; all of its subjects are labels."""

    n_labels = None

    def __init__(self, vocabulary):
        self._vocabulary = vocabulary
        self.uris, self.notations, self.others = vocabulary.uris, vocabulary.notations, vocabulary.others
        self.language = vocabulary.language
        self._numbers = {name: number for number, name in enumerate(vocabulary.names)}
        self._numbers |= {uri: number for number, uri in enumerate(vocabulary.uris)}

    def number_of(self, label):
        """Number of the subject with a URI or a name, -1 if the vocabulary lacks it."""
        return self._numbers.get(label, -1)

    def matrices(self, train, test):
        """Names and matrices; as :meth:`NamedLabels.matrices`."""
        Y, Y_test = (lists.matrix(lists.numbers, len(self.uris)) for lists in (train, test))
        numbers = np.concatenate([train.numbers, test.numbers])
        counts = {"subjects_given": len(numbers), "subjects_not_in_vocabulary": int(np.count_nonzero(numbers < 0))}
        return self._vocabulary.names, Y, Y_test, self._vocabulary.counts | counts


_SEPARATORS = (";", "|", "\t")
"""What tables have between labels, and hardly any name has inside."""
_FEW = 20
_SAMPLE = 20_000
"""Training instances whose labels tell whether the separator is right."""
_RARELY = 0.01
"""Share of instances with several labels, below which the separator seems to take none apart."""


def _check_separator(lists, source):
    """Refuse labels if most of them hold another separator, with which they would be far fewer, or separated at all.

    A separator that takes labels apart is only doubted if it is the comma, which nobody may have chosen.
    """
    names = set(chain.from_iterable(lists))
    several = sum(len(labels) > 1 for labels in lists) / max(len(lists), 1)
    whole = several < _RARELY and len(names) >= len(lists) / 2
    separator = source.settings.label_separator
    if len(lists) < _FEW or not (whole or separator == ","):
        return
    marks = [*_SEPARATORS, ","]
    if whole:
        marks.append(" ")
    for mark in marks:
        combined = [name for name in names if mark in name]
        if mark == separator or len(combined) < len(names) / 2:
            continue
        parts = {part.strip() for labels in lists for part in separator.join(labels).split(mark)} - {""}
        if len(parts) <= len(names) / 2 or (whole and mark in _SEPARATORS):
            raise InputError(
                f"the separator of labels is {separator!r}, but {len(combined):,} of {len(names):,} different labels "
                f"contain {mark!r}, such as {min(combined)[:60]!r}",
                path=source.train_name,
                remedy=f'set label_separator: "{mark}"',
            )
