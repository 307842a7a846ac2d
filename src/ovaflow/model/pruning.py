"""Pruning: weights near zero are dropped (DiSMEC, section 2.2).

One rule for every weight, the bias among them: w stays where |w| >= delta,
compared in float32. A bias below delta moves scores by less than delta. Since
the rule looks at each weight alone, a model pruned at delta and then at a
larger one equals a model pruned at the larger one directly.
"""

import numpy as np

from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel


def prune(weights, threshold):
    """Drop weights below a threshold from a CSR (m, d); 0 drops exact zeros only."""
    indptr = np.zeros(weights.n_rows + 1, np.int64)
    np.cumsum(kept_per_row(weights, threshold), out=indptr[1:])
    data, indices = np.empty(indptr[-1], np.float32), np.empty(indptr[-1], np.int32)
    copy_kept(weights, np.arange(weights.n_rows), threshold, data, indices, indptr[:-1])
    return CSR(data, indices, indptr, weights.n_columns)


def kept_per_row(weights, threshold):
    """Number of weights of each row that pruning leaves: int64 (m,)."""
    kept = np.empty(weights.n_rows, np.int64)
    _count_kept(weights.data, weights.indptr, np.float32(threshold), kept)
    return kept


def copy_kept(weights, rows, threshold, data, indices, starts):
    """Copy what pruning leaves of some rows to ``data`` and ``indices``, each row from its start."""
    _copy_kept(*weights.arrays, np.asarray(rows, np.int64), np.float32(threshold), data, indices, starts)


@strict_kernel
def large_weights(weights, threshold):
    """(indices, data) of the weights that pruning leaves of one dense row (d,)."""
    count = 0
    for weight in weights:
        count += _keeps(weight, threshold)
    indices = np.empty(count, np.int32)
    data = np.empty(count, np.float32)
    slot = 0
    for j in range(len(weights)):
        if _keeps(weights[j], threshold):
            indices[slot] = j
            data[slot] = weights[j]
            slot += 1
    return indices, data


@strict_kernel
def _keeps(weight, threshold):
    return abs(weight) >= threshold and weight != 0


@strict_kernel
def _count_kept(data, indptr, threshold, kept):
    for row in range(len(kept)):
        count = 0
        for k in range(indptr[row], indptr[row + 1]):
            count += _keeps(data[k], threshold)
        kept[row] = count


@strict_kernel
def _copy_kept(data, indices, indptr, rows, threshold, out_data, out_indices, starts):
    for r in range(len(rows)):
        slot = starts[r]
        for k in range(indptr[rows[r]], indptr[rows[r] + 1]):
            if _keeps(data[k], threshold):
                out_data[slot] = data[k]
                out_indices[slot] = indices[k]
                slot += 1
