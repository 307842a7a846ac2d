"""Index of a model: weights by feature, rounded to 8 and 16 bits, that bound the scores of labels.

A panel holds the posting lists of a range of labels. A feature that many of
them use is a dense row instead, added with vector instructions that wait for
memory, so it has 8 bits a weight where a list has 16. The last feature, which
is the bias where there is one, is kept exactly. Lists leave out the small
negative weights, most of all weights, which can only lower a score: a score
exceeds the optimistic one by less than :func:`error_bound`, so that labels
whose optimistic scores are below the k-th best score by more than this need
not be scored exactly.

The index of a model may be next to its file, half of its size, and is mapped by
every process that scores with it. It records the model's checksum, and one of
another model is not used.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ovaflow.sparse.csr import CSR, offsets
from ovaflow.sparse.jit import callee, strict_callee, strict_kernel
from ovaflow.sparse.weight_rows import (
    BLOCK_BITS,
    Segments,
    WeightRows,
    label_step,
    make_segments,
    read_values,
)
from ovaflow.storage.artifact import load_fields, store_fields
from ovaflow.storage.hdf5 import create_artifact, open_artifact, read_inputs, read_parameters

if TYPE_CHECKING:
    from ovaflow.model.model_file import LabelWeights, ModelFile

INDEX_PANEL_LABELS = 1 << 16
"""Most labels of a panel: their numbers within it are stored in 16 bits."""

DENSE_SHARE = 0.125
"""A feature with listed weights in this share of a panel becomes a dense row. Measured: 1/4 takes
an eighth more time and a twentieth less space; 1/12 the same time and a tenth more space."""

LARGEST_LISTED = 32767
LARGEST_DENSE = 127
"""The largest rounded weight in a list, and in a dense row."""

_SMALLEST_STEP = 1e-30
"""Smallest step that float32 can be divided by without overflow."""

OMITTED_NEGATIVE_SHARE = 0.7
"""Share of a panel's negative weights, the smallest, that its lists leave out."""

_SAMPLED_WEIGHTS = 1_000_000
"""Weights from which the largest of those is estimated."""

SMALLEST_INDEXED_MODEL = 10_000_000
"""Weights from which on a model gets an index when it is made: a text takes 60 ms without, 1 ms
with one.
"""

INDEX_KIND = "index"
"""Kind of file."""

INDEX_SCHEME = 3
"""Changes whenever panels come to mean something else."""


class IndexPanel(NamedTuple):
    """Rounded weights of a range of labels."""

    first: int  # its first label
    cut: float  # lists have no weights between -cut and 0
    trained: np.ndarray  # bool (m,)
    base: np.ndarray  # float32 (m,); weights of the last feature
    step: np.ndarray  # float32 (d,); a rounded weight is a whole multiple of it
    dense_row: np.ndarray  # int32 (d,); row in ``dense``, or -1
    dense: np.ndarray  # int8 (h, m)
    values: np.ndarray  # int16, or int8 of texts; of the posting lists, feature after feature
    labels: np.ndarray  # uint16; counted from ``first``
    indptr: np.ndarray  # int64 (d + 1,)


def panel_ranges(n_labels: int, size: int = INDEX_PANEL_LABELS) -> list[tuple[int, int]]:
    """Divide labels into ranges of at most ``size``, of about the same length."""
    if n_labels == 0:
        return []
    count = -(-n_labels // size)
    ends = [n_labels * number // count for number in range(count + 1)]
    return list(itertools.pairwise(ends))


def build_panel(
    weights: WeightRows | CSR,
    trained: np.ndarray,
    first: int,
    end: int,
    cut: float | None = None,
) -> IndexPanel:
    """Round the weights of a range of labels and sort them by feature.

    Parameters
    ----------
    weights
        Shape (l, d).
    trained
        Bool (l,).
    first, end
        The range, of at most :data:`INDEX_PANEL_LABELS` labels.
    cut
        Size of the negative weights that lists leave out: with 0 none, by default most.
    """
    d = weights.n_columns
    m = end - first
    if cut is None:
        cut = _choose_cut(weights, first, end)
    counts = np.zeros(d, np.int64)
    largest = np.zeros(d, np.float32)
    _survey_features(make_segments(weights), first, end, cut, counts, largest)
    # the last feature is kept exactly
    counts[d - 1 :] = 0
    frequent = np.flatnonzero(counts >= max(DENSE_SHARE * m, 1))
    dense_row = np.full(d, -1, np.int32)
    dense_row[frequent] = np.arange(len(frequent))
    largest_rounded = np.where(dense_row >= 0, LARGEST_DENSE, LARGEST_LISTED)
    # a tiny step could not be divided by: everything becomes 0, which is off by half a step
    is_tiny = largest < largest_rounded * _SMALLEST_STEP
    step = np.where(is_tiny, 2 * largest, largest / largest_rounded).astype(np.float32)
    counts[frequent] = 0
    indptr = offsets(counts)
    panel = IndexPanel(
        first=first,
        cut=cut,
        trained=trained[first:end].copy(),
        base=np.zeros(m, np.float32),
        step=step,
        dense_row=dense_row,
        dense=np.zeros((len(frequent), m), np.int8),
        values=np.empty(indptr[-1], np.int16),
        labels=np.empty(indptr[-1], np.uint16),
        indptr=indptr,
    )
    scale = np.divide(1, step, out=np.zeros(d, np.float32), where=step >= _SMALLEST_STEP)
    _fill_panel(make_segments(weights), panel, scale, indptr[:-1].copy())
    return panel


def _choose_cut(weights: WeightRows | CSR, first: int, end: int) -> float:
    """Choose the size of the negative weights of a range of labels that lists leave out."""
    segments = make_segments(weights)
    start = segments.indptr[first * segments.blocks]
    stop = segments.indptr[end * segments.blocks]
    step = 1 + (stop - start) // _SAMPLED_WEIGHTS
    sample = read_values(weights, np.arange(start, stop, step))
    negative = sample[sample < 0]
    if not len(negative):
        return 0.0
    return float(-np.quantile(negative, 1 - OMITTED_NEGATIVE_SHARE))


@strict_callee
def _is_listed(weight: float, cut: float) -> bool:
    return weight > 0 or weight <= -cut


@strict_kernel
def _survey_features(
    weights: Segments,
    first: int,
    end: int,
    cut: float,
    counts: np.ndarray,
    largest: np.ndarray,
) -> None:
    """Count the listed weights of each feature, and find its largest weight, in counts and largest.

    Both have shape (d,) and begin as zeros.
    """
    for segment in range(first * weights.blocks, end * weights.blocks):
        step = label_step(weights.steps, segment // weights.blocks)
        offset = np.uint32((segment % weights.blocks) << BLOCK_BITS)
        start = np.uint64(weights.indptr[segment])
        stop = np.uint64(weights.indptr[segment + 1])
        for k in range(start, stop):
            weight = step * np.float32(weights.data[k])
            feature = offset + np.uint32(weights.indices[k])
            # without a branch: the sign of a weight is often guessed wrongly
            counts[feature] += _is_listed(weight, cut)
            largest[feature] = max(largest[feature], abs(weight))


@strict_kernel
def _fill_panel(weights: Segments, panel: IndexPanel, scale: np.ndarray, slots: np.ndarray) -> None:
    """Round the weights of a panel's labels into its base, dense rows and lists.

    ``scale`` (d,) is 1 / step, or 0 for tiny steps; ``slots`` (d,) is where lists continue.
    """
    blocks = weights.blocks
    last_feature = len(scale) - 1
    for segment in range(panel.first * blocks, (panel.first + len(panel.base)) * blocks):
        j = segment // blocks - panel.first
        offset = np.uint32((segment % blocks) << BLOCK_BITS)
        step = label_step(weights.steps, segment // blocks)
        start = np.uint64(weights.indptr[segment])
        stop = np.uint64(weights.indptr[segment + 1])
        for k in range(start, stop):
            weight = step * np.float32(weights.data[k])
            feature = offset + np.uint32(weights.indices[k])
            rounded = np.int16(np.rint(weight * scale[feature]))
            if feature == last_feature:
                panel.base[j] = weight
            elif panel.dense_row[feature] >= 0:
                panel.dense[panel.dense_row[feature], j] = rounded
            elif _is_listed(weight, panel.cut):
                panel.values[slots[feature]] = rounded
                panel.labels[slots[feature]] = j
                slots[feature] += 1


@callee
def error_bound(
    data: np.ndarray, indices: np.ndarray, start: int, end: int, panel: IndexPanel
) -> float:
    """Bound how much a score exceeds the optimistic one, both summed in float32.

    The instance has the entries start to end.
    """
    # rounding: 1/2 step |x_f|, and w / step is rounded too; sums: n terms of at most |x_f| step
    # times the largest rounded weight, n 2^-24 of them each; underflow: 2^-150 of a factor x_f
    # step, which counts up to LARGEST_LISTED times, and of each product
    steps = 0.0
    terms = 0.0
    raised = 0.0
    for k in range(start, end):
        step = abs(np.float64(data[k])) * panel.step[indices[k]]
        steps += step
        terms += step * (LARGEST_DENSE if panel.dense_row[indices[k]] >= 0 else LARGEST_LISTED)
        raised += panel.cut * max(-np.float64(data[k]), 0.0)
    underflow = (end - start + 1) * (LARGEST_LISTED + 4) * 2.0**-150
    return 0.51 * steps + terms * 2.0 * (end - start + 8) / 2.0**24 + raised + underflow


@callee
def upper_bounds(
    data: np.ndarray,
    indices: np.ndarray,
    start: int,
    end: int,
    panel: IndexPanel,
    out: np.ndarray,
) -> None:
    """Fill out = base x_d + sum_f x_f step_f q_f for every label of the panel, float32 (m,).

    The instance x has the entries start to end; labels that are not trained get -inf.
    """
    rows = np.empty(end - start + 3, np.int32)
    factors = np.zeros(end - start + 3, np.float32)
    dense = 0
    bias = np.float32(0)
    for k in range(start, end):
        feature = indices[k]
        factor = data[k] * panel.step[feature]
        if feature == len(panel.step) - 1:
            bias = data[k]
        elif panel.dense_row[feature] >= 0:
            rows[dense] = panel.dense_row[feature]
            factors[dense] = factor
            dense += 1
    for j in range(np.uint64(len(out))):
        out[j] = bias * panel.base[j] if panel.trained[j] else -np.inf
    # each pass over the sums costs a load and a store besides its products, so it takes four rows
    rows[dense : dense + 3] = 0
    for r in range(0, dense, 4):
        q0 = panel.dense[rows[r]]
        q1 = panel.dense[rows[r + 1]]
        q2 = panel.dense[rows[r + 2]]
        q3 = panel.dense[rows[r + 3]]
        f0 = factors[r]
        f1 = factors[r + 1]
        f2 = factors[r + 2]
        f3 = factors[r + 3]
        for j in range(len(out)):
            out[j] += f0 * q0[j] + f1 * q1[j] + f2 * q2[j] + f3 * q3[j]
    for k in range(start, end):
        feature = indices[k]
        factor = data[k] * panel.step[feature]
        for p in range(np.uint64(panel.indptr[feature]), np.uint64(panel.indptr[feature + 1])):
            out[panel.labels[p]] += factor * panel.values[p]


def index_path(model_path: str | Path) -> Path:
    """Name the index of ``model.h5``: ``model.index.h5`` next to it."""
    return Path(model_path).with_suffix(".index.h5")


def build_index(
    weights: WeightRows | CSR, trained: np.ndarray, cut: float | None = None
) -> Iterator[IndexPanel]:
    """Build the panels of all labels, one after the other; ``cut`` as for :func:`build_panel`."""
    for first, end in panel_ranges(weights.n_rows):
        yield build_panel(weights, trained, first, end, cut)


def renew_index(model: "LabelWeights") -> None:
    """Write the index next to a model file that was just made.

    Where an index does not pay, that of a former model is removed.
    """
    path = index_path(model.path)
    if len(model.weights.data) >= SMALLEST_INDEXED_MODEL:
        write_index(path, model)
    else:
        path.unlink(missing_ok=True)


def write_index(path: str | Path, model: "LabelWeights") -> None:
    """Build and write a model's index, one panel at a time in memory."""
    parameters = {"scheme": INDEX_SCHEME}
    with create_artifact(path, INDEX_KIND, parameters, {"model": model.checksum}) as file:
        for number, panel in enumerate(build_index(model.weights, model.trained)):
            store_fields(file.create_group(f"{number:06d}"), panel)


def open_index(model: "ModelFile") -> list[IndexPanel] | None:
    """Open the panels next to a model, mapped; None without an index of this very model."""
    path = index_path(model.path)
    if model.names_in_memory is not None or not path.exists():
        return None
    with open_artifact(path, INDEX_KIND) as file:
        is_of_model = read_inputs(file).get("model") == model.checksum
        if not is_of_model or read_parameters(file).get("scheme") != INDEX_SCHEME:
            return None
        return [IndexPanel(**load_fields(group, IndexPanel)) for group in file.values()]
