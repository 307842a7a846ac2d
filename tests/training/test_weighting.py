"""Propensity-weighted problems against LIBLINEAR and scikit-learn with class weights."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from solving import in_memory, jobs_of, liblinear, trained

from ovaflow.data.dataset import inverse_propensity
from ovaflow.solver.problem import Status

A, B, N = 0.55, 1.5, 3000
WEIGHTED = {"weighting": "propensity", "stored_threshold": 0.0}


@pytest.fixture(scope="module")
def dataset():
    """3,000 sparse unit rows with frequent labels, and rare ones for the working sets."""
    rng = np.random.default_rng(0)
    X = sp.random_array((N, 200), density=0.05, rng=rng, format="csr")
    X = sp.diags_array(1 / np.maximum(np.sqrt(X.multiply(X).sum(axis=1)).ravel(), 1e-9)) @ X
    features = sp.hstack([X, np.ones((N, 1))]).tocsr()
    scores = features @ rng.normal(size=(201, 12)) + 0.1 * rng.normal(size=(N, 12))
    Y = scores > [np.quantile(column, q) for column, q in zip(scores.T, np.linspace(0.7, 0.9995, 12), strict=True)]
    return in_memory(features, Y.astype(float))


@pytest.fixture(scope="module")
def theirs(dataset):
    """Features, labels, and the costs of each label's positives."""
    Y = dataset.train.Y.to_scipy().toarray()
    return dataset.train.X.to_scipy().astype(float), Y, 2 * inverse_propensity(Y.sum(axis=0), N, A, B) - 1


@pytest.mark.parametrize(
    ("loss", "reference"), [("squared-hinge", False), ("squared-hinge", True), ("logistic", False)]
)
def test_same_optimum_as_liblinear_with_class_weights(dataset, theirs, loss, reference):
    done = trained(dataset, loss=loss, reference=reference, **WEIGHTED)
    X, Y, costs = theirs
    assert (done.statistics["status"] == Status.CONVERGED).all()
    assert (done.statistics["gradient_norm"] <= done.statistics["gradient_target"]).all()
    for label, weights in enumerate(done.weights.to_scipy().toarray().astype(float)):
        y = np.where(Y[:, label] > 0, 1.0, -1.0)
        found = weights, liblinear(X, y, loss, cost=costs[label])
        ours, best = (naive.objective(X, y, each, loss, positive_cost=costs[label]) for each in found)
        assert ours == pytest.approx(best, rel=1e-3)
        assert done.statistics["objective"][label] == pytest.approx(ours, rel=1e-4)


def test_both_solvers_are_tried(dataset, theirs):
    suited = jobs_of(dataset).suits_fast_path(theirs[1].sum(axis=0).astype(int))
    assert 0 < suited.sum() < len(suited)


@pytest.mark.parametrize(("loss", "slope"), [("squared-hinge", 2.0), ("logistic", 0.5)])
def test_target_follows_from_the_weighted_gradient_at_zero(dataset, theirs, loss, slope):
    jobs, (X, Y, costs) = jobs_of(dataset, weighting="propensity", loss=loss, C=2.0, epsilon=0.01), theirs
    for label, count in enumerate(Y.sum(axis=0)):
        gradient = 2.0 * slope * X.T @ np.where(Y[:, label] > 0, costs[label], -1.0)
        at_most = 0.01 * max(1, min(count, N - count)) / N * np.linalg.norm(gradient)
        assert jobs.targets[label] == pytest.approx(at_most, rel=1e-4)
