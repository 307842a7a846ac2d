"""Randomised eigendecomposition of a matrix that is known by its products alone (Algorithms 1 and 2)."""

import numpy as np
import scipy.linalg


def top_eigenvectors(multiply, size, rank, oversampling, passes, seed):
    """Leading eigenvectors of a positive semidefinite matrix A.

    Q random; q times Q = orth(A Q); then the best vectors within the range of
    A Q. With A = X^T X this is Algorithm 1, with A = Y^T P_X Y Algorithm 2.
    The paper takes the eigenvectors of (A Q)^T (A Q), which squares the
    condition; the same vectors come from a QR decomposition of A Q.

    Parameters
    ----------
    multiply : callable
        A Q from Q, both of shape (size, s) and float64.
    size : int
    rank : int
        k.
    oversampling, passes : int
        p and q.
    seed : int

    Returns
    -------
    vectors : ndarray of float64, shape (size, r)
        Orthonormal, r <= min(k, size) where A has not so many eigenvalues
        above rounding; the entry of largest size of each is positive.
    values : ndarray of float64, shape (r,)
        Eigenvalues of A, falling.
    """
    n_columns = min(rank + oversampling, size)
    Q = np.random.default_rng(seed).standard_normal((size, n_columns))
    for _ in range(passes):
        Q = scipy.linalg.qr(multiply(Q), mode="economic")[0]
    basis, triangle = scipy.linalg.qr(multiply(Q), mode="economic")
    rotation, values, _ = scipy.linalg.svd(triangle)
    kept = min(rank, int((values > np.finfo(np.float32).eps * values.max(initial=0)).sum()))
    return _same_sign(basis @ rotation[:, :kept]), values[:kept]


def _same_sign(vectors):
    if not vectors.size:
        return vectors
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
