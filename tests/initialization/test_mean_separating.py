"""The mean-separating start against the pseudoinverse."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ovaflow.initialization.mean_separating import compute_coefficients

SEEDS = st.integers(0, 2**32 - 1)


def compute_start(
    p_mean: np.ndarray, n_mean: np.ndarray, rho: float, s: float = 1.0, t: float = -2.0
) -> np.ndarray:
    """Compute the start of a label from the means of its positives and negatives."""
    x_mean = rho * p_mean + (1 - rho) * n_mean
    u, v = compute_coefficients(p_mean @ p_mean, x_mean @ p_mean, x_mean @ x_mean, rho, s, t)
    assert np.isfinite(u).all()
    assert np.isfinite(v).all()
    return u[0] * p_mean + v[0] * x_mean


@given(SEEDS, st.integers(2, 20), st.floats(0.0001, 0.99), st.floats(-3, 3), st.floats(-3, 3))
def test_least_norm_solution_of_both_conditions(seed, d, rho, s, t) -> None:
    rng = np.random.default_rng(seed)
    p_mean, n_mean = rng.normal(size=(2, d))
    assume(abs(p_mean @ n_mean) < 0.99 * np.linalg.norm(p_mean) * np.linalg.norm(n_mean))
    ours = compute_start(p_mean, n_mean, rho, s, t)
    theirs = np.linalg.pinv(np.stack([p_mean, n_mean])) @ [s, t]
    assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-4 * (1 + np.abs(theirs).max()))


@given(SEEDS, st.integers(1, 20), st.floats(-2, 2), st.floats(0.001, 1.0))
def test_parallel_means_get_the_least_squares_solution(seed, d, factor, rho) -> None:
    p_mean = np.random.default_rng(seed).normal(size=d)
    n_mean = factor * p_mean
    x_mean = rho * p_mean + (1 - rho) * n_mean
    ours = compute_start(p_mean, n_mean, rho)
    theirs = np.linalg.pinv(np.stack([p_mean, x_mean]), rcond=1e-3) @ [1.0, -2.0 + 3.0 * rho]
    assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-4)


DEGENERATE = {
    "positives without features": ([0.0, 0.0], [1.0, 1.0], 0.1),
    "negatives without features": ([1.0, 1.0], [0.0, 0.0], 0.1),
    "no features": ([0.0, 0.0], [0.0, 0.0], 0.5),
    "equal": ([1.0, 1.0], [1.0, 1.0], 0.5),
    "all positive": ([1.0, 0.0], [0.0, 1.0], 1.0),
    "opposite": ([1.0, 0.0], [-1.0, 0.0], 0.5),
}


@pytest.mark.parametrize(("p_mean", "n_mean", "rho"), DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_means_are_finite(p_mean, n_mean, rho) -> None:
    assert np.isfinite(compute_start(np.array(p_mean), np.array(n_mean), rho)).all()


def test_label_without_positives_is_finite() -> None:
    u, v = compute_coefficients(0.0, 0.0, 1.5, 0.0, 1.0, -2.0)
    assert (u[0], v[0]) == (0.0, pytest.approx(-2.0 / 1.5))
