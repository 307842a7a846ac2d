"""Least squares by both solvers against NumPy."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

from ovaflow.methods.rembrandt import least_squares
from ovaflow.methods.rembrandt.least_squares import LeastSquares
from ovaflow.methods.rembrandt.panels import from_panels, multiply_panels, to_panels
from ovaflow.sparse.csr import from_scipy


@pytest.fixture(params=["direct", "descent"])
def solver_kind(request, monkeypatch) -> str:
    """The solver that all problems of a test go to."""
    most_direct_features = {"direct": 1024, "descent": 0}
    monkeypatch.setattr(least_squares, "MAX_DIRECT_FEATURES", most_direct_features[request.param])
    return request.param


def make_problem(
    n: int = 300, d: int = 50, n_targets: int = 70, density: float = 0.3
) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    """Make sparse features and dense targets."""
    generator = np.random.default_rng(5)
    X = scipy.sparse.random_array((n, d), density=density, rng=generator).tocsr()
    return X, generator.standard_normal((n, n_targets))


def solve(X: scipy.sparse.csr_array, T: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    """Solve for dense weights (d, s)."""
    solver = LeastSquares(from_scipy(X), ridge, tolerance=1e-6)
    return from_panels(solver.solve(to_panels(T)), T.shape[1])


def test_as_numpy_does(solver_kind) -> None:
    X, T = make_problem()
    theirs = np.linalg.lstsq(X.toarray(), T, rcond=None)[0]
    assert_allclose(solve(X, T), theirs, atol=2e-4)
    assert not solve(X, np.zeros_like(T)).any()


@pytest.mark.parametrize(("n", "d", "density"), [(300, 50, 0.3), (40, 90, 0.3), (40, 90, 1.0)])
def test_ridge_with_columns_without_entries_and_more_features_than_instances(
    solver_kind, n, d, density
) -> None:
    X, T = make_problem(n, d, 5, density)
    X = X.tolil()
    X[:, 7] = 0
    ours = solve(X.tocsr(), T, ridge=0.1)
    dense = X.toarray()
    theirs = np.linalg.solve(dense.T @ dense + 0.1 * np.eye(d), dense.T @ T)
    assert_allclose(ours, theirs, atol=2e-4)
    assert_allclose(ours[7], 0, atol=1e-12)


def test_products_of_panels() -> None:
    X, _ = make_problem()
    B = np.random.default_rng(0).standard_normal((50, 130))
    ours = from_panels(multiply_panels(from_scipy(X), to_panels(B)), 130)
    assert_allclose(ours, X @ B, atol=1e-4)
