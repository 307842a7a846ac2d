import naive
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ovaflow.fastxml.growing import make_scratch
from ovaflow.fastxml.separator import fit_separator
from ovaflow.solver.losses import LOGISTIC
from ovaflow.solver.problem import Settings
from ovaflow.sparse.csr import from_scipy

EXACT = Settings(C=1.0, loss=LOGISTIC, epsilon=1e-6, max_newton=1000, max_cg=1000)
PAPER = Settings(C=1.0, loss=LOGISTIC, epsilon=0.01, max_newton=10, max_cg=10)


def fit(X, members, sides, costs, settings):
    scratch = make_scratch(X, X)
    count = fit_separator(X, members, sides, costs, scratch, settings)
    weights = np.zeros(X.n_columns)
    weights[scratch.features[:count]] = scratch.problem.weights[:count]
    assert not scratch.reach.any()
    assert (scratch.slots == -1).all()
    assert not scratch.uses.any()
    return weights, scratch.problem.scores[: len(members)].copy(), count


@pytest.fixture
def node(dataset):
    generator = np.random.default_rng(0)
    members = np.sort(generator.choice(600, 300, replace=False)).astype(np.int32)
    X = dataset.train.X.to_scipy().toarray()[members].astype(float)
    sides = (X @ generator.normal(size=X.shape[1]) > 0.1).astype(np.int8)
    return members, sides, X


@pytest.mark.parametrize("costs", [(1.0, 1.0), (2.5, 1.7), (20.0, 20.0)])
def test_at_convergence(dataset, node, costs):
    members, sides, X = node
    ours, scores, count = fit(dataset.train.X, members, sides, costs, EXACT)
    cost = np.where(sides == 1, costs[1], costs[0])
    solver = LogisticRegression(l1_ratio=1, C=1.0, solver="liblinear", fit_intercept=False, tol=1e-8, max_iter=10_000)
    theirs = solver.fit(X, sides, sample_weight=cost).coef_[0]
    y = 2.0 * sides - 1
    best = naive.objective(X, y, theirs, "logistic", costs=cost, regularization="l1")
    assert naive.objective(X, y, ours, "logistic", costs=cost, regularization="l1") == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(ours, theirs, atol=2e-2)
    np.testing.assert_allclose(scores, X @ ours, atol=1e-4)
    assert np.count_nonzero(theirs) <= count < X.shape[1]


def test_at_the_caps_of_the_paper(dataset, node):
    members, sides, X = node
    ours, scores, _ = fit(dataset.train.X, members, sides, (2.0, 2.0), PAPER)
    exact, _, _ = fit(dataset.train.X, members, sides, (2.0, 2.0), EXACT)
    values = [naive.objective(X, 2.0 * sides - 1, w, "logistic", costs=2.0, regularization="l1") for w in (ours, exact)]
    assert values[0] == pytest.approx(values[1], rel=1e-3)
    assert ((scores > 0) == (X @ exact > 0)).mean() > 0.98


def test_nothing_to_separate_by(dataset):
    members, sides = np.arange(4, dtype=np.int32), np.array([0, 1, 0, 1], np.int8)
    weights, scores, _ = fit(dataset.train.X, members, sides, (0.1, 0.1), PAPER)
    assert not weights.any()
    assert not scores.any()


def test_features_of_either_sign():
    X = np.random.default_rng(1).normal(size=(80, 7)).astype(np.float32)
    sides = (X[:, 0] - X[:, 1] > 0).astype(np.int8)
    ours, _, _ = fit(from_scipy(X), np.arange(80, dtype=np.int32), sides, (1.0, 1.0), EXACT)
    solver = LogisticRegression(l1_ratio=1, solver="liblinear", fit_intercept=False, tol=1e-9, max_iter=10_000)
    np.testing.assert_allclose(ours, solver.fit(X, sides).coef_[0], atol=2e-3)
