"""Pruning: weights near zero are dropped (DiSMEC, section 2.2).

One rule for every weight, the bias among them: w stays where |w| >= delta,
compared in float32. A bias below delta moves scores by less than delta. Since
the rule looks at each weight alone, a model pruned at delta and then at a
larger one equals a model pruned at the larger one directly.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from ovaflow.sparse.csr import CSR, offsets
from ovaflow.sparse.jit import strict_callee, strict_kernel
from ovaflow.sparse.weight_rows import WeightRows, make_segments

if TYPE_CHECKING:
    from ovaflow.model.one_vs_all import OneVsAll


@overload
def prune(weights: CSR, threshold: float) -> CSR: ...


@overload
def prune(weights: WeightRows, threshold: float) -> WeightRows: ...


def prune(weights: CSR | WeightRows, threshold: float) -> CSR | WeightRows:
    """Drop weights below a threshold from a CSR (m, d), or from rounded rows.

    A threshold of 0 drops exact zeros only.
    """
    indptr = offsets(count_kept_weights(weights, threshold))
    data = np.empty(indptr[-1], weights.data.dtype)
    indices = np.empty(indptr[-1], weights.indices.dtype)
    rows = np.arange(len(indptr) - 1)
    copy_kept_weights(weights, rows, threshold, data, indices, indptr[:-1])
    return weights._replace(data=data, indices=indices, indptr=indptr)


def count_kept_weights(weights: CSR | WeightRows, threshold: float) -> np.ndarray:
    """Count the weights of each row, or segment, that pruning leaves: int64 (m,)."""
    counts = np.empty(len(weights.indptr) - 1, np.int64)
    thresholds = _convert_to_steps(weights, threshold)
    _count_kept(weights.data, weights.indptr, thresholds, counts)
    return counts


def _convert_to_steps(weights: CSR | WeightRows, threshold: float) -> np.ndarray:
    """Express the threshold of each row, or segment, in its step: exact in float64."""
    segments = make_segments(weights)
    if segments.steps is None:
        steps = np.ones(weights.n_rows)
    else:
        steps = segments.steps.astype(np.float64)
    return np.repeat(np.float32(threshold) / steps, segments.blocks)


def copy_kept_weights(
    weights: CSR | WeightRows,
    rows: np.ndarray,
    threshold: float,
    data: np.ndarray,
    indices: np.ndarray,
    starts: np.ndarray,
) -> None:
    """Copy the weights that pruning leaves of some rows, or segments.

    They go to ``data`` and ``indices``, each row from its entry of ``starts``.
    """
    rows = np.asarray(rows, np.int64)
    thresholds = _convert_to_steps(weights, threshold)
    _copy_kept(
        weights.data, weights.indices, weights.indptr, rows, thresholds, data, indices, starts
    )


@strict_kernel
def select_large_weights(weights: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Select the weights that pruning leaves of one dense row (d,): indices and data."""
    indices = np.empty(len(weights), np.int32)
    data = np.empty(len(weights), np.float32)
    count = 0
    for j in range(len(weights)):
        indices[count] = j
        data[count] = weights[j]
        # without a branch, which the processor would often predict wrongly
        count += _is_kept(weights[j], threshold)
    return indices[:count].copy(), data[:count].copy()


@strict_callee
def _is_kept(weight: float, threshold: float) -> bool:
    return abs(weight) >= threshold and weight != 0


@strict_kernel
def _count_kept(
    data: np.ndarray, indptr: np.ndarray, thresholds: np.ndarray, counts: np.ndarray
) -> None:
    """Fill the number of weights that each row (m,) keeps."""
    for row in range(len(counts)):
        count = 0
        for k in range(indptr[row], indptr[row + 1]):
            if _is_kept(data[k], thresholds[row]):
                count += 1
        counts[row] = count


@strict_kernel
def _copy_kept(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    rows: np.ndarray,
    thresholds: np.ndarray,
    out_data: np.ndarray,
    out_indices: np.ndarray,
    starts: np.ndarray,
) -> None:
    """Copy the kept weights of rows (r,) to ``starts`` (r,); ``thresholds`` (m,) has all rows."""
    for r in range(len(rows)):
        slot = starts[r]
        for k in range(indptr[rows[r]], indptr[rows[r] + 1]):
            if _is_kept(data[k], thresholds[rows[r]]):
                out_data[slot] = data[k]
                out_indices[slot] = indices[k]
                slot += 1


def write_pruned(model: "OneVsAll", threshold: float, path: str | Path) -> "OneVsAll":
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
