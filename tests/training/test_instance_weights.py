"""Problems whose instances have weights, against scikit-learn and against instances that are repeated."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC
from solving import in_memory, jobs_of, trained

from ovaflow.data.hold_out import hold_out
from ovaflow.solver.problem import Status

N = 5000
TIGHT = {"stored_threshold": 0.0, "epsilon": 1e-4}


@pytest.fixture(scope="module")
def weighted():
    """Unit rows with frequent and rare labels, and weights of 1, 2 and 5."""
    rng = np.random.default_rng(0)
    X = sp.random_array((N, 150), density=0.05, rng=rng, format="csr")
    X = sp.diags_array(1 / np.maximum(np.sqrt(X.multiply(X).sum(axis=1)).ravel(), 1e-9)) @ X
    features = sp.hstack([X, np.ones((N, 1))]).tocsr()
    scores = features @ rng.normal(size=(151, 6)) + 0.1 * rng.normal(size=(N, 6))
    limits = [np.quantile(column, q) for column, q in zip(scores.T, np.linspace(0.7, 0.999, 6), strict=True)]
    weights = rng.choice([1, 2, 5], N, p=[0.7, 0.2, 0.1])
    return features, (scores > limits).astype(float), weights


def with_weights(features, labels, weights):
    dataset = in_memory(features, labels)
    return replace(dataset, train=replace(dataset.train, weights=weights.astype(np.float32)))


def objective(features, y, weights, w, loss):
    margins = y * (features @ w)
    losses = np.maximum(0, 1 - margins) ** 2 if loss == "squared-hinge" else np.logaddexp(0, -margins)
    return 0.5 * w @ w + weights @ losses


@pytest.mark.parametrize("regularization", ["l2", "l1"])
@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_a_weight_is_as_good_as_repeated_instances(weighted, loss, regularization):
    features, labels, weights = weighted
    settings = {"loss": loss, "regularization": regularization, **TIGHT}
    ours = trained(with_weights(features, labels, weights), **settings)
    rows = np.repeat(np.arange(N), weights)
    theirs = trained(in_memory(features[rows], labels[rows]), **settings)
    assert (ours.statistics["status"] == Status.CONVERGED).all()
    assert ours.statistics["objective"] == pytest.approx(theirs.statistics["objective"], rel=1e-3)
    assert ours.weights.to_scipy().toarray() == pytest.approx(theirs.weights.to_scipy().toarray(), abs=0.02)


def test_fractions_are_those_of_scikit_learn(weighted):
    features, labels, weights = weighted
    ours = trained(with_weights(features, labels, weights / 4), **TIGHT)
    for label in range(labels.shape[1]):
        y = np.where(labels[:, label] > 0, 1.0, -1.0)
        machine = LinearSVC(loss="squared_hinge", dual=False, fit_intercept=False, tol=1e-8)
        theirs = machine.fit(features, y, weights / 4).coef_[0]
        found = ours.weights.to_scipy().toarray()[label], theirs
        mine, best = (objective(features, y, weights / 4, w, "squared-hinge") for w in found)
        assert mine == pytest.approx(best, rel=1e-4)


def test_both_solvers_are_tried(weighted):
    features, labels, _ = weighted
    for loss in ("squared-hinge", "logistic"):
        suited = jobs_of(in_memory(features, labels), loss=loss).suits_fast_path(labels.sum(axis=0).astype(int))
        assert 0 < suited.sum() < len(suited)


def test_extra_instances_are_never_held_out(weighted):
    features, labels, weights = weighted
    dataset = with_weights(features, labels, weights)
    extra = np.arange(N) >= N - 500
    held = hold_out(replace(dataset, train=replace(dataset.train, extra=extra)), 0.2)
    assert held.test.extra.sum() == 0 < held.train.extra.sum()
    assert held.train.weights.sum() > len(held.train.weights)
