"""Propensities: how likely a true label was observed (Jain, Prabhu and Varma 2016, section 5)."""

import numpy as np


def inverse_propensity(counts, n_instances, a, b):
    """1/p_j = 1 + C (N_j + b)^-a with C = (ln n - 1) (b + 1)^a, of each label with N_j of n training instances.

    At least 1: with fewer than e = 2.7 instances C would be negative and is taken as 0, since no propensity exceeds 1.
    """
    c = max(np.log(max(n_instances, 1)) - 1, 0.0) * (b + 1) ** a
    return 1 + c * (np.asarray(counts, np.float64) + b) ** -a
