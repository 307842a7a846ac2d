"""Weights of labels in 4 bytes each: values of 16 bits with a step per label, features of 16 bits.

A step is a power of two, so that a rounded weight is a float32 to the last bit and rounds to
itself, and the score is the same to the last bit whether the step multiplies each weight or their
sum. A weight is off by at most half a step, which is less than 2^-15 of the label's largest.
Features of unknown scales may need small weights next to large ones, so weights are rounded for
instances of length 1 alone.

Features are numbered within blocks of 65,536; a label has one segment of weights for each block.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy

from ovaflow.sparse.csr import CSR, offsets
from ovaflow.sparse.jit import strict_callee, strict_kernel

BLOCK_BITS = 16
"""Bits of a feature's number within its block."""

LARGEST_ROUNDED_WEIGHT = 32767
"""The largest number of steps that 16 bits hold."""

_SMALLEST_STEP = 2.0**-126
"""The smallest power of two that float32 holds to full precision."""


class WeightRows(NamedTuple):
    """Weights of labels as a model file stores them.

    Each label has one segment of weights for each block of features.
    """

    n_columns: int
    data: np.ndarray  # int16, multiples of the label's step; or float32
    # uint16, ascending within a segment, counted from its block's first; or int32 of one block
    indices: np.ndarray
    indptr: np.ndarray  # int64 (l b + 1,); of the segments, a label's b blocks after one another
    steps: np.ndarray | None = None  # float32 (l,), powers of two; None: float32 weights

    @property
    def n_rows(self) -> int:
        return (len(self.indptr) - 1) // self.blocks

    @property
    def blocks(self) -> int:
        """Segments of each label."""
        return 1 if self.steps is None else count_feature_blocks(self.n_columns)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``(data, indices, indptr)``, as in a CSR."""
        return self.data, self.indices, self.indptr

    def to_scipy(self) -> "scipy.sparse.csr_array":
        """Make the same weights as a ``scipy.sparse.csr_array``."""
        return decode_weights(self).to_scipy()


class Segments(NamedTuple):
    """Weights of labels as kernels take them, rounded or not."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray  # of the segments, a label's blocks after one another
    steps: np.ndarray | None
    blocks: int  # segments of each label


def count_feature_blocks(n_features: int) -> int:
    """Count the blocks of 65,536 features."""
    return max(1, -(-n_features >> BLOCK_BITS))


def can_round_weights(transform: Mapping[str, Any]) -> bool:
    """Check if instances of a dataset have length 1, by its parameters."""
    return bool(transform.get("normalize")) and not transform.get("unscaled", False)


def round_weights(weights: CSR) -> WeightRows:
    """Round weights (m, d), stored zeros included."""
    m = weights.n_rows
    n = len(weights.data)
    data = np.empty(n, np.int16)
    indices = np.empty(n, np.uint16)
    steps = np.empty(m, np.float32)
    counts = np.zeros(m * count_feature_blocks(weights.n_columns), np.int64)
    _round(weights.data, weights.indices, weights.indptr, data, indices, steps, counts)
    return WeightRows(weights.n_columns, data, indices, offsets(counts), steps)


def make_segments(weights: WeightRows | CSR) -> Segments:
    """Bring weights into the form that kernels take."""
    if isinstance(weights, WeightRows):
        return Segments(
            weights.data, weights.indices, weights.indptr, weights.steps, weights.blocks
        )
    return Segments(weights.data, weights.indices, weights.indptr, None, 1)


def decode_weights(weights: WeightRows | CSR, first: int = 0, end: int | None = None) -> CSR:
    """Make a CSR of rows first..end; it shares float32 weights."""
    segments = make_segments(weights)
    end = weights.n_rows if end is None else end
    if segments.steps is None:
        matrix = CSR(weights.data, weights.indices, weights.indptr, weights.n_columns)
        return matrix.part(first, end)
    low = first * segments.blocks
    high = end * segments.blocks
    indptr = weights.indptr[low : high + 1 : segments.blocks] - weights.indptr[low]
    values = np.empty(indptr[-1], np.float32)
    features = np.empty(indptr[-1], np.int32)
    _decode(segments, low, high, values, features)
    return CSR(values, features, indptr, weights.n_columns)


def count_weight_bytes(weights: WeightRows | CSR) -> int:
    """Count the bytes that a weight takes in a file."""
    return weights.data.itemsize + weights.indices.itemsize


def read_values(weights: WeightRows | CSR, entries: np.ndarray) -> np.ndarray:
    """Read some entries of ``data`` as weights: float32."""
    segments = make_segments(weights)
    if segments.steps is None:
        return segments.data[entries]
    rows = (np.searchsorted(segments.indptr, entries, "right") - 1) // segments.blocks
    return segments.data[entries] * segments.steps[rows]


@strict_callee
def label_step(steps: np.ndarray | None, label: int) -> np.float32:
    """Find the factor of a label's stored weights."""
    if steps is None:
        return np.float32(1)
    return steps[label]


@strict_kernel
def _round(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    out_data: np.ndarray,
    out_indices: np.ndarray,
    steps: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Fill q = w / step, and count the entries of each segment.

    The step is the least power of two that makes no |q| larger than 32767; 1 where every
    q is 0.
    """
    blocks = len(counts) // max(len(steps), 1)
    for label in range(len(steps)):
        largest = 0.0
        for k in range(indptr[label], indptr[label + 1]):
            largest = max(largest, abs(data[k]))
        mantissa, exponent = math.frexp(largest / LARGEST_ROUNDED_WEIGHT)
        # frexp gives a power of two itself as 0.5 times the next one
        if mantissa == 0.5:
            exponent -= 1
        steps[label] = max(math.ldexp(1.0, exponent), _SMALLEST_STEP)
        if np.rint(largest / steps[label]) == 0:
            steps[label] = 1.0
        for k in range(indptr[label], indptr[label + 1]):
            out_data[k] = np.rint(data[k] / steps[label])
            out_indices[k] = indices[k]
            counts[label * blocks + (indices[k] >> BLOCK_BITS)] += 1


@strict_kernel
def _decode(
    weights: Segments, low: int, high: int, out_data: np.ndarray, out_indices: np.ndarray
) -> None:
    """Fill w = step q, over the segments low to high."""
    start = weights.indptr[low]
    for segment in range(low, high):
        first_feature = (segment % weights.blocks) << BLOCK_BITS
        step = label_step(weights.steps, segment // weights.blocks)
        for k in range(weights.indptr[segment], weights.indptr[segment + 1]):
            out_data[k - start] = step * np.float32(weights.data[k])
            out_indices[k - start] = first_feature + weights.indices[k]
