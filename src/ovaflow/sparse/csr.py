"""The sparse matrix that all modules exchange, and its products."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from ovaflow.sparse.jit import callee, kernel, strict_callee, strict_kernel

NO_POSITION = 65535
"""Place of a feature that is no token of a text.

Tokens beyond the last place that 16 bits hold count as being at the last one.
"""


class CSR(NamedTuple):
    """Compressed sparse rows, in the dtypes that every kernel expects."""

    data: np.ndarray  # float32, shape (nnz,)
    # int32, shape (nnz,), ascending within a row; None, which only omit_full_indices makes: rows
    # have all columns
    indices: np.ndarray
    indptr: np.ndarray  # int64, shape (n_rows + 1,)
    n_columns: int
    # uint16, shape (nnz,); of texts: the first token that has the feature, NO_POSITION for the
    # bias; no kernel needs them
    places: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``(data, indices, indptr)``, as kernels take them."""
        return self.data, self.indices, self.indptr

    def part(self, low: int, high: int) -> "CSR":
        """Take rows low..high, sharing memory."""
        start = self.indptr[low]
        end = self.indptr[high]
        indices = None if self.indices is None else self.indices[start:end]
        places = None if self.places is None else self.places[start:end]
        indptr = self.indptr[low : high + 1] - start
        return CSR(self.data[start:end], indices, indptr, self.n_columns, places)

    def to_scipy(self) -> "scipy.sparse.csr_array":
        """Make the same matrix as a ``scipy.sparse.csr_array``, sharing values and columns."""
        # scikit-learn takes indices of 32 bits only, and SciPy has one type for both
        is_small = len(self.data) <= np.iinfo(np.int32).max
        indptr = self.indptr.astype(np.int32) if is_small else self.indptr
        return scipy.sparse.csr_array(
            (self.data, self.indices, indptr), shape=(self.n_rows, self.n_columns)
        )


def from_scipy(matrix: Any) -> CSR:
    """Bring a SciPy matrix, or a dense one, into the dtypes of :class:`CSR`.

    Duplicates are summed, and columns become ascending.
    """
    csr = scipy.sparse.csr_array(matrix)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return CSR(
        np.ascontiguousarray(csr.data, dtype=np.float32),
        np.ascontiguousarray(csr.indices, dtype=np.int32),
        np.ascontiguousarray(csr.indptr, dtype=np.int64),
        int(csr.shape[1]),
    )


def evenly_spaced_numbers(n: int, most: int) -> np.ndarray:
    """Choose at most ``most`` of the numbers 0..n, evenly spaced: int64."""
    amount = min(n, most)
    return np.arange(amount) * n // max(amount, 1)


def select_rows(matrix: CSR, rows: np.ndarray | Sequence[int]) -> CSR:
    """Copy chosen rows of a matrix, in the order given."""
    indptr = offsets(np.diff(matrix.indptr)[rows])
    row_numbers = np.asarray(rows, np.int64)
    data = np.empty(indptr[-1], matrix.data.dtype)
    indices = np.empty(indptr[-1], np.int32)
    _copy_rows(matrix.data, matrix.indices, matrix.indptr, row_numbers, data, indices, indptr)
    places = None
    if matrix.places is not None:
        places = select_rows(matrix._replace(data=matrix.places, places=None), rows).data
    return CSR(data, indices, indptr, matrix.n_columns, places)


def select_columns(matrix: CSR, low: int, high: int) -> CSR:
    """Copy columns low..high of a matrix."""
    kept = (matrix.indices >= low) & (matrix.indices < high)
    places = None if matrix.places is None else matrix.places[kept]
    indices = matrix.indices[kept] - np.int32(low)
    return CSR(matrix.data[kept], indices, offsets(kept)[matrix.indptr], high - low, places)


def stack_columns(left: CSR, right: CSR) -> CSR:
    """Put the columns of two matrices with the same rows next to each other."""
    lengths = np.stack([np.diff(left.indptr), np.diff(right.indptr)], axis=1)
    is_left = np.repeat(np.tile([True, False], len(lengths)), lengths.reshape(-1))

    def merge(left_values: np.ndarray, right_values: np.ndarray) -> np.ndarray:
        values = np.empty(len(is_left), left_values.dtype)
        values[is_left] = left_values
        values[~is_left] = right_values
        return values

    places = None
    if left.places is not None and right.places is not None:
        places = merge(left.places, right.places)
    return CSR(
        merge(left.data, right.data),
        merge(left.indices, right.indices + np.int32(left.n_columns)),
        left.indptr + right.indptr,
        left.n_columns + right.n_columns,
        places,
    )


@strict_kernel
def _copy_rows(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    rows: np.ndarray,
    out_data: np.ndarray,
    out_indices: np.ndarray,
    out_indptr: np.ndarray,
) -> None:
    """Copy rows one after the other to where ``out_indptr`` (len(rows) + 1,) says."""
    for i in range(len(rows)):
        start = indptr[rows[i]]
        target = out_indptr[i]
        for k in range(out_indptr[i + 1] - target):
            out_data[target + k] = data[start + k]
            out_indices[target + k] = indices[start + k]


def offsets(lengths: np.ndarray | Sequence[int]) -> np.ndarray:
    """Sum lengths of consecutive pieces: the start of each, and the end of the last one, int64."""
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends


def from_dense(values: np.ndarray) -> CSR:
    """Store every entry of a dense matrix (n, d), float32, zeros included."""
    n, d = values.shape
    indices = np.tile(np.arange(d, dtype=np.int32), n)
    return CSR(values.reshape(-1), indices, d * np.arange(n + 1, dtype=np.int64), d)


def count_row_nonzeros(matrix: CSR) -> np.ndarray:
    """Count the entries of each row that are not zero; only full rows store zeros."""
    if is_full(matrix):
        return np.count_nonzero(matrix.data.reshape(matrix.n_rows, matrix.n_columns), axis=1)
    return np.diff(matrix.indptr)


def count_column_nonzeros(matrix: CSR) -> np.ndarray:
    """Count the entries of each column that are not zero; only full rows store zeros."""
    if is_full(matrix):
        return np.count_nonzero(matrix.data.reshape(matrix.n_rows, matrix.n_columns), axis=0)
    return np.bincount(matrix.indices, minlength=matrix.n_columns)


def is_full(matrix: CSR) -> bool:
    """Check if every row has all columns."""
    return len(matrix.data) == matrix.n_rows * matrix.n_columns


def transpose(matrix: CSR) -> CSR:
    """Transpose a matrix: posting lists of each column, rows ascending."""
    if matrix.indices is None:
        dense = matrix.data.reshape(matrix.n_rows, matrix.n_columns)
        data = np.ascontiguousarray(dense.T).reshape(-1)
        indptr = matrix.n_rows * np.arange(matrix.n_columns + 1, dtype=np.int64)
        return CSR(data, None, indptr, matrix.n_rows)
    indptr = offsets(np.bincount(matrix.indices, minlength=matrix.n_columns))
    data = np.empty_like(matrix.data)
    indices = np.empty(len(matrix.indices), np.int32)
    _fill_transposed(matrix.data, matrix.indices, matrix.indptr, data, indices, indptr[:-1].copy())
    return CSR(data, indices, indptr, matrix.n_rows)


@strict_kernel
def _fill_transposed(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    out_data: np.ndarray,
    out_indices: np.ndarray,
    next_slot: np.ndarray,
) -> None:
    """Append each entry to the list of its column, at ``next_slot`` (n_columns,)."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            slot = next_slot[indices[k]]
            next_slot[indices[k]] = slot + 1
            out_indices[slot] = i
            out_data[slot] = data[k]


# Loops over entries count in unsigned integers: a signed index costs a test for
# negative values at each gather, which halves their speed. Rows without indices
# are full; numba compiles for them the branch that needs none, and for others
# only the gathers.


def omit_full_indices(matrix: CSR) -> CSR:
    """Leave out the indices of a matrix with full rows only, which kernels then read contiguously.

    The matrix that is returned shares memory.
    """
    if not is_full(matrix):
        return matrix
    indices: Any = None
    return matrix._replace(indices=indices)


@callee
def entry_column(indices: np.ndarray | None, k: int, first: int) -> Any:
    """Find the column of entry k of the row that begins at entry ``first``; all unsigned."""
    if indices is None:
        return k - first
    return np.uint32(indices[k])


@kernel
def row_dot(
    data: np.ndarray, indices: np.ndarray | None, start: int, end: int, vector: np.ndarray
) -> np.float32:
    """Compute <x_i, v> over the entries start to end."""
    total = np.float32(0.0)
    if indices is None:
        row = data[start:end]
        for j in range(len(vector)):
            total += row[j] * vector[j]
        return total
    for k in range(np.uint64(start), np.uint64(end)):
        total += data[k] * vector[np.uint32(indices[k])]
    return total


@kernel
def multiply_vector(
    data: np.ndarray,
    indices: np.ndarray | None,
    indptr: np.ndarray,
    vector: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill out = X v."""
    for i in range(len(indptr) - 1):
        out[i] = row_dot(data, indices, indptr[i], indptr[i + 1], vector)


@callee
def add_row(
    data: np.ndarray,
    indices: np.ndarray | None,
    start: int,
    end: int,
    factor: float,
    out: np.ndarray,
) -> None:
    """Add factor * x_i to out, over the entries start to end."""
    if indices is None:
        row = data[start:end]
        for j in range(len(out)):
            out[j] += factor * row[j]
        return
    for k in range(np.uint64(start), np.uint64(end)):
        out[np.uint32(indices[k])] += factor * data[k]


@kernel
def add_squared_row(
    data: np.ndarray,
    indices: np.ndarray | None,
    start: int,
    end: int,
    factor: float,
    out: np.ndarray,
) -> None:
    """Add factor * x_i^2 to out, over the entries start to end."""
    if indices is None:
        row = data[start:end]
        for j in range(len(out)):
            out[j] += factor * row[j] * row[j]
        return
    for k in range(np.uint64(start), np.uint64(end)):
        out[np.uint32(indices[k])] += factor * data[k] * data[k]


@strict_callee
def scatter(indices: np.ndarray, data: np.ndarray, dense: np.ndarray) -> None:
    """Set v_j = x_j for every entry of a sparse vector x in a dense vector v."""
    for k in range(len(indices)):
        dense[indices[k]] = data[k]


@strict_callee
def clear_scattered(indices: np.ndarray, dense: np.ndarray) -> None:
    """Undo :func:`scatter`: set the entries to zero."""
    for k in range(len(indices)):
        dense[indices[k]] = 0


def ensure_capacity(array: np.ndarray, size: int) -> np.ndarray:
    """Return the array if ``size`` entries fit, or else a copy of at least twice its length."""
    if size <= len(array):
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger
