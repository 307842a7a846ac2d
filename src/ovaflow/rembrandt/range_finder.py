"""Randomised eigendecomposition of a matrix that is known by its products alone (Algorithms 1 and 2)."""

import numpy as np
import scipy.linalg


def top_eigenvectors(multiply, size, rank, oversampling, passes, seed):
    """Leading eigenvectors (size, r <= k) and eigenvalues of A >= 0, falling, from its products ``multiply(Q)``."""
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
