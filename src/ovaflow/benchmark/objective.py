"""The objective of many weight vectors at once, in float64 and apart from the solver."""

import numpy as np

WIDTH = 16
"""Labels scored at a time."""


def objectives(X, positives, weights, C):
    """L(w) = 1/2 |w|^2 + C sum_i max(0, 1 - y_i <w, x_i>)^2 of each row of the weights.

    The bias feature is one of the features: its weight counts in the norm.

    Parameters
    ----------
    X : CSR, shape (n, d)
    positives : CSR, shape (m, n)
    weights : CSR, shape (m, d)
    C : float

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    instances, sparse, of_labels = X.to_scipy(), weights.to_scipy(), positives.to_scipy()
    values = np.empty(weights.n_rows)
    for low in range(0, weights.n_rows, WIDTH):
        rows = slice(low, low + WIDTH)
        dense = sparse[rows].toarray().astype(np.float64)
        signs = 2.0 * of_labels[rows].toarray() - 1.0
        margins = signs * (instances @ dense.T).T
        losses = np.square(np.maximum(0.0, 1.0 - margins)).sum(axis=1)
        values[rows] = 0.5 * np.square(dense).sum(axis=1) + C * losses
    return values
