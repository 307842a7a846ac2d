"""What every dataset's features go through last: rows of length 1, and the bias feature."""

import numpy as np

from ovaflow.sparse.csr import CSR

_BLOCK = 1 << 22
"""Entries scaled at a time, which bounds the temporary arrays."""


def normalize_rows(matrix):
    """Scale each row to Euclidean length 1, in place.

    Parameters
    ----------
    matrix : CSR, shape (n, d)
        Rows without entries, or of zeros alone, stay as they are.

    Returns
    -------
    CSR
        The same matrix.
    """
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
    """Append a feature that has the same value in every row.

    Parameters
    ----------
    matrix : CSR, shape (n, d)
    bias : float
        0 appends nothing.

    Returns
    -------
    CSR
        Shape (n, d + 1), or the same matrix when ``bias`` is 0.
    """
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
    """Features as the solver sees them.

    Parameters
    ----------
    matrix : CSR, shape (n, d)
        Scaled in place.
    normalize : bool
        Scale rows to length 1.
    bias : float
        Value of the feature appended after that, 0 for none.

    Returns
    -------
    CSR
        Shape (n, d + 1), or (n, d) without a bias feature.
    """
    return append_bias(normalize_rows(matrix) if normalize else matrix, bias)
