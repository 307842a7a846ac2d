import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.initialization.means import compute_means
from ovaflow.sparse.csr import from_scipy, transpose


def random_problem(seed, n=30, d=12, n_labels=9, density=0.3):
    rng = np.random.default_rng(seed)
    X = scipy.sparse.random_array((n, d), density=density, rng=rng, dtype=np.float32, data_sampler=rng.standard_normal)
    Y = (rng.random((n, n_labels)) < density).astype(np.float32)
    return X.toarray(), Y


def dense_means(X, Y):
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    counts = Y.sum(0)
    p_mean = Y.T @ X / np.maximum(counts, 1)[:, None]
    x_mean = X.mean(0)
    return x_mean, (p_mean**2).sum(1), p_mean @ x_mean, x_mean @ x_mean, counts


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 20),
    d=st.integers(1, 10),
    n_labels=st.integers(1, 12),
    density=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
def test_agree_with_dense_formulas(seed, n, d, n_labels, density):
    X, Y = random_problem(seed, n, d, n_labels, density)
    ours = compute_means(from_scipy(X), transpose(from_scipy(Y)))
    theirs = dense_means(X, Y)
    for name, expected in zip(("x_mean", "pp", "xp", "xx", "counts"), theirs, strict=True):
        np.testing.assert_allclose(getattr(ours, name), expected, rtol=1e-12, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("threads", [2, 5])
def test_do_not_depend_on_threads(threads):
    X, Y = random_problem(7, n=200, d=50, n_labels=60)
    one = compute_means(from_scipy(X), transpose(from_scipy(Y)), threads=1)
    many = compute_means(from_scipy(X), transpose(from_scipy(Y)), threads=threads)
    for name in ("x_mean", "pp", "xp", "counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))
    assert one.xx == many.xx
