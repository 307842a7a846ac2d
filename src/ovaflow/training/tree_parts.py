"""Parts of the label tree for shards: whole subtrees of the root, and of too large ones what costs least to cut off.

A label whose edge is cut starts at the root instead of its parent, at the
Hamming distance |P_j| instead of d_j, so that the cut costs |P_j| - d_j. In a
minimum spanning tree that is never less than 1.
"""

import numpy as np

from ovaflow.artifacts.label_tree import ROOT


def parts_of_tree(tree, counts, work, limit):
    """Divide the label tree into parts that take no more than a limit; returns the part of each label, without gaps.

    A part that is too large gives up the branch that costs least for the work
    it takes away, among those within the limit, until it fits. A single label may
    take more.
    """
    top = tree.parent == ROOT
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
    """Work of each label's branch."""
    below = work.astype(np.float64).tolist()
    parent = tree.parent.tolist()
    for label in reversed(tree.order.tolist()):
        if parent[label] != ROOT:
            below[parent[label]] += below[label]
    return np.array(below)


def _cut(labels, parent, costs, below, limit, top):
    """Cut branches off a subtree, depth first in ``labels``, until what is left fits; marks their tops."""
    root, branches = labels[0], labels[1:]
    while below[root] > limit and len(branches):
        fitting = below[branches] <= limit
        candidates = branches[fitting] if fitting.any() else branches[below[branches] == below[branches].min()]
        gains = np.minimum(below[candidates], below[root] - limit)
        chosen = candidates[np.argmin(costs[candidates] / np.maximum(gains, 1e-12 * limit))]
        top[chosen] = True
        above = parent[chosen]
        while True:
            below[above] -= below[chosen]
            if above == root:
                break
            above = parent[above]
        branches = branches[~_in_branch(branches, parent, chosen)]


def _in_branch(labels, parent, chosen):
    """Which labels, parents before children, belong to the branch of a label."""
    inside = {int(chosen)}
    for label, above in zip(labels.tolist(), parent[labels].tolist(), strict=True):
        if above in inside:
            inside.add(label)
    return np.isin(labels, list(inside))


def cut_edges(tree, shards):
    """Labels whose parent is in another shard, from the labels of each shard."""
    shard_of = np.empty(len(tree.parent), np.int64)
    for shard, labels in enumerate(shards):
        shard_of[labels] = shard
    return np.flatnonzero((tree.parent != ROOT) & (shard_of != shard_of[tree.parent]))


def cost_of_cuts(tree, counts, cut):
    """Sum of |P_j| - d_j over the labels cut off: they start at the root instead of their parents."""
    return int((counts[cut] - tree.distance[cut]).sum())
