"""Shards are complete, balanced, and cut off the label tree where it costs least; samples."""

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse.csgraph import connected_components

from ovaflow.console.errors import InputError
from ovaflow.initialization.label_tree import restrict_parents
from ovaflow.initialization.spanning_tree import ROOT_PARENT, LabelTree, compute_label_tree
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.plan import (
    compute_sampling_error,
    divide_tree,
    draw_stratified_sample,
    estimate_work,
    plan_shards,
    read_plan,
    write_plan,
)


def make_nested_labels(seed: int, n_labels: int, n: int = 40) -> np.ndarray:
    """Make labels that are mostly parts of others, which makes high trees."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((n, n_labels), bool)
    for label in range(n_labels):
        if label and rng.random() < 0.8:
            candidates = Y[:, rng.integers(label)]
        else:
            candidates = rng.random(n) < 0.5
        Y[:, label] = candidates & (rng.random(n) < 0.9)
    return Y


works = st.lists(st.floats(0, 1e6), min_size=1, max_size=60).map(np.array)
label_matrices = st.builds(
    make_nested_labels, st.integers(0, 10_000), st.integers(0, 40), st.sampled_from([0, 1, 40])
)


def compute_tree_and_work(Y: np.ndarray) -> tuple[LabelTree, np.ndarray, np.ndarray]:
    """Compute the label tree, positives and work of labels."""
    counts = Y.sum(axis=0)
    return compute_label_tree(from_scipy(Y)), counts, estimate_work(counts)


def assert_complete(shards, n_shards, n_labels) -> None:
    assert len(shards) == n_shards
    assert np.sort(np.concatenate(shards)).tolist() == list(range(n_labels))


@given(works, st.integers(1, 20))
def test_shards_are_complete_and_within_a_label_of_the_mean(work, n_shards) -> None:
    shards = plan_shards(work, n_shards)
    assert_complete(shards, n_shards, len(work))
    assert all((np.diff(labels) > 0).all() for labels in shards)
    assert max(work[labels].sum() for labels in shards) <= work.sum() / n_shards + work.max() + 1e-6


@pytest.mark.parametrize(
    ("n_labels", "n_shards", "sizes"), [(10, 4, [3, 3, 2, 2]), (2, 5, [1, 1, 0, 0, 0])]
)
def test_equal_labels_are_dealt_out(n_labels, n_shards, sizes) -> None:
    shards = plan_shards(np.ones(n_labels), n_shards)
    assert [len(labels) for labels in shards] == sizes


def test_work_grows_with_positives() -> None:
    work = estimate_work([0, 1, 10, 1000])
    assert (np.diff(work) > 0).all()
    assert work[0] < 0.1 < work[1]


def compute_cut_cost(tree: LabelTree, counts: np.ndarray, cut: Any) -> int:
    """Sum |P_j| - d_j over the labels cut off, which start at the root instead of their parents."""
    return int((counts[cut] - tree.distance[cut]).sum())


@given(label_matrices, st.integers(1, 12))
def test_shards_along_the_tree(Y, n_shards) -> None:
    tree, counts, work = compute_tree_and_work(Y)
    shards = plan_shards(work, n_shards, tree, counts)
    assert_complete(shards, n_shards, Y.shape[1])
    loads = [work[labels].sum() for labels in shards]
    mean_load = work.sum() / n_shards
    assert max(loads) <= mean_load + max(mean_load, work.max(initial=0)) + 1e-6
    position = np.argsort(tree.order)
    columns = np.pad(Y, [(0, 0), (0, 1)])
    theirs = 0
    cut = []
    for labels in shards:
        # depth first: parents before children
        assert (np.diff(position[labels]) > 0).all()
        parents = restrict_parents(tree.parent, labels)[labels]
        theirs += np.count_nonzero(columns[:, labels] != columns[:, parents])
        cut.extend(labels[parents != tree.parent[labels]])
    assert tree.total_cost + compute_cut_cost(tree, counts, cut) == theirs
    assert (counts[cut] - tree.distance[cut] >= 1).all()


@given(label_matrices, st.floats(1, 60))
def test_parts_fit_or_are_single_labels(Y, limit) -> None:
    tree, counts, work = compute_tree_and_work(Y)
    part = divide_tree(tree, counts, work, limit)
    assert sorted(set(part)) == list(range(part.max(initial=-1) + 1))
    loads = np.bincount(part, weights=work)
    sizes = np.bincount(part)
    assert ((loads <= limit + 1e-6) | (sizes == 1)).all()
    fits_whole = np.bincount(tree.subtree, weights=work) <= limit
    for subtree in np.flatnonzero(fits_whole):
        assert len(set(part[tree.subtree == subtree])) == 1
    # parts hang together
    tops = (tree.parent == ROOT_PARENT) | (part[tree.parent] != part)
    assert tops.sum() == len(sizes)


def test_cuts_cost_little_more_than_the_cheapest() -> None:
    ours = 0
    theirs = 0
    for seed in range(30):
        tree, counts, work = compute_tree_and_work(make_nested_labels(seed, 8))
        limit = max(work.max(), 0.5 * work.sum())
        part = divide_tree(tree, counts, work, limit)
        cut = np.flatnonzero((tree.parent != ROOT_PARENT) & (part != part[tree.parent]))
        ours += compute_cut_cost(tree, counts, cut)
        theirs += find_least_cut_cost(tree, counts, work, limit)
    assert 0 < theirs <= ours <= 1.15 * theirs


def find_least_cut_cost(
    tree: LabelTree, counts: np.ndarray, work: np.ndarray, limit: float
) -> float:
    """Find the least cost of all sets of cuts under which every part fits."""
    edges = np.flatnonzero(tree.parent != ROOT_PARENT)
    best = np.inf
    size = len(work)
    for choice in itertools.product([False, True], repeat=len(edges)):
        kept = np.array(choice)
        up = edges[kept]
        graph = sp.coo_array((np.ones(len(up)), (up, tree.parent[up])), (size, size))
        if np.bincount(connected_components(graph)[1], work).max() <= limit:
            best = min(best, compute_cut_cost(tree, counts, edges[~kept]))
    return best


def test_a_plan_is_read_as_it_was_written(tmp_path) -> None:
    path = tmp_path / "shards.tsv"
    shards = plan_shards(np.array([3.0, 1.0, 2.0, 0.5]), 5)
    with pytest.raises(InputError, match="no such file"):
        read_plan(path, 0, 4)
    write_plan(path, shards, np.ones(4))
    for shard, labels in enumerate(shards):
        again = read_plan(path, shard, 4)
        assert again.dtype == np.int32
        assert again.tolist() == labels.tolist()
    with pytest.raises(
        InputError, match="divides 4 labels, but the dataset has 5; run `ovaflow plan` again"
    ):
        read_plan(path, 0, 5)


some_counts = st.lists(st.integers(0, 5000), min_size=1, max_size=200).map(np.array)


@given(some_counts, st.integers(2, 60), st.integers(0, 3))
def test_a_sample_represents_every_magnitude(counts, n_labels, seed) -> None:
    labels, multiplicities = draw_stratified_sample(counts, n_labels, seed)
    assert len(set(labels)) == len(labels)
    assert (counts[labels] > 0).all()
    magnitudes = np.log2(np.maximum(counts, 1)).astype(int)
    ours = np.bincount(magnitudes[labels], multiplicities, 13)
    assert_allclose(ours, np.bincount(magnitudes[counts > 0], minlength=13))
    again = draw_stratified_sample(counts, n_labels, seed)[0]
    assert again.tolist() == labels.tolist()
    every, multiplicities = draw_stratified_sample(counts, len(counts), 0)
    assert sorted(every) == np.flatnonzero(counts).tolist()
    assert (multiplicities == 1).all()


def test_intervals_of_95_percent_hold_the_total_as_often() -> None:
    rng = np.random.default_rng(1)
    counts = np.minimum(rng.zipf(1.6, 8000), 3000)
    values = counts**0.6 * rng.lognormal(0, 0.5, 8000)
    theirs = values.sum()
    for n_labels in (100, 1000):
        ours = []
        for seed in range(300):
            labels, multiplicities = draw_stratified_sample(counts, n_labels, seed)
            error = 1.96 * compute_sampling_error(values[labels], multiplicities, counts[labels])
            ours.append(abs(multiplicities @ values[labels] - theirs) <= error)
        assert 0.92 <= np.mean(ours) <= 0.98
    assert compute_sampling_error(values, np.ones(8000), counts) == 0
