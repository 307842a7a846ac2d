"""Which labels belong together: shards that take about as long, parts of the label tree, and
samples.

Shards get whole subtrees of the root; from subtrees that are too large, the branches that cost
least are cut off. A label whose edge is cut starts at the root instead of its parent, at the
Hamming distance |P_j| instead of d_j, so that the cut costs |P_j| - d_j.
"""

import heapq
import math

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.spanning_tree import ROOT_PARENT
from ovaflow.storage.texts import read_lines, write_lines

PLAN_KIND = "plan"
"""Kind of file."""

# Unit: what every label takes, however few its positives. Fitted to the seconds of each label in
# trainings of tibkat (35,116 labels, 4.8 ms with one positive, 320 ms with a thousand), docstrings
# (0.8 and 14 ms), Bibtex, Delicious and ALOI with the mean-separating start; within a dataset most
# seconds are within a factor of 1.5 of it.
_GROWING_WORK = 0.5
_EXPONENT = 0.6
_UNTRAINED = 0.001


def estimate_work(counts):
    """Effort of training each label, by its positives: 1 + 0.5 |P|^0.6; those without have none."""
    counts = np.asarray(counts)
    return np.where(counts > 0, 1.0 + _GROWING_WORK * counts**_EXPONENT, _UNTRAINED)


def plan_shards(work, n_shards, label_tree=None, counts=None):
    """Divide labels into shards of about equal work, the largest first to the least loaded shard.

    With a label tree, and the ``counts`` of positives, parts of it are divided, and the labels of
    each shard are depth first along it.
    """
    work = np.asarray(work, np.float64)
    if label_tree is None:
        return _members(_assign(work, n_shards), np.arange(len(work)), n_shards)
    limit = max(work.sum() / n_shards, work.max(initial=0))
    part = divide_tree(label_tree, counts, work, limit)
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


def divide_tree(tree, counts, work, limit):
    """The part of each label, when the label tree is divided into parts of limited work.

    Until it fits, a part gives up the branch within the limit whose cut costs least for its work.
    """
    top = tree.parent == ROOT_PARENT
    members = np.split(tree.order, np.flatnonzero(np.diff(tree.subtree[tree.order])) + 1)
    below = _work_below(tree, work)
    for labels in members:
        if len(labels) and below[labels[0]] > limit:
            _cut(labels, tree.parent, counts - tree.distance, below, limit, top)
    part = np.empty(len(work), np.int64)
    for label in tree.order.tolist():
        part[label] = label if top[label] else part[tree.parent[label]]
    return np.unique(part, return_inverse=True)[1]


def _work_below(tree, work):
    below = work.astype(np.float64).tolist()
    parent = tree.parent.tolist()
    for label in reversed(tree.order.tolist()):
        if parent[label] != ROOT_PARENT:
            below[parent[label]] += below[label]
    return np.array(below)


def _cut(labels, parent, costs, below, limit, top) -> None:
    """Cut branches off a subtree, depth first in ``labels``, until what is left fits; marks their
    tops.
    """
    root = labels[0]
    branches = labels[1:]
    while below[root] > limit and len(branches):
        candidates = branches[below[branches] <= max(limit, below[branches].min())]
        gains = np.minimum(below[candidates], below[root] - limit)
        label = branch = candidates[np.argmin(costs[candidates] / gains)]
        top[branch] = True
        while label != root:
            label = parent[label]
            below[label] -= below[branch]
        branches = branches[~_in_branch(branches, parent, branch)]


def _in_branch(labels, parent, branch):
    """Which labels, parents before children, belong to the branch of a label."""
    inside = {int(branch)}
    for label, above in zip(labels.tolist(), parent[labels].tolist(), strict=True):
        if above in inside:
            inside.add(label)
    return np.isin(labels, list(inside))


def write_plan(path, shards, work) -> None:
    """Write shards.tsv: one line per label, with its shard and its estimated work."""
    lines = ["shard\tlabel\twork"]
    for shard, labels in enumerate(shards):
        lines += [f"{shard}\t{label}\t{work[label]:.6g}" for label in labels]
    write_lines(path, PLAN_KIND, lines)


def read_plan(path, shard, n_labels):
    """Labels of one shard, in the order of the file."""
    shards = read_shards(path, n_labels)
    return shards[shard] if shard < len(shards) else np.empty(0, np.int32)


def read_shards(path, n_labels):
    """Labels of each shard up to the last that is not empty."""
    shards = {}
    _, *lines = read_lines(path, PLAN_KIND)
    for line in lines:
        shard, label, _ = line.split("\t")
        shards.setdefault(int(shard), []).append(int(label))
    if len(lines) != n_labels:
        message = f"divides {len(lines):,} labels, but the dataset has {n_labels:,}"
        raise InputError(message, path=path, remedy="run `ovaflow plan` again")
    n_shards = max(shards, default=-1) + 1
    return [np.array(shards.get(shard, ()), np.int32) for shard in range(n_shards)]


def draw_stratified_sample(counts, n_labels, seed):
    """Roughly ``n_labels`` labels, from rare to frequent, and how many labels each represents.

    They are stratified by their positives. Time and weights of a label grow with these, so frequent
    labels are sampled more densely than they occur (Cochran, Sampling Techniques, ch. 5).
    """
    candidates = np.flatnonzero(counts)
    magnitudes = _magnitudes(counts[candidates])
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


def compute_sampling_error(values, multiplicities, counts):
    """Standard error of ``multiplicities @ values`` of a stratified sample (Cochran, eq. 5.12)."""
    strata = _magnitudes(counts)
    variance = 0.0
    for stratum in np.unique(strata):
        sample = values[strata == stratum]
        multiplicity = multiplicities[strata == stratum]
        if len(sample) > 1:
            variance += multiplicity.sum() * (multiplicity[0] - 1.0) * sample.var(ddof=1)
    return math.sqrt(variance)


def _magnitudes(counts):
    return np.log2(counts).astype(np.int64)
