"""The labels of one instance after the other, as numbers."""

from array import array
from itertools import pairwise

import numpy as np
import scipy

from ovaflow.sparse.csr import CSR, from_scipy, offsets, select_rows


class LabelLists:
    """The labels of one instance after the other, as numbers."""

    def __init__(self, number_of) -> None:
        self._number_of = number_of
        self._numbers = array("i")
        self._indptr = array("q", [0])

    @classmethod
    def from_arrays(cls, numbers, indptr):
        lists = cls(None)
        lists._numbers = numbers
        lists._indptr = indptr
        return lists

    def append(self, labels) -> None:
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
        chosen = select_rows(CSR(np.empty(len(numbers), np.float32), numbers, self.indptr, 0), rows)
        return LabelLists.from_arrays(chosen.indices, chosen.indptr)

    def translate_by(self, column):
        """Return what the numbers stand for in a column, which has a list for each number; each
        once an instance.
        """
        # unknown labels have negative numbers
        lowest = int(column.numbers.min(initial=0))
        product = self._rows(0, len(column.lengths)) @ column._rows(lowest)
        product.sort_indices()
        return LabelLists.from_arrays(product.indices + np.int32(lowest), product.indptr)

    def _rows(self, lowest, n_columns=None):
        """Which numbers, less the lowest, each instance has: bool (n, m)."""
        numbers = self.numbers - np.int32(lowest)
        if n_columns is None:
            n_columns = int(numbers.max(initial=-1)) + 1
        shape = len(self.lengths), n_columns
        return scipy.sparse.csr_array(
            (np.ones(len(numbers), bool), numbers, self.indptr), shape=shape
        )

    def given(self):
        """A matrix of ones, with a column for each label that any file has."""
        return self.matrix(self.numbers, self.numbers.max(initial=-1) + 1)

    def merge_instances(self, numbers, n):
        """Labels of all instances with the same number, below n, each once."""
        # those of unknown labels are negative
        lowest = int(self.numbers.min(initial=0))
        joins = scipy.sparse.csr_array(
            (np.ones(len(numbers), bool), (numbers, np.arange(len(numbers))))
        )
        joins.resize(n, len(numbers))
        united = (joins @ self._rows(lowest)).tocsr()
        return LabelLists.from_arrays(united.indices + np.int32(lowest), united.indptr)

    def matrix(self, ids, n_labels):
        """The matrix (n, l) of ones at the ids of the numbers; labels of the id -1 are left out."""
        known = ids >= 0
        indptr = offsets(known)[self.indptr]
        ones = np.ones(indptr[-1], np.float32)
        rows = scipy.sparse.csr_array((ones, ids[known], indptr), shape=(len(indptr) - 1, n_labels))
        rows.sum_duplicates()
        rows.data[:] = 1
        return from_scipy(rows)
