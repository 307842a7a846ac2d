"""Weights of labels in 4 bytes each: values of 16 bits with a step per label, features of 16 bits
in blocks.

A step is a power of two, so that a rounded weight is a float32 to the last bit and rounds to
itself, and the score is the same to the last bit whether the step multiplies each weight or their
sum. A weight is off by at most half a step, which is less than 2^-15 of the label's largest.
Features of unknown scales may need small weights beside large ones, so weights are rounded for
instances of length 1 alone.
"""

import math
from typing import NamedTuple

import numpy as np

from ovaflow.sparse.csr import CSR, offsets
from ovaflow.sparse.jit import strict_kernel

BLOCK_BITS = 16
"""Of a feature's number within its block."""

LARGEST_ROUNDED_WEIGHT = 32767
"""The largest rounded weight."""

_SMALLEST_STEP = 2.0**-126


class WeightRows(NamedTuple):
    """Weights of labels as a model file has them, a label's features in a segment for each block."""

    n_columns: int
    data: np.ndarray  # int16, multiples of the label's step; or float32
    indices: (
        np.ndarray
    )  # uint16, ascending within a segment, counted from its block's first; or int32 of one block
    indptr: np.ndarray  # int64 (l b + 1,); of the segments, a label's b blocks after one another
    steps: np.ndarray | None = None  # float32 (l,), powers of two; None: float32 weights

    @property
    def n_rows(self):
        return (len(self.indptr) - 1) // self.blocks

    @property
    def blocks(self):
        """Segments of each label."""
        return 1 if self.steps is None else count_feature_blocks(self.n_columns)

    @property
    def arrays(self):
        """``(data, indices, indptr)``, as a CSR has them."""
        return self.data, self.indices, self.indptr

    def to_scipy(self):
        """The same weights as a ``scipy.sparse.csr_array``."""
        return decode_weights(self).to_scipy()


def count_feature_blocks(n_features):
    """Blocks of 65,536 features."""
    return max(1, -(-n_features >> BLOCK_BITS))


def can_round_weights(transform):
    """Whether instances of a dataset have length 1."""
    return bool(transform.get("normalize")) and not transform.get("unscaled", False)


def round_weights(weights):
    """Round the weights of a CSR (m, d), stored zeros included."""
    m = weights.n_rows
    n = len(weights.data)
    data = np.empty(n, np.int16)
    indices = np.empty(n, np.uint16)
    steps = np.empty(m, np.float32)
    counts = np.zeros(m * count_feature_blocks(weights.n_columns), np.int64)
    _round(*weights.arrays, data, indices, steps, counts)
    return WeightRows(weights.n_columns, data, indices, offsets(counts), steps)


def make_segments(weights):
    """Weights as kernels take them, also those of a CSR: (data, indices, indptr, steps, blocks)."""
    return *weights.arrays, getattr(weights, "steps", None), getattr(weights, "blocks", 1)


def decode_weights(weights, first=0, end=None):
    """Rows first..end of these or of a CSR as a CSR, which shares float32 weights."""
    data, indices, indptr, steps, blocks = make_segments(weights)
    end = weights.n_rows if end is None else end
    if steps is None:
        return CSR(data, indices, indptr, weights.n_columns).part(first, end)
    low = first * blocks
    high = end * blocks
    ends = indptr[low : high + 1 : blocks] - indptr[low]
    values = np.empty(ends[-1], np.float32)
    features = np.empty(ends[-1], np.int32)
    _decode(make_segments(weights), low, high, values, features)
    return CSR(values, features, ends, weights.n_columns)


def count_weight_bytes(weights):
    """Bytes that a weight takes in a file."""
    return weights.data.itemsize + weights.indices.itemsize


def read_values(weights, places):
    """Weights at some places of ``data``: float32."""
    data, _, indptr, steps, blocks = make_segments(weights)
    if steps is None:
        return data[places]
    return data[places] * steps[(np.searchsorted(indptr, places, "right") - 1) // blocks]


@strict_kernel
def label_step(steps, label):
    """What a label's stored weights are multiplied by."""
    if steps is None:
        return np.float32(1)
    return steps[label]


@strict_kernel
def _round(data, indices, indptr, out_data, out_indices, steps, counts) -> None:
    """q = w / step, where step is the least power of two that makes no |q| larger than 32767."""
    blocks = len(counts) // max(len(steps), 1)
    for label in range(len(steps)):
        largest = 0.0
        for k in range(indptr[label], indptr[label + 1]):
            largest = max(largest, abs(data[k]))
        mantissa, exponent = math.frexp(largest / LARGEST_ROUNDED_WEIGHT)
        steps[label] = max(math.ldexp(1.0, exponent - (mantissa == 0.5)), _SMALLEST_STEP)
        for k in range(indptr[label], indptr[label + 1]):
            out_data[k] = np.rint(data[k] / steps[label])
            out_indices[k] = indices[k]
            counts[label * blocks + (indices[k] >> BLOCK_BITS)] += 1


@strict_kernel
def _decode(weights, low, high, out_data, out_indices) -> None:
    """w = step q, over the segments low to high."""
    data, indices, indptr, steps, blocks = weights
    for segment in range(low, high):
        first = (segment % blocks) << BLOCK_BITS
        for k in range(indptr[segment], indptr[segment + 1]):
            out_data[k - indptr[low]] = steps[segment // blocks] * np.float32(data[k])
            out_indices[k - indptr[low]] = first + indices[k]
