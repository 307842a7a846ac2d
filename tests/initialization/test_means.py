"""Means against dense formulas."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ovaflow.initialization.means import compute_means
from ovaflow.sparse.csr import from_scipy, transpose


@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(1, 20), st.integers(1, 10), st.integers(1, 40)),
    density=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    share=st.floats(0, 1),
)
def test_means_are_those_of_dense_formulas_for_any_number_of_threads(
    seed, shape, density, share
) -> None:
    rng = np.random.default_rng(seed)
    n, d, n_labels = shape
    X = sp.random_array(
        (n, d), density=density, rng=rng, dtype=np.float32, data_sampler=rng.standard_normal
    )
    Y = (rng.random((n, n_labels)) < density).astype(float)
    n_documents = max(1, int(share * n))
    positives = transpose(from_scipy(Y))
    ours = compute_means(from_scipy(X), positives, 1, n_documents)
    threaded = compute_means(from_scipy(X), positives, 3, n_documents)
    X = X.toarray().astype(float)
    counts = Y.sum(axis=0)
    p_mean = Y.T @ X / np.maximum(counts, 1)[:, None]
    x_mean = X[:n_documents].mean(axis=0)
    theirs = {
        "x_mean": x_mean,
        "pp": (p_mean**2).sum(axis=1),
        "xp": p_mean @ x_mean,
        "xx": x_mean @ x_mean,
    }
    for name, expected in (theirs | {"counts": counts}).items():
        assert_allclose(getattr(ours, name), expected, rtol=1e-12, atol=1e-14, err_msg=name)
        assert_array_equal(getattr(ours, name), getattr(threaded, name))
