import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from ovaflow.methods.fastxml.scratch import make_tree_scratch
from ovaflow.methods.fastxml.separator import SeparatorSettings, fit_separator
from ovaflow.solver.losses import LOGISTIC
from ovaflow.solver.problem import Settings
from ovaflow.sparse.csr import CSR, from_scipy

EXACT = SeparatorSettings(1e-6, Settings(C=1.0, loss=LOGISTIC, max_newton=1000, max_cg=1000))
PAPER = SeparatorSettings(0.01, Settings(C=1.0, loss=LOGISTIC, max_newton=10, max_cg=10))


def fit(
    X: CSR,
    members: np.ndarray,
    sides: np.ndarray,
    costs: tuple[float, float],
    settings: SeparatorSettings,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Fit a separator: weights of all features, scores of the members, features of the problem."""
    scratch = make_tree_scratch(X, X)
    n_features = fit_separator(X, members, sides, costs, scratch, settings)
    weights = np.zeros(X.n_columns)
    weights[scratch.features[:n_features]] = scratch.problem.weights[:n_features]
    assert not scratch.gradient_bounds.any()
    assert (scratch.slots == -1).all()
    assert not scratch.entry_counts.any()
    return weights, scratch.problem.scores[: len(members)].copy(), n_features


def fit_by_sklearn(X: np.ndarray, sides: np.ndarray, costs: np.ndarray | float = 1.0) -> np.ndarray:
    """Weights that scikit-learn finds."""
    solver = LogisticRegression(
        l1_ratio=1, solver="liblinear", fit_intercept=False, tol=1e-9, max_iter=10_000
    )
    return solver.fit(X, sides, np.broadcast_to(costs, len(X))).coef_[0]


def compute_objective(
    X: np.ndarray, sides: np.ndarray, weights: np.ndarray, costs: np.ndarray | float
) -> float:
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
def test_weights_at_convergence_are_those_of_scikit_learn(dataset, node, costs) -> None:
    members, sides, X = node
    ours, scores, n_features = fit(dataset.train.X, members, sides, costs, EXACT)
    cost = np.array(costs)[sides]
    theirs = fit_by_sklearn(X, sides, cost)
    expected = compute_objective(X, sides, theirs, cost)
    assert compute_objective(X, sides, ours, cost) == pytest.approx(expected, rel=1e-5)
    assert_allclose(ours, theirs, atol=2e-2)
    assert_allclose(scores, X @ ours, atol=1e-4)
    assert np.count_nonzero(theirs) <= n_features < X.shape[1]


def test_iterations_of_the_paper_separate_almost_as_well(dataset, node) -> None:
    members, sides, X = node
    ours, scores, _ = fit(dataset.train.X, members, sides, (2.0, 2.0), PAPER)
    theirs = fit_by_sklearn(X, sides, 2.0)
    expected = compute_objective(X, sides, theirs, 2.0)
    assert compute_objective(X, sides, ours, 2.0) == pytest.approx(expected, rel=1e-3)
    assert ((scores > 0) == (X @ theirs > 0)).mean() > 0.98


def test_weights_are_zero_where_losses_weigh_little(dataset) -> None:
    members = np.arange(4, dtype=np.int32)
    sides = np.array([0, 1, 0, 1], np.int8)
    weights, scores, _ = fit(dataset.train.X, members, sides, (0.1, 0.1), PAPER)
    assert not weights.any()
    assert not scores.any()


def test_features_may_be_negative() -> None:
    X = np.random.default_rng(1).normal(size=(80, 7)).astype(np.float32)
    sides = (X[:, 0] - X[:, 1] > 0).astype(np.int8)
    ours, _, _ = fit(from_scipy(X), np.arange(80, dtype=np.int32), sides, (1.0, 1.0), EXACT)
    assert_allclose(ours, fit_by_sklearn(X, sides), atol=2e-3)
