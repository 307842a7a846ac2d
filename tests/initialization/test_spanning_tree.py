"""The label tree against SciPy's minimum spanning tree."""

import gzip

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse.csgraph import minimum_spanning_tree

from ovaflow.initialization import spanning_tree
from ovaflow.initialization.spanning_tree import ROOT_PARENT, compute_label_tree
from ovaflow.sparse.csr import from_scipy


def make_labels(seed: int, n: int, n_labels: int, density: float) -> np.ndarray:
    """Make a random label matrix."""
    rng = np.random.default_rng(seed)
    return (rng.random((n, n_labels)) < density).astype(np.float32)


label_matrices = st.builds(
    make_labels,
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 12),
    st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]),
)


def compute_distances(Y: np.ndarray) -> np.ndarray:
    """Compute the Hamming distances between label columns, the all-zero root last."""
    counts = np.append(Y.sum(0), 0)
    return counts[:, None] + counts - 2 * np.pad(Y.T @ Y, (0, 1))


def assert_same_as_scipy(Y: np.ndarray) -> None:
    """Compare cost and subtrees of the label tree with those of SciPy's."""
    distances = compute_distances(Y)
    # non-root edges cost a fraction more, so that SciPy prefers root edges among equals as well; 0
    # would be no edge
    distances[:-1, :-1] += 1 / 1024
    theirs = minimum_spanning_tree(np.triu(distances + 1, 1)).data
    ours = compute_label_tree(from_scipy(Y))
    assert ours.total_cost == np.floor(theirs).sum() - Y.shape[1]
    assert ours.subtrees == np.count_nonzero(theirs % 1 == 0)


@given(label_matrices)
def test_cost_and_subtrees_are_those_of_scipy(Y) -> None:
    assert_same_as_scipy(Y)


@given(label_matrices)
def test_arrays_describe_one_tree(Y) -> None:
    tree = compute_label_tree(from_scipy(Y))
    labels = np.arange(Y.shape[1])
    assert_array_equal(tree.distance, compute_distances(Y)[labels, tree.parent])
    assert_array_equal(np.sort(tree.order), labels)
    position = np.argsort(tree.order)
    inner = tree.parent != ROOT_PARENT
    assert (position[tree.parent[inner]] < position[inner]).all()
    assert_array_equal(tree.depth[inner], tree.depth[tree.parent[inner]] + 1)
    assert (tree.depth[~inner] == 1).all()
    assert_array_equal(tree.subtree[inner], tree.subtree[tree.parent[inner]])
    assert (np.diff(tree.subtree[tree.order]) == ~inner[tree.order][1:]).all()
    assert tree.star_cost == Y.sum() >= tree.total_cost
    path = []
    for label in tree.order:
        # depth first
        del path[tree.depth[label] - 1 :]
        assert (path[-1] if path else ROOT_PARENT) == tree.parent[label]
        path.append(label)


def test_agrees_with_scipy_on_real_labels(real_data) -> None:
    with gzip.open(real_data / "delicious" / "train.txt.gz", "rt") as lines:
        n, _, n_labels = (int(number) for number in next(lines).split())
        Y = np.zeros((n, n_labels), np.float32)
        for i, line in enumerate(lines):
            Y[i, [int(label) for label in line.split(" ")[0].split(",") if label]] = 1
    assert_same_as_scipy(Y)


def test_tree_does_not_depend_on_the_buffer(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    # groups of alike labels, so that many pairs are candidates
    groups = (rng.random((60, 20)) < 0.1)[:, rng.integers(0, 20, 80)]
    Y = from_scipy(np.float32(groups & (rng.random((60, 80)) < 0.9)))
    large = compute_label_tree(Y)
    monkeypatch.setattr(spanning_tree, "_BUFFERED_EDGES", 1)
    small = compute_label_tree(Y)
    for name in ("parent", "distance", "order", "subtree", "depth"):
        assert_array_equal(getattr(large, name), getattr(small, name))


def test_ties_go_to_the_root() -> None:
    # |P_0| = 1, |P_1| = 2, one shared: distance 1 between them, 2 from label 1 to the root
    assert compute_label_tree(from_scipy([[1, 1], [0, 1]])).parent.tolist() == [ROOT_PARENT, 0]
    # |P_0| = |P_1| = 2, one shared: distance 2, as far as the root
    tree = compute_label_tree(from_scipy([[1, 1], [1, 0], [0, 1]]))
    assert tree.parent.tolist() == [ROOT_PARENT, ROOT_PARENT]


def test_long_chain() -> None:
    n_labels = 50_000
    # label j holds the instances 2 j to 2 j + 4: its neighbour is at distance 4, the root at 5
    rows = 2 * np.arange(n_labels)[:, None] + np.arange(5)
    columns = np.repeat(np.arange(n_labels), 5)
    Y = scipy.sparse.coo_array((np.ones(len(columns), np.float32), (rows.ravel(), columns)))
    tree = compute_label_tree(from_scipy(Y))
    assert (tree.subtrees, tree.height) == (1, n_labels)
    assert tree.total_cost == 5 + 4 * (n_labels - 1)
