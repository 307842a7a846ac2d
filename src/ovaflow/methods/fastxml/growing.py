"""Growing one tree, from the root down (Algorithm 1)."""

from typing import NamedTuple

import numpy as np

from ovaflow.methods.fastxml.assignment import (
    assign_sides,
    decode_label,
    derive_seed,
    fill_separator_terms,
    gather_labels,
    to_gain_units,
    toss_sides,
    update_ranking,
)
from ovaflow.methods.fastxml.separator import fit_separator
from ovaflow.solver.problem import Workspace, make_workspace
from ovaflow.sparse.csr import with_room
from ovaflow.sparse.jit import strict_kernel


class TreeScratch(NamedTuple):
    """What one thread grows trees in: vectors as long as the root needs; nodes use the beginnings."""

    members: np.ndarray  # int32 (n,); instances, those of each node together
    sides_before: np.ndarray  # int8 (n,); those before the last update
    sides: np.ndarray  # int8 (n,); 1 for delta = +1, 0 for -1
    pull: np.ndarray  # float64 (n,); what the separator adds to the choice of side
    normalisers: np.ndarray  # float64 (n,)
    entries: np.ndarray  # int32 (nonzeros of Y,); labels of the node's instances, renumbered
    entry_start: np.ndarray  # int64 (n + 1,)
    labels: np.ndarray  # int64 (l,); labels of the node, in the order of their numbers
    label_number: np.ndarray  # int32 (l,); the reverse; -1 between uses
    worth: np.ndarray  # float64 (l,); g, and the difference of both sides' discounts
    lead: np.ndarray
    sums: np.ndarray  # int64 (2 l,); gains of the labels on each side
    keys: np.ndarray  # int64 (2 l,); sums and labels in order, for each side
    fresh: np.ndarray  # int64 (l,); for sorting
    changed: np.ndarray  # bool (l,); labels whose sums are others than when they were ranked
    reach: (
        np.ndarray
    )  # float32 (d, 2); bounds of each feature's gradient, from either side; 0 between uses
    uses: np.ndarray  # int32 (d,); entries of each feature; 0 between uses
    slots: np.ndarray  # int64 (d,); where the next entry of each feature goes; -1 between uses
    features: np.ndarray  # int64 (d,)
    problem: Workspace


def make_tree_scratch(X, Y):
    n = X.n_rows
    d = X.n_columns
    labels = Y.n_columns
    return TreeScratch(
        members=np.empty(n, np.int32),
        sides_before=np.empty(n, np.int8),
        sides=np.empty(n, np.int8),
        pull=np.empty(n),
        normalisers=np.empty(n),
        entries=np.empty(len(Y.indices), np.int32),
        entry_start=np.empty(n + 1, np.int64),
        labels=np.empty(labels, np.int64),
        label_number=np.full(labels, -1, np.int32),
        worth=np.empty(labels),
        lead=np.empty(labels),
        sums=np.empty(2 * labels, np.int64),
        keys=np.empty(2 * labels, np.int64),
        fresh=np.empty(labels, np.int64),
        changed=np.empty(labels, bool),
        reach=np.zeros((d, 2), np.float32),
        uses=np.zeros(d, np.int32),
        slots=np.full(d, -1, np.int64),
        features=np.empty(d, np.int64),
        problem=make_workspace(n, d),
    )


class GrowthSettings(NamedTuple):
    """Constants of growing, of :class:`ovaflow.methods.fastxml.settings.FastXML`."""

    max_leaf: int
    leaf_labels: int
    updates: int
    C_delta: float
    C_r: float
    balanced: bool


@strict_kernel
def grow_tree(X, Y, gains, scratch, rules, settings, seed):
    """Split nodes until they are leaves; returns the arrays of a :class:`Forest` of one tree, nodes
    level by level.
    """
    n = len(X.indptr) - 1
    bounds = np.zeros((2 * n, 2), np.int64)
    children = np.zeros(2 * n, np.int32)
    weight_ends = np.zeros(2 * n + 1, np.int64)
    leaf_ends = np.zeros(2 * n + 1, np.int64)
    weights = np.empty(1024, np.float32)
    features = np.empty(1024, np.int32)
    shares = np.empty(1024, np.float32)
    labels = np.empty(1024, np.int32)
    for i in range(n):
        scratch.members[i] = i
    bounds[0, 1] = n
    node = 0
    n_nodes = 1
    while node < n_nodes:
        start, end = bounds[node]
        members = scratch.members[start:end]
        weight_end = weight_ends[node]
        leaf_end = leaf_ends[node]
        count, positive = _split(
            X, Y, members, gains, scratch, rules, settings, derive_seed(seed, node)
        )
        if count > 0:
            weights = with_room(weights, weight_end + count)
            features = with_room(features, weight_end + count)
            weight_end += _copy_nonzero(count, scratch, weights[weight_end:], features[weight_end:])
            children[node] = n_nodes
            bounds[n_nodes] = start, start + positive
            bounds[n_nodes + 1] = start + positive, end
            n_nodes += 2
        else:
            most = leaf_end + rules.leaf_labels
            shares = with_room(shares, most)
            labels = with_room(labels, most)
            leaf_end += _fill_leaf(
                Y, members, gains.labels, scratch, shares[leaf_end:most], labels[leaf_end:most]
            )
        node += 1
        weight_ends[node] = weight_end
        leaf_ends[node] = leaf_end
    sizes = (bounds[:n_nodes, 1] - bounds[:n_nodes, 0]).astype(np.int32)
    separators = (
        weights[:weight_end].copy(),
        features[:weight_end].copy(),
        weight_ends[: n_nodes + 1].copy(),
    )
    distributions = (
        shares[:leaf_end].copy(),
        labels[:leaf_end].copy(),
        leaf_ends[: n_nodes + 1].copy(),
    )
    return (children[:n_nodes].copy(), sizes) + separators + distributions


@strict_kernel
def _split(X, Y, members, gains, scratch, rules, settings, seed):
    """Divide members by a separator, <w, x> > 0 first; returns numbers of its features and of
    those, 0 for a leaf.
    """
    m = len(members)
    if m <= rules.max_leaf:
        return 0, 0
    sides = scratch.sides[:m]
    pull = scratch.pull[:m]
    scores = scratch.problem.scores[:m]
    n_labels = gather_labels(Y, members, derive_seed(seed, 0), scratch)
    toss_sides(sides, derive_seed(seed, 1))
    pull[:] = 0
    count = 0
    for _ in range(rules.updates):
        scratch.sides_before[:m] = sides
        positive = assign_sides(members, sides, pull, gains, rules.C_r, n_labels, scratch)
        if positive == 0 or positive == m:
            return 0, 0
        if count > 0 and np.all(sides == scratch.sides_before[:m]):
            break
        costs = _costs(rules, positive, m)
        count = fit_separator(X, members, sides, costs, scratch, settings)
        fill_separator_terms(scores, costs, pull)
    positive = _divide(members, scores)
    if positive == 0 or positive == m:
        return 0, 0
    return count, positive


@strict_kernel
def _costs(rules, positive, m):
    """C_delta(-1) and C_delta(+1): the same, or over the share of instances on the side."""
    if rules.balanced:
        return rules.C_delta * m / (m - positive), rules.C_delta * m / positive
    return rules.C_delta, rules.C_delta


@strict_kernel
def _divide(members, scores):
    """Bring members with <w, x> > 0 to the front, both parts in their order; returns how many they
    are.
    """
    positive = scores > 0
    front = members[positive]
    back = members[~positive]
    members[: len(front)] = front
    members[len(front) :] = back
    return len(front)


@strict_kernel
def _copy_nonzero(count, scratch, weights, features):
    kept = np.flatnonzero(scratch.problem.weights[:count])
    weights[: len(kept)] = scratch.problem.weights[kept]
    features[: len(kept)] = scratch.features[kept]
    return len(kept)


@strict_kernel
def _fill_leaf(Y, members, worth, scratch, shares, labels):
    """P = the largest entries of g sum_i y_i / |Id|, labels ascending, ties to the smaller label;
    returns how many.
    """
    counts = scratch.label_number
    sums = scratch.sums
    keys = scratch.keys
    changed = scratch.changed
    n_labels = 0
    for i in members:
        for k in range(Y.indptr[i], Y.indptr[i + 1]):
            label = Y.indices[k]
            if counts[label] < 0:
                counts[label] = 0
                scratch.labels[n_labels] = label
                n_labels += 1
            counts[label] += 1
    scratch.labels[:n_labels].sort()
    for c in range(n_labels):
        label = scratch.labels[c]
        scratch.worth[c] = worth[label] * counts[label] / len(members)
        sums[c] = to_gain_units(worth[label] * counts[label])
        counts[label] = -1
        changed[c] = True
    update_ranking(sums[:n_labels], keys[:n_labels], changed, scratch.fresh)
    kept = min(n_labels, len(labels))
    for c in range(kept):
        keys[c] = decode_label(keys[c], n_labels)
    keys[:kept].sort()
    for c in range(kept):
        labels[c] = scratch.labels[keys[c]]
        shares[c] = scratch.worth[keys[c]]
    return kept
