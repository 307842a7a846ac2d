"""Shards of labels: the same bits whatever the threads and the company, and optima from every start."""

import numpy as np
import pytest
import scipy.sparse as sp
from solving import assert_same_bits, in_memory, trained

from ovaflow.artifacts.label_tree import ROOT, compute_label_tree
from ovaflow.console.errors import InputError
from ovaflow.initialization.starts import COLD, compute_start_inputs
from ovaflow.settings.models import TrainLabels
from ovaflow.solver.problem import Status
from ovaflow.training.shard_job import train_labels


def random_dataset(n=120, d=40, n_labels=15, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.2, rng=rng, format="csr")
    labels = (rng.random((n, n_labels)) < np.linspace(0.4, 0.05, n_labels)).astype(float)
    labels[:, 3] = 0
    return in_memory(sp.hstack([X, np.ones((n, 1))]), sp.csr_array(labels))


def nested_dataset(n=12000, n_labels=60, seed=0):
    """Labels that are parts of each other, so that the label tree has height; some too frequent for working sets."""
    X = random_dataset(n=n, seed=seed).train.X
    rng = np.random.default_rng(seed)
    Y = np.zeros((n, n_labels), bool)
    for label in range(n_labels):
        within = Y[:, rng.integers(label)] if label % 10 else np.arange(n) < 500 / (label + 1)
        Y[:, label] = within & (rng.random(n) < 0.95)
    return in_memory(X.to_scipy(), Y.astype(float))


def test_result_does_not_depend_on_threads_or_on_company():
    dataset = random_dataset()
    together = trained(dataset)
    threaded = trained(dataset, threads=4)
    assert_same_bits(threaded.weights, together.weights)
    alone = trained(dataset, labels=[5])
    start, end = together.weights.indptr[5:7]
    assert alone.weights.data.tobytes() == together.weights.data[start:end].tobytes()


def test_labels_without_positives_have_no_classifier():
    done = trained(random_dataset())
    assert np.flatnonzero(~done.trained).tolist() == [3]
    assert done.statistics["status"][3] == Status.NO_POSITIVES
    assert done.weights.indptr[3] == done.weights.indptr[4]
    assert (done.statistics["status"][done.trained] == Status.CONVERGED).all()


def test_small_weights_are_dropped_and_nothing_else():
    dataset = random_dataset()
    whole = trained(dataset, stored_threshold=0.0).weights.to_scipy().toarray()
    ours = trained(dataset, stored_threshold=0.1).weights.to_scipy().toarray()
    theirs = np.where(np.abs(whole) >= np.float32(0.1), whole, 0)
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("initialization", COLD)
def test_all_starts_end_at_the_same_optimum(initialization):
    dataset = random_dataset()
    ours, theirs = (trained(dataset, initialization=name).statistics["objective"] for name in (initialization, "zero"))
    assert ours == pytest.approx(theirs, rel=1e-3)


@pytest.mark.parametrize("reference", [False, True])
def test_labels_start_at_their_parents_whatever_the_threads(reference):
    dataset = nested_dataset()
    parents = compute_label_tree(dataset.train.Y).parent
    settings = {"initialization": "label-tree", "reference": reference}
    together = trained(dataset, **settings)
    threaded = trained(dataset, threads=4, **settings)
    assert_same_bits(threaded.weights, together.weights)
    # a label and all above it give the same bits as the whole job
    way_up = [int(np.argmax(parents != ROOT))]
    while parents[way_up[-1]] != ROOT:
        way_up.append(int(parents[way_up[-1]]))
    alone = trained(dataset, labels=way_up, **settings)
    start, end = together.weights.indptr[way_up[0] :][:2]
    assert alone.weights.data[: end - start].tobytes() == together.weights.data[start:end].tobytes()
    from_root = trained(dataset, initialization="all-negative", reference=reference)
    assert together.statistics["objective"] == pytest.approx(from_root.statistics["objective"], rel=2e-3)
    assert together.statistics["newton_steps"].sum() < 0.7 * from_root.statistics["newton_steps"].sum()


def test_labels_whose_parent_is_trained_elsewhere_start_at_the_root():
    dataset = nested_dataset()
    parents = compute_label_tree(dataset.train.Y).parent
    orphans = np.flatnonzero(parents != ROOT)
    orphans = orphans[~np.isin(parents[orphans], orphans)]
    ours = trained(dataset, labels=orphans, initialization="label-tree")
    theirs = trained(dataset, labels=orphans, initialization="all-negative")
    assert ours.weights.data.tobytes() == theirs.weights.data.tobytes()


def test_negatives_start_where_the_loss_wants_them():
    assert [TrainLabels(loss=name).negative_score for name in ("squared-hinge", "logistic")] == [-2.0, -3.0]
    assert TrainLabels(loss="logistic", t=-1.0).negative_score == -1.0


def test_statistics_agree_with_the_dataset():
    dataset = random_dataset()
    done = trained(dataset)
    assert done.statistics["positives"].tolist() == dataset.train.Y.to_scipy().sum(axis=0).tolist()
    assert (done.statistics["gradient_norm"] <= done.statistics["gradient_target"])[done.trained].all()
    assert done.core_seconds >= done.statistics["seconds"].sum()


@pytest.mark.parametrize("initialization", COLD)
@pytest.mark.parametrize(
    ("X", "Y"),
    [
        ([[1.0]], [[1.0]]),
        ([[1.0]], [[0.0]]),
        ([[0.6, 0.8, 1.0]], [[1.0, 0.0]]),
        ([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]], [[1.0], [1.0], [0.0]]),
        ([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]),
        ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 0.0]]),
    ],
    ids=["one cell", "no positives", "one instance", "bias only", "instance without features", "all positive"],
)
def test_degenerate_datasets(X, Y, initialization):
    done = trained(in_memory(np.array(X), np.array(Y)), initialization=initialization)
    assert np.isfinite(done.weights.data).all()
    assert (done.statistics["status"][done.trained] == Status.CONVERGED).all()
    assert done.trained.tolist() == (np.sum(Y, axis=0) > 0).tolist()


def test_an_empty_shard_is_legal():
    done = trained(random_dataset(), labels=np.empty(0, np.int32))
    assert (done.weights.n_rows, done.weights.n_columns, len(done.trained)) == (0, 41, 0)


@pytest.mark.parametrize("n", [120, 3000])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_not_finite_are_refused(value, n):
    dataset = random_dataset(n=n)
    dataset.train.X.data[7] = value
    with pytest.raises(InputError, match="not finite"):
        trained(dataset)


@pytest.mark.parametrize("n", [120, 3000])
def test_weights_that_overflow_are_refused(n):
    dataset = random_dataset(n=n)
    inputs = compute_start_inputs(dataset, TrainLabels())
    dataset.train.X.data[:] = np.nan
    with pytest.raises(InputError, match="label 0: its weights or their gradient are beyond"):
        train_labels(dataset, inputs, np.arange(3), TrainLabels())
