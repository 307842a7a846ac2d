import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from ovaflow.methods.fastxml.growing import make_tree_scratch
from ovaflow.methods.fastxml.separator import fit_separator
from ovaflow.solver.losses import LOGISTIC
from ovaflow.solver.problem import Settings
from ovaflow.sparse.csr import from_scipy

EXACT = Settings(C=1.0, loss=LOGISTIC, epsilon=1e-6, max_newton=1000, max_cg=1000)
PAPER = Settings(C=1.0, loss=LOGISTIC, epsilon=0.01, max_newton=10, max_cg=10)


def fit(X, members, sides, costs, settings):
    scratch = make_tree_scratch(X, X)
    count = fit_separator(X, members, sides, costs, scratch, settings)
    weights = np.zeros(X.n_columns)
    weights[scratch.features[:count]] = scratch.problem.weights[:count]
    assert not scratch.reach.any()
    assert (scratch.slots == -1).all()
    assert not scratch.uses.any()
    return weights, scratch.problem.scores[: len(members)].copy(), count


def exact(X, sides, costs=1.0):
    """What scikit-learn finds."""
    given = {"fit_intercept": False, "tol": 1e-9, "max_iter": 10_000}
    solver = LogisticRegression(l1_ratio=1, solver="liblinear", **given)
    return solver.fit(X, sides, np.broadcast_to(costs, len(X))).coef_[0]


def value(X, sides, weights, costs):
    return naive.objective(
        X, 2.0 * sides - 1, weights, "logistic", costs=costs, regularization="l1"
    )


@pytest.fixture
def node(dataset):
    generator = np.random.default_rng(0)
    members = np.sort(generator.choice(600, 300, replace=False)).astype(np.int32)
    X = dataset.train.X.to_scipy().toarray()[members].astype(float)
    sides = (X @ generator.normal(size=X.shape[1]) > 0.1).astype(np.int8)
    return members, sides, X


@pytest.mark.parametrize("costs", [(1.0, 1.0), (2.5, 1.7), (20.0, 20.0)])
def test_at_convergence(dataset, node, costs) -> None:
    members, sides, X = node
    ours, scores, count = fit(dataset.train.X, members, sides, costs, EXACT)
    cost = np.array(costs)[sides]
    theirs = exact(X, sides, cost)
    assert value(X, sides, ours, cost) == pytest.approx(value(X, sides, theirs, cost), rel=1e-5)
    assert_allclose(ours, theirs, atol=2e-2)
    assert_allclose(scores, X @ ours, atol=1e-4)
    assert np.count_nonzero(theirs) <= count < X.shape[1]


def test_at_the_caps_of_the_paper(dataset, node) -> None:
    members, sides, X = node
    ours, scores, _ = fit(dataset.train.X, members, sides, (2.0, 2.0), PAPER)
    theirs = exact(X, sides, 2.0)
    assert value(X, sides, ours, 2.0) == pytest.approx(value(X, sides, theirs, 2.0), rel=1e-3)
    assert ((scores > 0) == (X @ theirs > 0)).mean() > 0.98


def test_nothing_to_separate_by(dataset) -> None:
    members = np.arange(4, dtype=np.int32)
    sides = np.array([0, 1, 0, 1], np.int8)
    weights, scores, _ = fit(dataset.train.X, members, sides, (0.1, 0.1), PAPER)
    assert not weights.any()
    assert not scores.any()


def test_features_of_either_sign() -> None:
    X = np.random.default_rng(1).normal(size=(80, 7)).astype(np.float32)
    sides = (X[:, 0] - X[:, 1] > 0).astype(np.int8)
    ours, _, _ = fit(from_scipy(X), np.arange(80, dtype=np.int32), sides, (1.0, 1.0), EXACT)
    assert_allclose(ours, exact(X, sides), atol=2e-3)
