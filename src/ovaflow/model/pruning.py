"""Pruning: weights near zero are dropped (DiSMEC, section 2.2).

One rule for every weight, the bias among them: w stays where |w| >= delta,
compared in float32. A bias below delta moves scores by less than delta. Since
the rule looks at each weight alone, a model pruned at delta and then at a
larger one equals a model pruned at the larger one directly.
"""

from dataclasses import replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.sparse.csr import CSR, offsets
from ovaflow.sparse.jit import strict_kernel
from ovaflow.storage.arrays import PAGE
from ovaflow.storage.writing import unfinished_folder

_BYTES_OF_A_WEIGHT = 8


def prune(weights, threshold):
    """Drop weights below a threshold from a CSR (m, d); 0 drops exact zeros only."""
    indptr = offsets(kept_per_row(weights, threshold))
    data, indices = np.empty(indptr[-1], np.float32), np.empty(indptr[-1], np.int32)
    copy_kept(weights, np.arange(weights.n_rows), threshold, data, indices, indptr[:-1])
    return CSR(data, indices, indptr, weights.n_columns)


def kept_per_row(weights, threshold):
    """Number of weights of each row that pruning leaves: int64 (m,)."""
    counts = np.empty(weights.n_rows, np.int64)
    _count_kept(weights.data, weights.indptr, np.float32(threshold), counts)
    return counts


def copy_kept(weights, rows, threshold, data, indices, starts):
    """Copy what pruning leaves of some rows to ``data`` and ``indices``, each row from its start."""
    rows = np.asarray(rows, np.int64)
    _copy_kept(*weights.arrays, rows, np.float32(threshold), data, indices, starts)


@strict_kernel
def large_weights(weights, threshold):
    """(indices, data) of the weights that pruning leaves of one dense row (d,)."""
    indices, data = np.empty(len(weights), np.int32), np.empty(len(weights), np.float32)
    count = 0
    for j in range(len(weights)):
        indices[count], data[count] = j, weights[j]
        count += _keeps(weights[j], threshold)
    return indices[:count].copy(), data[:count].copy()


@strict_kernel
def _keeps(weight, threshold):
    return abs(weight) >= threshold and weight != 0


@strict_kernel
def _count_kept(data, indptr, threshold, counts):
    for row in range(len(counts)):
        count = 0
        for k in range(indptr[row], indptr[row + 1]):
            count += _keeps(data[k], threshold)
        counts[row] = count


@strict_kernel
def _copy_kept(data, indices, indptr, rows, threshold, out_data, out_indices, starts):
    for r in range(len(rows)):
        slot = starts[r]
        for k in range(indptr[rows[r]], indptr[rows[r] + 1]):
            if _keeps(data[k], threshold):
                out_data[slot] = data[k]
                out_indices[slot] = indices[k]
                slot += 1


def threshold_for(weights, most):
    """The smallest threshold that leaves at most ``most`` weights, 0 where only zeros must go."""
    if np.count_nonzero(weights) <= most:
        return 0.0
    place = len(weights) - 1 - most
    largest_dropped = np.partition(np.abs(weights), place)[place]
    return float(np.nextafter(largest_dropped, np.float32(np.inf)))


def prune_to_bytes(model, most_bytes, path):
    """Write a model pruned as little as a file size allows, to within three pages."""
    # both arrays of weights begin at a page
    least_bytes = _bytes_beside_weights(model, path) + 2 * PAGE
    most = (most_bytes - least_bytes) // _BYTES_OF_A_WEIGHT
    if most < 0:
        size = f"takes {least_bytes:,} bytes without any weight"
        message = f"{size}, so it cannot be pruned to {most_bytes:,}"
        raise InputError(message, path=model.path, remedy="allow more bytes")
    return write_pruned(model, threshold_for(model.weights.data, most), path)


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


def _bytes_beside_weights(model, path):
    indptr = np.zeros_like(model.weights.indptr)
    empty = CSR(np.empty(0, np.float32), np.empty(0, np.int32), indptr, model.n_features)
    with unfinished_folder(path) as folder:
        write_pruned(replace(model, weights=empty), 1.0, folder / "empty.h5")
        return (folder / "empty.h5").stat().st_size
