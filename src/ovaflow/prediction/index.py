"""Weights by feature, rounded to 16 bits: they tell which labels may be among the best.

A panel holds the posting lists of a range of labels. A feature that many of
them use is a dense row instead, added with vector instructions; the last
feature, which is the bias where there is one, is kept exactly. A rounded score
differs from the score by less than :func:`error_bound`, so that labels whose
rounded scores lie further than two such errors below the k-th best need not be
scored exactly: on 35,116 labels of library subjects 5 to 6 are left for k = 5.

The index of a model may lie next to its file, half its size, and is mapped by
every process that scores with it. It names the model's checksum, and one of
another model is not used.
"""

import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ovaflow.sparse.jit import kernel, strict_kernel
from ovaflow.storage.arrays import create_array, map_vector, number_of, read_offsets
from ovaflow.storage.artifact import create_artifact, inputs_of, open_artifact, parameters_of
from ovaflow.storage.refusals import damaged

PANEL = 1 << 16
"""Most labels of a panel: their numbers within it are stored in 16 bits."""

DENSE_SHARE = 0.25
"""A feature with weights in this share of a panel becomes a dense row. Measured: 1/8 takes 8 % less time, 30 % more
space."""

LARGEST = 32767
"""Of a rounded weight."""

_SMALLEST_STEP = 1e-30

INDEX_PAYS = 10_000_000
"""Weights from which on a model gets an index when it is made: a text takes 60 ms without, 1 ms with one."""

KIND = "index"

SCHEME = 1
"""Changes whenever panels come to mean something else."""


class IndexPanel(NamedTuple):
    """Rounded weights of a range of labels."""

    first: int  # its first label
    trained: np.ndarray  # bool (m,)
    base: np.ndarray  # float32 (m,); weights of the last feature
    step: np.ndarray  # float32 (d,); a rounded weight is a whole multiple of it
    dense_row: np.ndarray  # int32 (d,); row in ``dense``, or -1
    dense: np.ndarray  # int16 (h, m)
    values: np.ndarray  # int16; of the posting lists, feature after feature
    labels: np.ndarray  # uint16; counted from ``first``
    indptr: np.ndarray  # int64 (d + 1,)


def panel_ranges(n_labels, size=PANEL):
    """Ranges of at most ``size`` labels, of about the same length."""
    count = -(-n_labels // size)
    ends = [n_labels * place // count for place in range(count + 1)] if count else []
    return list(itertools.pairwise(ends))


def build_panel(weights, trained, first, end):
    """Round the weights of labels first..end, at most :data:`PANEL`, and sort them by feature."""
    d, m = weights.n_columns, end - first
    counts, largest = np.zeros(d, np.int64), np.zeros(d, np.float32)
    _survey(*weights.arrays, first, end, counts, largest)
    counts[d - 1 :] = 0
    # a tiny step could not be divided by: everything becomes 0, which is off by half a step
    step = np.where(largest < LARGEST * _SMALLEST_STEP, 2 * largest, largest / LARGEST).astype(np.float32)
    frequent = np.flatnonzero(counts >= max(DENSE_SHARE * m, 1))
    dense_row = np.full(d, -1, np.int32)
    dense_row[frequent] = np.arange(len(frequent))
    counts[frequent] = 0
    indptr = np.zeros(d + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    panel = IndexPanel(
        first,
        trained[first:end].copy(),
        np.zeros(m, np.float32),
        step,
        dense_row,
        np.zeros((len(frequent), m), np.int16),
        np.empty(indptr[-1], np.int16),
        np.empty(indptr[-1], np.uint16),
        indptr,
    )
    scale = np.divide(1, step, out=np.zeros(d, np.float32), where=step >= _SMALLEST_STEP)
    _fill(*weights.arrays, panel, scale, indptr[:-1].copy())
    return panel


@strict_kernel
def _survey(data, indices, indptr, first, end, counts, largest):
    for k in range(np.uint64(indptr[first]), np.uint64(indptr[end])):
        feature = np.uint32(indices[k])
        counts[feature] += 1
        largest[feature] = max(largest[feature], abs(data[k]))


@strict_kernel
def _fill(data, indices, indptr, panel, scale, slots):
    for j in range(len(panel.base)):
        for k in range(np.uint64(indptr[panel.first + j]), np.uint64(indptr[panel.first + j + 1])):
            feature = np.uint32(indices[k])
            rounded = np.int16(np.rint(data[k] * scale[feature]))
            if feature == len(scale) - 1:
                panel.base[j] = data[k]
            elif panel.dense_row[feature] >= 0:
                panel.dense[panel.dense_row[feature], j] = rounded
            else:
                panel.values[slots[feature]] = rounded
                panel.labels[slots[feature]] = j
                slots[feature] += 1


@kernel
def error_bound(data, indices, start, end, panel):
    """Most by which a rounded score and the score differ, both summed in float32."""
    # rounding: 1/2 step |x_f|, and w / step is rounded too; sums: n terms of at most |x_f| LARGEST step, n 2^-24 of
    # them each; underflow: 2^-150 of a factor x_f step, which counts up to LARGEST times, and of each product
    steps = 0.0
    for k in range(start, end):
        steps += abs(np.float64(data[k])) * panel.step[indices[k]]
    underflow = (end - start + 1) * (LARGEST + 4) * 2.0**-150
    return steps * (0.51 + 2.0 * LARGEST * (end - start + 8) / 2.0**24) + underflow


@kernel
def rounded_scores(data, indices, start, end, panel, out):
    """out = base x_d + sum_f x_f step_f q_f for every label of the panel."""
    rows, factors = np.empty(end - start + 3, np.int32), np.zeros(end - start + 3, np.float32)
    dense = 0
    bias = np.float32(0)
    for k in range(start, end):
        feature = indices[k]
        factor = data[k] * panel.step[feature]
        if feature == len(panel.step) - 1:
            bias = data[k]
        elif panel.dense_row[feature] >= 0:
            rows[dense], factors[dense] = panel.dense_row[feature], factor
            dense += 1
    for j in range(len(out)):
        out[j] = bias * panel.base[j] if panel.trained[j] else -np.inf
    # each pass over the sums costs a load and a store besides its products, so it takes four rows
    rows[dense : dense + 3] = 0
    for r in range(0, dense, 4):
        q0, q1 = panel.dense[rows[r]], panel.dense[rows[r + 1]]
        q2, q3 = panel.dense[rows[r + 2]], panel.dense[rows[r + 3]]
        f0, f1, f2, f3 = factors[r], factors[r + 1], factors[r + 2], factors[r + 3]
        for j in range(len(out)):
            out[j] += f0 * q0[j] + f1 * q1[j] + f2 * q2[j] + f3 * q3[j]
    for k in range(start, end):
        feature = indices[k]
        factor = data[k] * panel.step[feature]
        for p in range(np.uint64(panel.indptr[feature]), np.uint64(panel.indptr[feature + 1])):
            out[panel.labels[p]] += factor * panel.values[p]


def index_path(model_path):
    """``model.index.h5`` next to ``model.h5``."""
    return Path(model_path).with_suffix(".index.h5")


def build_index(model):
    for first, end in panel_ranges(model.n_labels):
        yield build_panel(model.weights, model.trained, first, end)


def write_index(path, model):
    """Build and write a model's index, one panel at a time in memory."""
    with create_artifact(path, KIND, {"scheme": SCHEME}, {"model": model.checksum}) as file:
        for number, panel in enumerate(build_index(model)):
            group = file.create_group(f"{number:06d}")
            group.attrs["first"] = panel.first
            for name, array in panel._asdict().items():
                if name != "first":
                    create_array(group, name, array)


def open_index(model):
    """The panels next to a model, mapped; None without an index of this very model."""
    path = index_path(model.path)
    if model.given is not None or not path.exists():
        return None
    with open_artifact(path, KIND) as file:
        if inputs_of(file).get("model") != model.checksum or parameters_of(file).get("scheme") != SCHEME:
            return None
        panels = [_read_panel(group, model.n_features) for _, group in file.items()]
        ends = np.cumsum([0, *(len(panel.base) for panel in panels)])
        if [panel.first for panel in panels] != ends[:-1].tolist() or ends[-1] != model.n_labels:
            raise damaged(file, "panels that do not cover the labels")
        return panels


def _read_panel(group, d):
    """A panel, whose numbers kernels use as places of arrays without looking."""
    m, h = group["base"].size, group["dense"].shape[0] if group["dense"].ndim == 2 else 0
    panel = IndexPanel(
        number_of(group, "first", 0),
        map_vector(group["trained"], bool),
        map_vector(group["base"], np.float32),
        map_vector(group["step"], np.float32, 0),
        map_vector(group["dense_row"], np.int32, -1, h - 1),
        map_vector(group["dense"], np.int16, ndim=2),
        map_vector(group["values"], np.int16),
        map_vector(group["labels"], np.uint16, 0, m - 1),
        read_offsets(group["indptr"]),
    )
    lengths = len(panel.trained), len(panel.step), len(panel.dense_row), len(panel.indptr), panel.dense.shape
    fits = lengths == (m, d, d, d + 1, (h, m)) and panel.indptr[-1] == len(panel.values) == len(panel.labels)
    if not fits:
        raise damaged(group, f"arrays of panel {group.name} do not fit together")
    return panel
