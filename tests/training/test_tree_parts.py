"""Subtrees that are too large for a shard: divided where it costs least, and said at what cost."""

import itertools

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ovaflow.training.tree_parts import cost_of_cuts, cut_edges, parts_of_tree

from ovaflow.artifacts.label_tree import ROOT, LabelTree, compute_label_tree
from ovaflow.initialization.label_tree import parents_within
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.plan import estimated_work, plan_shards


def nested_labels(seed, n_labels, n=40):
    """Labels that are mostly parts of others, which makes high trees."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((n, n_labels), bool)
    for label in range(n_labels):
        within = Y[:, rng.integers(label)] if label and rng.random() < 0.8 else rng.random(n) < 0.5
        Y[:, label] = within & (rng.random(n) < 0.9)
    return Y


label_matrices = st.builds(nested_labels, st.integers(0, 10_000), st.integers(1, 40))


@given(label_matrices, st.integers(1, 12))
def test_shards_hold_each_label_once_and_parents_before_children(Y, n_shards):
    tree, counts = compute_label_tree(from_scipy(Y)), Y.sum(0)
    work = estimated_work(counts)
    shards = plan_shards(work, n_shards, tree, counts)
    assert len(shards) == n_shards
    assert np.sort(np.concatenate(shards)).tolist() == list(range(Y.shape[1]))
    for labels in shards:
        parents = parents_within(tree.parent, labels)
        place = {label: number for number, label in enumerate(labels.tolist())}
        assert all(place[parents[label]] < place[label] for label in labels if parents[label] != ROOT)
    loads = [work[labels].sum() for labels in shards]
    assert max(loads) <= work.sum() / n_shards + max(work.sum() / n_shards, work.max()) + 1e-6


@given(label_matrices, st.integers(1, 12))
def test_the_cost_of_the_cuts_is_what_the_shards_tree_costs_more(Y, n_shards):
    tree, counts = compute_label_tree(from_scipy(Y)), Y.sum(0)
    shards = plan_shards(estimated_work(counts), n_shards, tree, counts)
    columns = np.column_stack([Y, np.zeros(len(Y), bool)])
    theirs = 0
    for labels in shards:
        parents = parents_within(tree.parent, labels)
        theirs += sum(np.count_nonzero(columns[:, label] != columns[:, parents[label]]) for label in labels)
    cut = cut_edges(tree, shards)
    assert tree.total_cost + cost_of_cuts(tree, counts, cut) == theirs
    assert (counts[cut] - tree.distance[cut] >= 1).all()


@given(label_matrices, st.floats(1, 60))
def test_parts_fit_or_are_single_labels(Y, limit):
    tree, counts = compute_label_tree(from_scipy(Y)), Y.sum(0)
    work = estimated_work(counts)
    part = parts_of_tree(tree, counts, work, limit)
    assert sorted(set(part)) == list(range(part.max() + 1))
    loads, sizes = np.bincount(part, weights=work), np.bincount(part)
    assert ((loads <= limit + 1e-6) | (sizes == 1)).all()
    whole = np.bincount(tree.subtree, weights=work) <= limit
    for subtree in np.flatnonzero(whole):
        assert len(set(part[tree.subtree == subtree])) == 1
    # parts hang together
    tops = np.array([parent == ROOT or part[parent] != part[label] for label, parent in enumerate(tree.parent)])
    assert tops.sum() == len(sizes)


def test_cuts_cost_little_more_than_the_cheapest():
    ours = theirs = 0
    for seed in range(60):
        Y = nested_labels(seed, 8)
        tree, counts = compute_label_tree(from_scipy(Y)), Y.sum(0)
        work = estimated_work(counts)
        limit = max(work.max(), 0.5 * work.sum())
        part = parts_of_tree(tree, counts, work, limit)
        cut = np.flatnonzero((tree.parent != ROOT) & (part != part[tree.parent]))
        ours += cost_of_cuts(tree, counts, cut)
        theirs += cheapest_cuts(tree, counts, work, limit)
    assert theirs > 0
    assert theirs <= ours <= 1.15 * theirs


def cheapest_cuts(tree, counts, work, limit):
    """Least cost of all sets of cuts under which every part fits."""
    edges, best = np.flatnonzero(tree.parent != ROOT), np.inf
    for size in range(len(edges) + 1):
        for cut in itertools.combinations(edges.tolist(), size):
            top, load = np.arange(len(work)), np.zeros(len(work))
            for label in tree.order:
                above = tree.parent[label]
                top[label] = label if above == ROOT or label in cut else top[above]
                load[top[label]] += work[label]
            if load.max() <= limit:
                best = min(best, sum(counts[label] - tree.distance[label] for label in cut))
    return best


def test_the_cheapest_branch_is_cut():
    # 0 is the root's child; 1 and 2 hang at it with as much work, and 2 is farther from its parent
    order, zeros = np.arange(3, dtype=np.int32), np.zeros(3, np.int32)
    tree = LabelTree(np.array([ROOT, 0, 0]), np.array([10, 1, 8]), order, zeros, np.array([1, 2, 2]), 30)
    part = parts_of_tree(tree, np.array([10, 10, 10]), np.ones(3), 2.0)
    assert part[0] == part[1] != part[2]


def test_one_giant_subtree_is_spread_over_all_shards():
    # every label is part of one large label
    n, n_labels = 400, 300
    rng = np.random.default_rng(0)
    Y = np.ones((n, n_labels), bool)
    Y[rng.integers(0, n, n_labels), np.arange(n_labels)] = False
    tree, counts = compute_label_tree(from_scipy(Y)), Y.sum(0)
    assert tree.subtrees == 1
    work = estimated_work(counts)
    loads = [work[labels].sum() for labels in plan_shards(work, 4, tree, counts)]
    assert max(loads) <= 1.05 * np.mean(loads)


@pytest.mark.parametrize("n_shards", [1, 3])
def test_labels_without_positives_and_no_labels(n_shards):
    for Y in (np.zeros((3, 5), bool), np.zeros((3, 0), bool)):
        tree = compute_label_tree(from_scipy(Y))
        shards = plan_shards(estimated_work(Y.sum(0)), n_shards, tree, Y.sum(0))
        assert sum(map(len, shards)) == Y.shape[1]
        assert len(cut_edges(tree, shards)) == 0


def test_the_tree_of_nested_labels_is_minimal():
    for seed in range(20):
        Y = nested_labels(seed, 30)
        assert compute_label_tree(from_scipy(Y)).total_cost == naive.label_tree(Y.astype(int))[0]
