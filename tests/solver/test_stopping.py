import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.solver.stopping import gradient_norm_at_zero, relative_tolerance


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 10), st.floats(0.01, 100))
def test_gradient_at_zero_follows_from_the_means(seed, n, d, C):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(rng.random(n) < rng.random(), 1.0, -1.0)
    y[0] = 1.0
    p_mean, x_mean = X[y > 0].mean(axis=0), X.mean(axis=0)
    ours = gradient_norm_at_zero(C, -2.0, n, int((y > 0).sum()), p_mean @ p_mean, p_mean @ x_mean, x_mean @ x_mean)
    theirs = np.linalg.norm(naive.squared_hinge_gradient(X, y, np.zeros(d), C))
    assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-5 * C)


@pytest.mark.parametrize(
    ("n_positives", "theirs"), [(0, 1e-5), (1, 1e-5), (30, 3e-4), (500, 5e-3), (970, 3e-4), (1000, 1e-5)]
)
def test_tolerance_follows_the_rarer_class(n_positives, theirs):
    assert relative_tolerance(0.01, n_positives, 1000) == pytest.approx(theirs)
