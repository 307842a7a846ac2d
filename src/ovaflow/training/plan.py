"""Division of labels into shards that take about equally long, along the label tree, and samples.

Shards get whole subtrees of the root; from subtrees that are too large, the branches that cost
least are cut off. A label whose edge is cut starts at the root instead of its parent, at the
Hamming distance |P_j| instead of d_j, so that the cut costs |P_j| - d_j.
"""

import heapq
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.spanning_tree import ROOT_PARENT, LabelTree
from ovaflow.storage.texts import read_lines, write_lines

PLAN_KIND = "plan"
"""Kind of file."""

# The unit of work is what every label takes, however few its positives. Fitted to the seconds of
# each label in trainings of tibkat (35,116 labels, 4.8 ms with one positive, 320 ms with a
# thousand), docstrings (0.8 and 14 ms), Bibtex, Delicious and ALOI with the mean-separating start;
# within a dataset most seconds are within a factor of 1.5 of it.
_GROWING_WORK = 0.5
_GROWTH_EXPONENT = 0.6
_UNTRAINED_WORK = 0.001


def estimate_work(counts: np.ndarray | Sequence[int]) -> np.ndarray:
    """Estimate the work of training each label by its positives: 1 + 0.5 |P|^0.6.

    Labels without positives take next to none.
    """
    counts = np.asarray(counts)
    return np.where(counts > 0, 1.0 + _GROWING_WORK * counts**_GROWTH_EXPONENT, _UNTRAINED_WORK)


def plan_shards(
    work: np.ndarray | Sequence[float],
    n_shards: int,
    label_tree: LabelTree | None = None,
    counts: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Divide labels into shards of about equal work, the largest first to the least loaded shard.

    With a label tree, and the ``counts`` of positives, parts of it are divided, and the labels of
    each shard are depth first along it.
    """
    work = np.asarray(work, np.float64)
    if label_tree is None:
        return _group_labels(_assign_units(work, n_shards), np.arange(len(work)), n_shards)
    limit = max(work.sum() / n_shards, work.max(initial=0))
    part = divide_tree(label_tree, counts, work, limit)
    shard_of_part = _assign_units(np.bincount(part, weights=work), n_shards)
    return _group_labels(shard_of_part[part], label_tree.order, n_shards)


def _assign_units(work: np.ndarray, n_shards: int) -> np.ndarray:
    """Assign each unit to a shard; of equal loads that with fewer units, then the first."""
    loads = [(0.0, 0, shard) for shard in range(n_shards)]
    shards = np.empty(len(work), np.int64)
    for unit in np.argsort(-work, kind="stable"):
        load, size, shard = loads[0]
        heapq.heapreplace(loads, (load + float(work[unit]), size + 1, shard))
        shards[unit] = shard
    return shards


def _group_labels(shard_of_label: np.ndarray, order: np.ndarray, n_shards: int) -> list[np.ndarray]:
    """Group labels by shard, in the order given within each."""
    shards = shard_of_label[order]
    grouped = np.asarray(order, np.int32)[np.argsort(shards, kind="stable")]
    ends = np.cumsum(np.bincount(shards, minlength=n_shards))
    return np.split(grouped, ends[:-1])


def divide_tree(
    tree: LabelTree, counts: np.ndarray | None, work: np.ndarray, limit: float
) -> np.ndarray:
    """Divide the label tree into parts of limited work, and return the part of each label.

    Until it fits, a part gives up the branch within the limit whose cut costs least for its work.
    """
    is_top = tree.parent == ROOT_PARENT
    subtree_ends = np.flatnonzero(np.diff(tree.subtree[tree.order])) + 1
    below = _sum_work_below(tree, work)
    for labels in np.split(tree.order, subtree_ends):
        if len(labels) and below[labels[0]] > limit:
            _cut_branches(labels, tree.parent, counts - tree.distance, below, limit, is_top)
    part = np.empty(len(work), np.int64)
    for label in tree.order.tolist():
        part[label] = label if is_top[label] else part[tree.parent[label]]
    return np.unique(part, return_inverse=True)[1]


def _sum_work_below(tree: LabelTree, work: np.ndarray) -> np.ndarray:
    """Sum the work of each label and of all labels below it."""
    below = work.astype(np.float64).tolist()
    parent = tree.parent.tolist()
    for label in reversed(tree.order.tolist()):
        if parent[label] != ROOT_PARENT:
            below[parent[label]] += below[label]
    return np.array(below)


def _cut_branches(
    labels: np.ndarray,
    parent: np.ndarray,
    costs: np.ndarray,
    below: np.ndarray,
    limit: float,
    is_top: np.ndarray,
) -> None:
    """Cut branches off a subtree until what is left fits, and mark their first labels.

    Parameters
    ----------
    labels
        Labels of the subtree, depth first.
    parent, costs
        Parent of each label, and the cost of cutting it off.
    below
        Work of each label and all below it, from which branches that are cut are subtracted.
    limit
        Largest work of a part.
    is_top
        True for the first label of each part.
    """
    root = labels[0]
    branches = labels[1:]
    while below[root] > limit and len(branches):
        candidates = branches[below[branches] <= max(limit, below[branches].min())]
        gains = np.minimum(below[candidates], below[root] - limit)
        branch = candidates[np.argmin(costs[candidates] / gains)]
        is_top[branch] = True
        label = branch
        while label != root:
            label = parent[label]
            below[label] -= below[branch]
        branches = branches[~_find_branch(branches, parent, branch)]


def _find_branch(labels: np.ndarray, parent: np.ndarray, branch: int) -> np.ndarray:
    """Find the labels, parents before children, that belong to the branch of a label: bool."""
    inside = {int(branch)}
    for label, above in zip(labels.tolist(), parent[labels].tolist(), strict=True):
        if above in inside:
            inside.add(label)
    return np.isin(labels, list(inside))


def write_plan(path: str | Path, shards: Sequence[np.ndarray], work: np.ndarray) -> None:
    """Write shards.tsv: one line per label, with its shard and its estimated work."""
    lines = ["shard\tlabel\twork"]
    for shard, labels in enumerate(shards):
        lines += [f"{shard}\t{label}\t{work[label]:.6g}" for label in labels]
    write_lines(path, PLAN_KIND, lines)


def read_plan(path: str | Path, shard: int, n_labels: int) -> np.ndarray:
    """Read the labels of one shard, in the order of the file."""
    shards = read_shards(path, n_labels)
    return shards[shard] if shard < len(shards) else np.empty(0, np.int32)


def read_shards(path: str | Path, n_labels: int) -> list[np.ndarray]:
    """Read the labels of each shard up to the last that is not empty."""
    shards: dict[int, list[int]] = {}
    lines = read_lines(path, PLAN_KIND)[1:]
    for line in lines:
        shard, label, _ = line.split("\t")
        shards.setdefault(int(shard), []).append(int(label))
    if len(lines) != n_labels:
        message = f"divides {len(lines):,} labels, but the dataset has {n_labels:,}"
        raise InputError(message, path=path, remedy="run `ovaflow plan` again")
    n_shards = max(shards, default=-1) + 1
    return [np.array(shards.get(number, ()), np.int32) for number in range(n_shards)]


def draw_stratified_sample(
    counts: np.ndarray, n_labels: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw roughly ``n_labels`` labels, from rare to frequent, stratified by their positives.

    Time and weights of a label grow with its positives, so frequent labels are sampled more densely
    than they occur (Cochran, Sampling Techniques, ch. 5). Returns the labels, and how many labels
    each represents.
    """
    candidates = np.flatnonzero(counts)
    magnitudes = _compute_magnitudes(counts[candidates])
    if len(candidates) <= n_labels:
        return candidates[np.argsort(magnitudes, kind="stable")], np.ones(len(candidates))
    strata = [candidates[magnitudes == magnitude] for magnitude in np.unique(magnitudes)]
    generator = np.random.default_rng(seed)
    shares = np.array([len(stratum) * np.sqrt(counts[stratum].mean()) for stratum in strata])
    sizes = np.maximum(np.rint(n_labels * shares / shares.sum()), 2).astype(np.int64)
    samples = []
    multiplicities = []
    for stratum, size in zip(strata, sizes, strict=True):
        sample = generator.choice(stratum, min(size, len(stratum)), replace=False)
        samples.append(sample)
        multiplicities.append(np.full(len(sample), len(stratum) / len(sample)))
    return np.concatenate(samples), np.concatenate(multiplicities)


def compute_sampling_error(
    values: np.ndarray, multiplicities: np.ndarray, counts: np.ndarray
) -> float:
    """Compute the standard error of ``multiplicities @ values`` of a stratified sample.

    See Cochran, eq. 5.12.
    """
    strata = _compute_magnitudes(counts)
    variance = 0.0
    for stratum in np.unique(strata):
        sample = values[strata == stratum]
        multiplicity = multiplicities[strata == stratum]
        if len(sample) > 1:
            variance += multiplicity.sum() * (multiplicity[0] - 1.0) * sample.var(ddof=1)
    return math.sqrt(variance)


def _compute_magnitudes(counts: np.ndarray) -> np.ndarray:
    """Compute the logarithm to base 2 of each count, rounded down."""
    return np.log2(counts).astype(np.int64)
