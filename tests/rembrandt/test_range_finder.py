"""Randomised eigenvectors against exact ones."""

import numpy as np
import pytest
import scipy.linalg

from ovaflow.rembrandt.embedding import top_eigenvectors


def matrix(size=80, decay=0.8):
    basis = scipy.linalg.qr(np.random.default_rng(3).standard_normal((size, size)))[0]
    return basis @ np.diag(decay ** np.arange(size)) @ basis.T, basis


def test_the_leading_space_is_found():
    A, basis = matrix()
    vectors, values = top_eigenvectors(lambda Q: A @ Q, 80, 10, 20, 1, 0)
    assert np.degrees(scipy.linalg.subspace_angles(vectors, basis[:, :10])).max() < 0.5
    np.testing.assert_allclose(values, 0.8 ** np.arange(10), rtol=1e-3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(10), atol=1e-12)


def test_more_passes_come_closer():
    A, basis = matrix(decay=0.95)
    angles = [
        scipy.linalg.subspace_angles(top_eigenvectors(lambda Q: A @ Q, 80, 10, 5, passes, 0)[0], basis[:, :10]).max()
        for passes in (1, 4)
    ]
    assert angles[1] < angles[0] / 3


def test_no_more_vectors_than_the_matrix_has():
    low = np.random.default_rng(0).standard_normal((40, 3))
    vectors, values = top_eigenvectors(lambda Q: low @ (low.T @ Q), 40, 10, 20, 1, 0)
    assert vectors.shape == (40, 3)
    np.testing.assert_allclose(np.sort(values), np.sort(np.linalg.eigvalsh(low.T @ low)), rtol=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_seeds(seed):
    A, _ = matrix()
    first, second = (top_eigenvectors(lambda Q: A @ Q, 80, 5, 2, 1, seed)[0] for _ in range(2))
    other = top_eigenvectors(lambda Q: A @ Q, 80, 5, 2, 1, 7)[0]
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
