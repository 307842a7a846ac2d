"""Propensities: how likely a true label was observed (Jain, Prabhu and Varma 2016, section 5)."""

import numpy as np

A, B = 0.55, 1.5
"""For most datasets; 0.5, 0.4 for WikiLSHTC-325K and Wikipedia-500K; 0.6, 2.6 for Amazon-670K and Amazon-3M."""


def inverse_propensity(counts, n_instances, a=A, b=B):
    """1/p_j = 1 + C (N_j + b)^-a with C = (ln n - 1) (b + 1)^a.

    Parameters
    ----------
    counts : ndarray of int, shape (l,)
        N_j, training positives of each label.
    n_instances : int
        n, training instances.
    a, b : float
        Constants of the dataset.

    Returns
    -------
    ndarray of float64, shape (l,)
        At least 1: with fewer than e = 2.7 instances C would be negative and
        is taken as 0, since no propensity exceeds 1.
    """
    c = max(np.log(max(n_instances, 1)) - 1, 0.0) * (b + 1) ** a
    return 1 + c * (np.asarray(counts, np.float64) + b) ** -a
