"""The labels of one instance after the other, as numbers."""

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from ovaflow.sparse.csr import CSR, from_scipy, offsets, select_rows


class LabelLists:
    """The labels of one instance after the other, as numbers.

    Numbers of unknown labels are negative.

    Parameters
    ----------
    number_of : callable
        Gives the number of a label; None for lists to which nothing is appended.
    """

    def __init__(self, number_of: Callable[[Any], int] | None) -> None:
        self._number_of = number_of
        self._numbers: Any = array("i")
        self._indptr: Any = array("q", [0])

    @classmethod
    def from_arrays(cls, numbers: np.ndarray, indptr: np.ndarray) -> "LabelLists":
        """Make lists of which instance i has numbers[indptr[i]:indptr[i + 1]]."""
        lists = cls(None)
        lists._numbers = numbers
        lists._indptr = indptr
        return lists

    def append(self, labels: Iterable[Any]) -> None:
        """Append the labels of an instance."""
        assert self._number_of is not None
        self._numbers.extend([self._number_of(label) for label in labels])
        self._indptr.append(len(self._numbers))

    @property
    def numbers(self) -> np.ndarray:
        """Numbers of all labels, int32."""
        return np.array(self._numbers, np.int32)

    @property
    def indptr(self) -> np.ndarray:
        """Start of each instance among the numbers, and the end of the last: int64 (n + 1,)."""
        return np.array(self._indptr, np.int64)

    @property
    def lengths(self) -> np.ndarray:
        """Number of labels of each instance: int64 (n,)."""
        return np.diff(self.indptr)

    def get_labels(self, row: int) -> Any:
        """Return the numbers of an instance."""
        return self._numbers[self._indptr[row] : self._indptr[row + 1]]

    def __iter__(self) -> Iterator[Any]:
        for start, end in pairwise(self._indptr):
            yield self._numbers[start:end]

    def take(self, rows: np.ndarray) -> "LabelLists":
        """Return the labels of some instances, in the order given."""
        numbers = self.numbers
        matrix = CSR(np.empty(len(numbers), np.float32), numbers, self.indptr, 0)
        chosen = select_rows(matrix, rows)
        return LabelLists.from_arrays(chosen.indices, chosen.indptr)

    def translate_by(self, column: "LabelLists") -> "LabelLists":
        """Translate the numbers by a column, which has a list for each number.

        Each resulting number is contained once in an instance.
        """
        # unknown labels have negative numbers
        lowest = int(column.numbers.min(initial=0))
        product = self._make_matrix(0, len(column.lengths)) @ column._make_matrix(lowest)
        product.sort_indices()
        return LabelLists.from_arrays(product.indices + np.int32(lowest), product.indptr)

    def _make_matrix(self, lowest: int, n_columns: int | None = None) -> "scipy.sparse.csr_array":
        """Make the boolean matrix (n, m) of the numbers, less the lowest, of each instance."""
        numbers = self.numbers - np.int32(lowest)
        if n_columns is None:
            n_columns = int(numbers.max(initial=-1)) + 1
        shape = len(self.lengths), n_columns
        entries = np.ones(len(numbers), bool)
        return scipy.sparse.csr_array((entries, numbers, self.indptr), shape=shape)

    def given(self) -> CSR:
        """Make the matrix of ones with a column for each label that any file has."""
        return self.matrix(self.numbers, self.numbers.max(initial=-1) + 1)

    def merge_instances(self, numbers: np.ndarray, n: int) -> "LabelLists":
        """Merge the labels of all instances with the same number, below n; each label once."""
        # numbers of unknown labels are negative
        lowest = int(self.numbers.min(initial=0))
        entries = np.ones(len(numbers), bool)
        joins = scipy.sparse.csr_array((entries, (numbers, np.arange(len(numbers)))))
        joins.resize(n, len(numbers))
        merged = (joins @ self._make_matrix(lowest)).tocsr()
        return LabelLists.from_arrays(merged.indices + np.int32(lowest), merged.indptr)

    def matrix(self, ids: np.ndarray, n_labels: int) -> CSR:
        """Make the matrix (n, l) of ones at the ids of the numbers.

        ``ids`` has the column of each number in these lists; labels of the id -1 are left out.
        """
        known = ids >= 0
        indptr = offsets(known)[self.indptr]
        ones = np.ones(indptr[-1], np.float32)
        rows = scipy.sparse.csr_array((ones, ids[known], indptr), shape=(len(indptr) - 1, n_labels))
        rows.sum_duplicates()
        rows.data[:] = 1
        return from_scipy(rows)
