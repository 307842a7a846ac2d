"""Random cosine features against the kernels that they approximate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from ovaflow.methods.rembrandt.projection import choose_bandwidth, draw_random_features


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("bandwidth", [1.0, 4.0])
def test_inner_products_approximate_the_kernel(kernel, bandwidth) -> None:
    Z = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
    mapped = draw_random_features(kernel, 4, 20_000, bandwidth)(Z)
    exact = {
        "gaussian": (rbf_kernel, 0.5 / bandwidth**2),
        "laplacian": (laplacian_kernel, 1 / bandwidth),
    }
    theirs = exact[kernel][0](Z, gamma=exact[kernel][1])
    assert_allclose(mapped @ mapped.T, theirs, atol=0.04)


def test_the_bandwidth_follows_the_data() -> None:
    generator = np.random.default_rng(0)
    Z = generator.uniform(-3, 3, (2000, 1)).astype(np.float32)
    noise = generator.standard_normal(Z.shape)
    slow, fast = (
        choose_bandwidth("gaussian", Z, lambda rows, w=w: np.sin(w * Z[rows]) + noise[rows], 200)
        for w in (0.5, 8)
    )
    assert fast < slow


def test_the_same_seed_draws_the_same_features() -> None:
    first = draw_random_features("laplacian", 3, 10, 1.0, seed=0).frequencies
    second = draw_random_features("laplacian", 3, 10, 1.0, seed=0).frequencies
    other = draw_random_features("laplacian", 3, 10, 1.0, seed=1).frequencies
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
