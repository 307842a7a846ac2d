"""What losses of positives weigh, label by label."""

import numpy as np

from ovaflow.data.propensity import inverse_propensity


def positive_costs(counts, n, weighting, a, b):
    """Weight of each label's positives, that of negatives being 1.

    Annotators leave labels out, rare ones above all. With p_j the chance that
    label j was assigned where it is true, (1/p_j) [s < 0] + (1 - 1/p_j) [s >= 0]
    of the observed positives makes an unbiased estimate of the 0-1 loss. It is
    (2/p_j - 1) [s < 0] and a constant, and the loss takes the place of [s < 0]:
    PW-DiSMEC (Qaraei, Schultheis, Gupta and Babbar 2021).

    Parameters
    ----------
    counts : ndarray of int64, shape (l,)
        Training positives of each label.
    n : int
        Training instances.
    weighting : str
        ``"none"`` or ``"propensity"``.
    a, b : float
        Constants of the propensities, see :mod:`ovaflow.data.propensity`.

    Returns
    -------
    ndarray of float64, shape (l,)
        At least 1.
    """
    if weighting == "none":
        return np.ones(len(counts))
    return 2.0 * inverse_propensity(counts, n, a, b) - 1.0
