"""Grow one tree from the root down (Algorithm 1 of the paper)."""

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
from ovaflow.methods.fastxml.gains import Gains
from ovaflow.methods.fastxml.scratch import TreeScratch
from ovaflow.methods.fastxml.separator import SeparatorSettings, fit_separator
from ovaflow.sparse.csr import CSR, ensure_capacity
from ovaflow.sparse.jit import strict_callee, strict_kernel

_ensure_capacity = strict_callee(ensure_capacity)


class GrowthSettings(NamedTuple):
    """Constants of growing; see :class:`ovaflow.methods.fastxml.settings.FastXML`."""

    max_leaf: int
    leaf_labels: int
    updates: int
    C_delta: float
    C_r: float
    balanced: bool


@strict_kernel
def grow_tree(
    X: CSR,
    Y: CSR,
    gains: Gains,
    scratch: TreeScratch,
    growth: GrowthSettings,
    settings: SeparatorSettings,
    seed: int,
) -> tuple:
    """Split nodes until they are leaves.

    Parameters
    ----------
    X : CSR, shape (n, d)
        Features of the training instances.
    Y : CSR, shape (n, l)
        Labels of the training instances.
    gains : Gains
    scratch : TreeScratch
    growth : GrowthSettings
    settings : SeparatorSettings
    seed : int
        Seed of the tree.

    Returns
    -------
    tuple of ndarray
        Arrays of a :class:`Forest` of one tree, nodes level by level: ``children``, ``sizes``, and
        data, indices and indptr of ``separators`` and of ``distributions``.
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
        n_features, n_positive = _split(
            X, Y, members, gains, scratch, growth, settings, derive_seed(seed, node)
        )
        if n_features > 0:
            weights = _ensure_capacity(weights, weight_end + n_features)
            features = _ensure_capacity(features, weight_end + n_features)
            weight_end += _copy_nonzero(
                n_features, scratch, weights[weight_end:], features[weight_end:]
            )
            children[node] = n_nodes
            bounds[n_nodes] = start, start + n_positive
            bounds[n_nodes + 1] = start + n_positive, end
            n_nodes += 2
        else:
            max_leaf_end = leaf_end + growth.leaf_labels
            shares = _ensure_capacity(shares, max_leaf_end)
            labels = _ensure_capacity(labels, max_leaf_end)
            leaf_end += _fill_leaf(
                Y,
                members,
                gains.labels,
                scratch,
                shares[leaf_end:max_leaf_end],
                labels[leaf_end:max_leaf_end],
            )
        node += 1
        weight_ends[node] = weight_end
        leaf_ends[node] = leaf_end
    sizes = (bounds[:n_nodes, 1] - bounds[:n_nodes, 0]).astype(np.int32)
    return (
        children[:n_nodes].copy(),
        sizes,
        weights[:weight_end].copy(),
        features[:weight_end].copy(),
        weight_ends[: n_nodes + 1].copy(),
        shares[:leaf_end].copy(),
        labels[:leaf_end].copy(),
        leaf_ends[: n_nodes + 1].copy(),
    )


@strict_callee
def _split(
    X: CSR,
    Y: CSR,
    members: np.ndarray,
    gains: Gains,
    scratch: TreeScratch,
    growth: GrowthSettings,
    settings: SeparatorSettings,
    seed: int,
) -> tuple[int, int]:
    """Divide the members of a node by a separator, those with <w, x> > 0 first.

    Returns the number of the separator's features and the number of members with <w, x> > 0; both
    are 0 for a leaf.
    """
    m = len(members)
    if m <= growth.max_leaf:
        return 0, 0
    sides = scratch.sides[:m]
    separator_terms = scratch.separator_terms[:m]
    scores = scratch.problem.scores[:m]
    n_labels = gather_labels(Y, members, derive_seed(seed, 0), scratch)
    toss_sides(sides, derive_seed(seed, 1))
    separator_terms[:] = 0
    n_features = 0
    for _ in range(growth.updates):
        scratch.sides_before[:m] = sides
        n_positive = assign_sides(
            members, sides, separator_terms, gains, growth.C_r, n_labels, scratch
        )
        if n_positive == 0 or n_positive == m:
            return 0, 0
        if n_features > 0 and np.all(sides == scratch.sides_before[:m]):
            break
        costs = _compute_costs(growth, n_positive, m)
        n_features = fit_separator(X, members, sides, costs, scratch, settings)
        fill_separator_terms(scores, costs, separator_terms)
    n_positive = _divide(members, scores)
    if n_positive == 0 or n_positive == m:
        return 0, 0
    return n_features, n_positive


@strict_callee
def _compute_costs(growth: GrowthSettings, n_positive: int, m: int) -> tuple[float, float]:
    """Return C_delta(-1) and C_delta(+1), divided by each side's share if they are balanced."""
    if growth.balanced:
        return growth.C_delta * m / (m - n_positive), growth.C_delta * m / n_positive
    return growth.C_delta, growth.C_delta


@strict_callee
def _divide(members: np.ndarray, scores: np.ndarray) -> int:
    """Move members with <w, x> > 0 to the front, both parts in order; return how many these are."""
    positive = scores > 0
    front = members[positive]
    back = members[~positive]
    members[: len(front)] = front
    members[len(front) :] = back
    return len(front)


@strict_callee
def _copy_nonzero(
    n_features: int, scratch: TreeScratch, weights: np.ndarray, features: np.ndarray
) -> int:
    """Copy the nonzero weights of the separator and their features; return how many there are."""
    kept = np.flatnonzero(scratch.problem.weights[:n_features])
    weights[: len(kept)] = scratch.problem.weights[kept]
    features[: len(kept)] = scratch.features[kept]
    return len(kept)


@strict_callee
def _fill_leaf(
    Y: CSR,
    members: np.ndarray,
    label_gains: np.ndarray,
    scratch: TreeScratch,
    shares: np.ndarray,
    labels: np.ndarray,
) -> int:
    """Keep the largest entries of P = g sum_i y_i / |Id| for a leaf; return how many there are.

    Labels ascend; of equal entries those of smaller labels are kept.
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
        scratch.label_gains[c] = label_gains[label] * counts[label] / len(members)
        sums[c] = to_gain_units(label_gains[label] * counts[label])
        counts[label] = -1
        changed[c] = True
    update_ranking(sums[:n_labels], keys[:n_labels], changed, scratch.changed_keys)
    n_kept = min(n_labels, len(labels))
    for c in range(n_kept):
        keys[c] = decode_label(keys[c], n_labels)
    keys[:n_kept].sort()
    for c in range(n_kept):
        labels[c] = scratch.labels[keys[c]]
        shares[c] = scratch.label_gains[keys[c]]
    return n_kept
