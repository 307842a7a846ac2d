"""What every dataset's features go through last: rows of length 1, the bias feature, and zeros stored where few are.

Kernels run over full rows with vectors of the processor and without indices, which takes about a fifth of a gather's
time per feature. Rows are filled up from a third of their entries on: on ALOI, a quarter full, that would solve labels
1.2 times faster and take four times the space. Zeros change no result beyond rounding, and are counted nowhere as
nonzeros. Texts are never that full.
"""

import numpy as np

from ovaflow.sparse.csr import CSR

_BLOCK = 1 << 22
"""Entries scaled at a time, which bounds the temporary arrays."""
FULL_SHARE = 1 / 3
"""Share of nonzeros from which on rows are stored in full."""


def normalize_rows(matrix):
    """Scale each row to Euclidean length 1, in place; rows of zeros alone stay as they are."""
    for start, end in _row_blocks(matrix.indptr):
        bounds = matrix.indptr[start : end + 1]
        lengths = np.diff(bounds)
        filled = lengths > 0
        if filled.any():
            values = matrix.data[bounds[0] : bounds[-1]]
            squares = np.square(values, dtype=np.float64)
            norms = np.sqrt(np.add.reduceat(squares, (bounds[:-1] - bounds[0])[filled]))
            norms[norms == 0] = 1
            values /= np.repeat(norms, lengths[filled])
    return matrix


def _row_blocks(indptr):
    """Ranges of rows that hold about _BLOCK entries each."""
    start = 0
    while start < len(indptr) - 1:
        end = max(start + 1, int(np.searchsorted(indptr, indptr[start] + _BLOCK, side="right")) - 1)
        yield start, end
        start = end


def append_bias(matrix, bias):
    """Append a feature that has the same value in every row; 0 appends nothing."""
    if bias == 0:
        return matrix
    ends = matrix.indptr[1:]
    return CSR(
        np.insert(matrix.data, ends, np.float32(bias)),
        np.insert(matrix.indices, ends, np.int32(matrix.n_columns)),
        matrix.indptr + np.arange(matrix.n_rows + 1),
        matrix.n_columns + 1,
    )


def finish(matrix, normalize, bias):
    """Features as the solver sees them: scaled in place, then with the bias feature (n, d + 1), if it is not 0."""
    return append_bias(normalize_rows(matrix) if normalize else matrix, bias)


def is_dense(matrix):
    """Whether a matrix is better stored in full."""
    size = matrix.n_rows * matrix.n_columns
    return size > 0 and len(matrix.data) >= FULL_SHARE * size


def fill_rows(matrix):
    """A matrix with its zeros stored: n d entries."""
    n, d = matrix.n_rows, matrix.n_columns
    data = np.zeros((n, d), np.float32)
    matrix.to_scipy().toarray(out=data)
    return CSR(data.reshape(-1), np.tile(np.arange(d, dtype=np.int32), n), d * np.arange(n + 1, dtype=np.int64), d)
