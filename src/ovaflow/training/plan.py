"""The shard plan: which labels are trained together, so that all shards take about as long."""

import heapq
import math

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.storage.texts import read_lines, write_lines
from ovaflow.training.tree_parts import parts_of_tree

PLAN = "plan"
"""Kind of file."""

HEADER = "shard\tlabel\twork"

# Unit: what every label takes, however few its positives. Fitted to the seconds of each label of whole trainings of
# tibkat (35,116 labels, 4.8 ms with one positive, 320 ms with a thousand), docstrings (0.8 and 14 ms), Bibtex,
# Delicious and ALOI, mean-separating start; within a dataset the seconds lie a factor of 1.5 around it.
_GROWING_WORK = 0.5
_EXPONENT = 0.6
_UNTRAINED = 0.001


def estimated_work(counts):
    """Expected effort of training each label, from its positives: 1 + 0.5 |P|^0.6.

    Labels without positives are not trained and cost next to nothing.
    """
    counts = np.asarray(counts)
    return np.where(counts > 0, 1.0 + _GROWING_WORK * counts**_EXPONENT, _UNTRAINED)


def plan_shards(work, n_shards, label_tree=None, counts=None):
    """Divide labels into shards of about equal work, the largest first to the least loaded shard.

    The largest shard exceeds the mean by less than the largest unit: a label, or with a label tree (and the ``counts``
    of positives) a part of it. Parts are whole subtrees of the root as far as they take no more than a shard of mean
    size, or than the largest label, see :mod:`ovaflow.training.tree_parts`. The labels of each shard are ascending, or
    depth first along the tree; shards are empty when there are fewer units than shards.
    """
    if n_shards < 1:
        raise InputError(f"{n_shards} shards", remedy="ask for at least 1")
    work = np.asarray(work, np.float64)
    if label_tree is None:
        return _members(_assign(work, n_shards), np.arange(len(work)), n_shards)
    part = parts_of_tree(label_tree, counts, work, max(work.sum() / n_shards, work.max(initial=0)))
    shard_of_part = _assign(np.bincount(part, weights=work), n_shards)
    return _members(shard_of_part[part], label_tree.order, n_shards)


def _assign(work, n_shards):
    """Shard of each unit; equal loads go to the shard with fewer units, then to the first."""
    loads = [(0.0, 0, shard) for shard in range(n_shards)]
    shards = np.empty(len(work), np.int64)
    for unit in np.argsort(-work, kind="stable"):
        load, size, shard = loads[0]
        heapq.heapreplace(loads, (load + float(work[unit]), size + 1, shard))
        shards[unit] = shard
    return shards


def _members(shard_of_label, order, n_shards):
    shards = shard_of_label[order]
    grouped = np.asarray(order, np.int32)[np.argsort(shards, kind="stable")]
    return np.split(grouped, np.cumsum(np.bincount(shards, minlength=n_shards))[:-1])


def write_plan(path, shards, work):
    """Write shards.tsv: one line per label, with its shard and its estimated work."""
    lines = [f"{shard}\t{label}\t{work[label]:.6g}" for shard, labels in enumerate(shards) for label in labels]
    write_lines(path, PLAN, [HEADER, *lines])


def read_plan(path, shard, n_labels=None):
    """Labels of one shard, in the order of the file; the whole file is checked.

    An InputError names the line that is malformed, repeats a label or is out of range.
    """
    shards = read_shards(path, n_labels)
    return shards[shard] if shard < len(shards) else np.empty(0, np.int32)


def read_shards(path, n_labels=None):
    """Labels of all shards up to the last that has any; see :func:`read_plan`."""
    shards, seen = {}, set()
    for line, text in enumerate(_lines(path), start=2):
        shard, label = _parsed(text, path, line)
        if label in seen:
            raise InputError(f"label {label} appears twice", path=path, line=line, remedy="run `ovaflow plan` again")
        if n_labels is not None and label >= n_labels:
            raise InputError(f"label {label} of {n_labels:,}", path=path, line=line, remedy="run `ovaflow plan` again")
        seen.add(label)
        shards.setdefault(shard, []).append(label)
    if n_labels is not None and len(seen) < n_labels:
        raise InputError(
            f"{len(seen):,} of {n_labels:,} labels are in it", path=path, remedy="run `ovaflow plan` again"
        )
    return [np.array(shards.get(shard, ()), np.int32) for shard in range(max(shards, default=-1) + 1)]


def _lines(path):
    """Lines after the header."""
    header, *lines = read_lines(path, PLAN)
    if header != HEADER:
        raise InputError("expected the header shard, label, work", path=path, line=1)
    return lines


def _parsed(text, path, line):
    """Shard and label of a line."""
    try:
        shard, label, work = text.split("\t")
        shard, label, work = int(shard), int(label), float(work)
    except ValueError:
        raise InputError(
            f"expected shard, label and work between tabs, found {text.strip()[:60]!r}", path=path, line=line
        ) from None
    if shard < 0 or label < 0 or not (math.isfinite(work) and work >= 0):
        raise InputError("shard, label and work must be finite and not negative", path=path, line=line)
    return shard, label
