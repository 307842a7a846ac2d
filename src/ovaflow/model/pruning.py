"""Pruning: weights near zero are dropped (DiSMEC, section 2.2).

One rule for every weight, the bias among them: w stays where |w| >= delta,
compared in float32. A bias below delta moves scores by less than delta. Since
the rule looks at each weight alone, a model pruned at delta and then at a
larger one equals a model pruned at the larger one directly.
"""

from dataclasses import replace

import numpy as np

from ovaflow.sparse.csr import offsets
from ovaflow.sparse.jit import strict_kernel
from ovaflow.sparse.weight_rows import make_segments


def prune(weights, threshold):
    """Drop weights below a threshold from a CSR (m, d), or from rounded rows; 0 drops exact zeros
    only.
    """
    indptr = offsets(count_kept_weights(weights, threshold))
    data = np.empty(indptr[-1], weights.data.dtype)
    indices = np.empty(indptr[-1], weights.indices.dtype)
    copy_kept_weights(weights, np.arange(len(indptr) - 1), threshold, data, indices, indptr[:-1])
    return weights._replace(data=data, indices=indices, indptr=indptr)


def count_kept_weights(weights, threshold):
    """Number of weights of each row, or segment, that pruning leaves: int64 (m,)."""
    counts = np.empty(len(weights.indptr) - 1, np.int64)
    _count_kept(weights.data, weights.indptr, _in_steps(weights, threshold), counts)
    return counts


def _in_steps(weights, threshold):
    """The threshold of each row, or segment, as a multiple of its step: exact in float64."""
    *_, steps, blocks = make_segments(weights)
    scale = np.ones(weights.n_rows) if steps is None else steps.astype(np.float64)
    return np.repeat(np.float32(threshold) / scale, blocks)


def copy_kept_weights(weights, rows, threshold, data, indices, starts) -> None:
    """Copy what pruning leaves of some rows, or segments, to ``data`` and ``indices``, each row
    from its start.
    """
    rows = np.asarray(rows, np.int64)
    _copy_kept(*weights.arrays, rows, _in_steps(weights, threshold), data, indices, starts)


@strict_kernel
def select_large_weights(weights, threshold):
    """(indices, data) of the weights that pruning leaves of one dense row (d,)."""
    indices = np.empty(len(weights), np.int32)
    data = np.empty(len(weights), np.float32)
    count = 0
    for j in range(len(weights)):
        indices[count] = j
        data[count] = weights[j]
        count += _keeps(weights[j], threshold)
    return indices[:count].copy(), data[:count].copy()


@strict_kernel
def _keeps(weight, threshold):
    return abs(weight) >= threshold and weight != 0


@strict_kernel
def _count_kept(data, indptr, thresholds, counts) -> None:
    for row in range(len(counts)):
        count = 0
        for k in range(indptr[row], indptr[row + 1]):
            count += _keeps(data[k], thresholds[row])
        counts[row] = count


@strict_kernel
def _copy_kept(data, indices, indptr, rows, thresholds, out_data, out_indices, starts) -> None:
    for r in range(len(rows)):
        slot = starts[r]
        for k in range(indptr[rows[r]], indptr[rows[r] + 1]):
            if _keeps(data[k], thresholds[rows[r]]):
                out_data[slot] = data[k]
                out_indices[slot] = indices[k]
                slot += 1


def write_pruned(model, threshold, path):
    """Write a model without weights below the threshold, or its own if that is larger."""
    threshold = max(threshold, model.parameters.get("prune", 0.0))
    pruned = replace(
        model,
        weights=prune(model.weights, threshold),
        parameters=model.parameters | {"prune": threshold},
        inputs=model.inputs | {"unpruned": model.checksum},
    )
    pruned.write(path)
    return pruned
