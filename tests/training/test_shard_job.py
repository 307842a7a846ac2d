"""Shards of labels: the same bits for any threads and labels, and optima from every start."""

import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from solving import assert_same_bits, make_memory_dataset, train_shard

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.initialization.spanning_tree import ROOT_PARENT, compute_label_tree
from ovaflow.initialization.starts import COLD_STARTS, compute_start_inputs
from ovaflow.model.training_file import Shard
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.problem import Status
from ovaflow.training.shard_job import train_labels


def make_random_dataset(n: int = 120, d: int = 40, n_labels: int = 15) -> Dataset:
    """Make random features and labels from frequent to rare; label 3 has no positives."""
    rng = np.random.default_rng(0)
    X = sp.random_array((n, d), density=0.2, rng=rng, format="csr")
    labels = (rng.random((n, n_labels)) < np.linspace(0.4, 0.05, n_labels)).astype(float)
    labels[:, 3] = 0
    return make_memory_dataset(sp.hstack([X, np.ones((n, 1))]), sp.csr_array(labels))


@pytest.fixture(scope="module")
def nested() -> Dataset:
    """Labels that are parts of each other, which makes a high label tree.

    Some are too frequent for working sets.
    """
    n = 12000
    n_labels = 60
    rng = np.random.default_rng(0)
    X = make_random_dataset(n=n).train.X
    Y = np.zeros((n, n_labels), bool)
    for label in range(n_labels):
        if label % 10:
            candidates = Y[:, rng.integers(label)]
        else:
            candidates = np.arange(n) < 500 / (label + 1)
        Y[:, label] = candidates & (rng.random(n) < 0.95)
    return make_memory_dataset(X.to_scipy(), Y.astype(float))


def assert_same_label(alone: Shard, together: Shard, label: int) -> None:
    """Compare the first label of a shard with a label of another shard."""
    start, end = together.weights.indptr[label : label + 2]
    assert alone.weights.data[: end - start].tobytes() == together.weights.data[start:end].tobytes()


@pytest.mark.parametrize("name", ["sparse", "in full"])
@pytest.mark.parametrize("settings", [{}, {"loss": "logistic"}, {"regularization": "l1"}])
def test_other_labels_threads_and_places_in_memory_change_no_bit(made, name, settings) -> None:
    dataset = made[name]
    moved = np.empty(len(dataset.train.X.data) + 7, np.float32)[7:]
    moved[:] = dataset.train.X.data
    X = dataset.train.X._replace(data=moved)
    elsewhere = replace(dataset, train=replace(dataset.train, X=X))
    together = train_shard(dataset, **settings)
    for each, threads in ((dataset, 3), (elsewhere, 1)):
        assert_same_bits(train_shard(each, threads=threads, **settings).weights, together.weights)
    for label in (5, 9):
        assert_same_label(train_shard(dataset, labels=[label], **settings), together, label)


def test_statistics_agree_with_the_dataset() -> None:
    dataset = make_random_dataset()
    done = train_shard(dataset)
    statistics = done.statistics
    counts = dataset.counts
    assert statistics["positives"].tolist() == counts.tolist()
    assert done.trained.tolist() == (counts > 0).tolist()
    expected = np.where(counts > 0, Status.CONVERGED, Status.NO_POSITIVES)
    assert (statistics["status"] == expected).all()
    assert done.weights.indptr[3] == done.weights.indptr[4]
    assert done.core_seconds >= statistics["seconds"].sum()


def test_core_time_is_that_of_the_processor(nested) -> None:
    # eight threads wait for the cores and for each other, which costs nothing
    train_shard(nested)
    began = time.process_time()
    done = train_shard(nested, threads=8)
    theirs = time.process_time() - began
    assert done.core_seconds == pytest.approx(theirs, rel=0.2)
    assert 0.5 * theirs < done.statistics["seconds"].sum() < theirs


def test_small_weights_are_dropped_and_nothing_else() -> None:
    dataset = make_random_dataset()
    full = train_shard(dataset, stored_threshold=0.0).weights.to_scipy().toarray()
    ours = train_shard(dataset, stored_threshold=0.1).weights.to_scipy().toarray()
    assert_array_equal(ours, np.where(np.abs(full) >= np.float32(0.1), full, 0))


@pytest.mark.parametrize("reference", [False, True])
def test_labels_start_at_their_parents_for_any_number_of_threads(nested, reference) -> None:
    parents = compute_label_tree(nested.train.Y).parent
    settings = {"initialization": "label-tree", "reference": reference}
    together = train_shard(nested, **settings)
    assert_same_bits(train_shard(nested, threads=4, **settings).weights, together.weights)
    # a label and all above it give the same bits as the whole job
    way_up = [int(np.argmax(parents != ROOT_PARENT))]
    while parents[way_up[-1]] != ROOT_PARENT:
        way_up.append(int(parents[way_up[-1]]))
    assert_same_label(train_shard(nested, labels=way_up, **settings), together, way_up[0])
    from_root = train_shard(nested, initialization="all-negative", reference=reference).statistics
    assert together.statistics["objective"] == pytest.approx(from_root["objective"], rel=2e-3)
    assert together.statistics["newton_steps"].sum() < 0.7 * from_root["newton_steps"].sum()


def test_labels_whose_parent_is_trained_elsewhere_start_at_the_root(nested) -> None:
    parents = compute_label_tree(nested.train.Y).parent
    orphans = np.flatnonzero(parents != ROOT_PARENT)
    orphans = orphans[~np.isin(parents[orphans], orphans)]
    ours = train_shard(nested, labels=orphans, initialization="label-tree")
    theirs = train_shard(nested, labels=orphans, initialization="all-negative")
    assert_same_bits(ours.weights, theirs.weights)


DEGENERATE = {
    "one cell": ([[1.0]], [[1.0]]),
    "no positives": ([[1.0]], [[0.0]]),
    "one instance": ([[0.6, 0.8, 1.0]], [[1.0, 0.0]]),
    "bias only": ([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]], [[1.0], [1.0], [0.0]]),
    "instance without features": (
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]],
    ),
    "all positive": ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 0.0]]),
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_datasets(case) -> None:
    features, labels = DEGENERATE[case]
    X = np.array(features)
    Y = np.array(labels)
    for initialization in COLD_STARTS:
        done = train_shard(make_memory_dataset(X, Y), initialization=initialization)
        assert np.isfinite(done.weights.data).all()
        assert (done.statistics["status"][done.trained] == Status.CONVERGED).all()
        assert done.trained.tolist() == (Y.sum(axis=0) > 0).tolist()


def test_an_empty_shard_is_legal() -> None:
    done = train_shard(make_random_dataset(), labels=np.empty(0, np.int32))
    assert done.weights.n_rows == 0
    assert done.weights.n_columns == 41
    assert len(done.trained) == 0


@pytest.mark.parametrize("n", [120, 3000])
def test_numbers_that_are_not_finite_are_refused(n) -> None:
    for value in (np.nan, np.inf):
        dataset = make_random_dataset(n=n)
        dataset.train.X.data[7] = value
        with pytest.raises(InputError, match="not finite"):
            train_shard(dataset)
    dataset = make_random_dataset(n=n)
    inputs = compute_start_inputs(dataset, TrainLabels())
    dataset.train.X.data[:] = np.nan
    with pytest.raises(InputError, match="label 0: its weights or their gradient exceed the range"):
        train_labels(dataset, inputs, np.arange(3), TrainLabels())
