"""Propensity-weighted problems against LIBLINEAR and scikit-learn with class weights."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from liblinear.liblinearutil import parameter, problem, train
from sklearn.svm import LinearSVC

from ovaflow.artifacts.means import compute_means
from ovaflow.data.dataset import Dataset, Split
from ovaflow.data.propensity import inverse_propensity
from ovaflow.initialization.starts import StartInputs
from ovaflow.settings.models import TrainLabels
from ovaflow.solver.problem import Status
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.label_jobs import LabelJobs, positive_costs
from ovaflow.training.shard_job import train_labels

A, B = 0.55, 1.5


@pytest.fixture(scope="module")
def dataset():
    """3,000 sparse unit rows with frequent labels, and rare ones for the working sets."""
    rng = np.random.default_rng(0)
    X = sp.random_array((3000, 200), density=0.05, rng=rng, format="csr")
    X = sp.diags_array(1 / np.maximum(np.sqrt(X.multiply(X).sum(axis=1)).ravel(), 1e-9)) @ X
    features = sp.hstack([X, np.ones((3000, 1))]).tocsr()
    scores = features @ rng.normal(size=(201, 12)) + 0.1 * rng.normal(size=(3000, 12))
    Y = scores > [np.quantile(column, q) for column, q in zip(scores.T, np.linspace(0.7, 0.9995, 12), strict=True)]
    split = Split(from_scipy(features), from_scipy(Y.astype(float)))
    return Dataset("memory", split, split, "", {"bias": 1.0})


def trained(dataset, **settings):
    inputs = StartInputs.of(dataset, compute_means(dataset.train.X, dataset.positives))
    training = TrainLabels(stored_threshold=0.0, weighting="propensity", **settings)
    return train_labels(dataset, inputs, np.arange(dataset.n_labels), training)


def liblinear(X, y, cost, loss):
    order = np.argsort(-y, kind="stable")
    options = f"-s {0 if loss == 'logistic' else 2} -c 1 -e 1e-6 -w1 {cost} -q"
    return np.array(train(problem(y[order], sp.csr_matrix(X[order])), parameter(options)).get_decfun()[0])


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("reference", [False, True])
def test_same_optimum_as_liblinear_with_class_weights(dataset, loss, reference):
    done = trained(dataset, loss=loss, reference=reference)
    X, Y = dataset.train.X.to_scipy().astype(float), dataset.train.Y.to_scipy().toarray()
    costs = 2 * inverse_propensity(Y.sum(axis=0), 3000, A, B) - 1
    assert (done.statistics["status"] == Status.CONVERGED).all()
    assert (done.statistics["gradient_norm"] <= done.statistics["gradient_target"]).all()
    for label, weights in enumerate(done.weights.to_scipy().toarray().astype(float)):
        y = np.where(Y[:, label] > 0, 1.0, -1.0)
        ours = naive.objective(X, y, weights, loss, positive_cost=costs[label])
        theirs = naive.objective(X, y, liblinear(X, y, costs[label], loss), loss, positive_cost=costs[label])
        assert ours == pytest.approx(theirs, rel=1e-3)
        assert done.statistics["objective"][label] == pytest.approx(ours, rel=1e-4)


def test_same_optimum_as_scikit_learn_with_class_weights(dataset):
    done = trained(dataset, epsilon=0.001)
    X, Y = dataset.train.X.to_scipy().astype(float), dataset.train.Y.to_scipy().toarray()
    costs = positive_costs(Y.sum(axis=0), 3000, "propensity", A, B)
    for label in (2, 8):
        y = np.where(Y[:, label] > 0, 1.0, -1.0)
        # the bias is one of the features; the tolerance of the dual problem
        model = LinearSVC(class_weight={1.0: costs[label]}, fit_intercept=False, tol=1e-5, max_iter=100_000)
        model.fit(X.toarray(), y)
        ours = done.weights.to_scipy()[[label]].toarray()[0]
        assert ours == pytest.approx(model.coef_[0], abs=0.02)


def test_both_solvers_are_tried(dataset):
    inputs = StartInputs.of(dataset, compute_means(dataset.train.X, dataset.positives))
    suited = LabelJobs.of(dataset, inputs, TrainLabels()).suits_fast_path(inputs.means.counts)
    assert 0 < suited.sum() < len(suited)


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_target_follows_from_the_weighted_gradient_at_zero(dataset, loss):
    inputs = StartInputs.of(dataset, compute_means(dataset.train.X, dataset.positives))
    jobs = LabelJobs.of(dataset, inputs, TrainLabels(weighting="propensity", loss=loss, C=2.0))
    X, Y = dataset.train.X.to_scipy().astype(float), dataset.train.Y.to_scipy().toarray()
    for label, count in enumerate(Y.sum(axis=0)):
        weights = np.where(Y[:, label] > 0, jobs.positive_costs[label], -1.0)
        gradient = 2.0 * (0.5 if loss == "logistic" else 2.0) * X.T @ weights
        theirs = 0.01 * max(1, min(count, 3000 - count)) / 3000 * np.linalg.norm(gradient)
        assert jobs.targets[label] == pytest.approx(theirs, rel=1e-4)


def test_without_weighting_propensities_are_no_parameter():
    assert "propensity_a" not in TrainLabels().recorded
    assert TrainLabels(weighting="propensity").recorded["propensity_a"] == A
