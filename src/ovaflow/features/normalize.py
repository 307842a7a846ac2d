"""The last step to features: rows of length 1, the bias feature, and zeros stored where there are
few.

Kernels run over full rows without indices, in about a fifth of a gather's time per feature. Zeros
change no result beyond rounding, and are counted nowhere as nonzeros.
"""

import numpy as np

from ovaflow.sparse.csr import CSR, NO_POSITION, from_dense, select_columns, stack_columns

_BLOCK_ENTRIES = 1 << 22
"""Entries scaled at a time, which bounds the temporary arrays."""
DENSE_SHARE = 1 / 3
"""Share of nonzeros from which on rows are stored in full."""


def normalize_rows(matrix):
    """Divide each row by its Euclidean length, in place; returns the lengths, float64 (n,), 1 for
    rows of zeros.
    """
    norms = np.ones(matrix.n_rows)
    for start, end in iterate_row_blocks(matrix.indptr, _BLOCK_ENTRIES):
        bounds = matrix.indptr[start : end + 1]
        lengths = np.diff(bounds)
        filled = np.flatnonzero(lengths)
        if len(filled):
            values = matrix.data[bounds[0] : bounds[-1]]
            squares = np.square(values, dtype=np.float64)
            roots = np.sqrt(np.add.reduceat(squares, bounds[filled] - bounds[0]))
            roots[roots == 0] = 1
            values /= np.repeat(roots, lengths[filled])
            norms[start + filled] = roots
    return norms


def copy_unit_rows(X, n_columns=None):
    """A copy whose rows have length 1, of the first ``n_columns`` alone: by default of all."""
    rows = select_columns(X, 0, X.n_columns if n_columns is None else n_columns)
    normalize_rows(rows)
    return rows


def unscale_rows(matrix, norms, bias):
    """Features before they were scaled to length 1, x_i |x_i|; the bias feature, where there is
    one, stays.
    """
    data = matrix.data * np.repeat(np.asarray(norms, np.float32), np.diff(matrix.indptr))
    if bias != 0:
        data[matrix.indices == matrix.n_columns - 1] = bias
    return matrix._replace(data=data)


def iterate_row_blocks(indptr, size):
    """Ranges of rows that hold at most ``size`` entries each, or are a single row."""
    start = 0
    while start < len(indptr) - 1:
        end = max(start + 1, int(np.searchsorted(indptr, indptr[start] + size, side="right")) - 1)
        yield start, end
        start = end


def append_bias(matrix, bias):
    """Append a feature that has the same value in every row; 0 appends nothing."""
    if bias == 0:
        return matrix
    ends = matrix.indptr[1:]
    places = matrix.places
    if places is not None:
        places = np.insert(places, ends, NO_POSITION)
    return CSR(
        np.insert(matrix.data, ends, np.float32(bias)),
        np.insert(matrix.indices, ends, np.int32(matrix.n_columns)),
        matrix.indptr + np.arange(matrix.n_rows + 1),
        matrix.n_columns + 1,
        places,
    )


def make_model_features(matrix, normalize, bias, unscaled=False, further=None):
    """Features as models take them, and their lengths if rows are scaled (and ``unscaled``).

    ``further`` columns are appended to those that are scaled.
    """
    norms = normalize_rows(matrix) if normalize else None
    X = append_bias(matrix if further is None else stack_columns(matrix, further), bias)
    if not normalize:
        return X, None
    return unscale_rows(X, norms, bias) if unscaled else X, norms


def is_dense(matrix):
    size = matrix.n_rows * matrix.n_columns
    return size > 0 and len(matrix.data) >= DENSE_SHARE * size


def store_zeros(matrix):
    """A matrix with its zeros stored: n d entries."""
    return from_dense(matrix.to_scipy().toarray())
