import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

from ovaflow.methods.rembrandt import least_squares
from ovaflow.methods.rembrandt.least_squares import LeastSquares
from ovaflow.methods.rembrandt.panels import from_panels, multiply_panels, to_panels
from ovaflow.sparse.csr import from_scipy


@pytest.fixture(params=["direct", "descent"])
def way(request, monkeypatch):
    monkeypatch.setattr(
        least_squares, "MAX_DIRECT_FEATURES", 0 if request.param == "descent" else 1024
    )
    return request.param


def problem(n=300, d=50, s=70, density=0.3):
    generator = np.random.default_rng(5)
    X = scipy.sparse.random_array((n, d), density=density, rng=generator).tocsr()
    return X, generator.standard_normal((n, s))


def solve(X, T, ridge=0.0, tolerance=1e-6):
    return from_panels(
        LeastSquares(from_scipy(X), ridge, tolerance=tolerance).solve(to_panels(T)), T.shape[1]
    )


def test_as_numpy_does(way) -> None:
    X, T = problem()
    theirs = np.linalg.lstsq(X.toarray(), T, rcond=None)[0]
    assert_allclose(solve(X, T), theirs, atol=2e-4)
    assert not solve(X, np.zeros_like(T)).any()


@pytest.mark.parametrize(("n", "d", "density"), [(300, 50, 0.3), (40, 90, 0.3), (40, 90, 1.0)])
def test_ridge_with_columns_without_entries_and_more_features_than_instances(
    way, n, d, density
) -> None:
    X, T = problem(n, d, 5, density)
    X = X.tolil()
    X[:, 7] = 0
    ours = solve(X.tocsr(), T, ridge=0.1)
    dense = X.toarray()
    theirs = np.linalg.solve(dense.T @ dense + 0.1 * np.eye(d), dense.T @ T)
    assert_allclose(ours, theirs, atol=2e-4)
    assert_allclose(ours[7], 0, atol=1e-12)


def test_products_of_panels() -> None:
    X, _ = problem()
    B = np.random.default_rng(0).standard_normal((50, 130))
    ours = from_panels(multiply_panels(from_scipy(X), to_panels(B)), 130)
    assert_allclose(ours, X @ B, atol=1e-4)
