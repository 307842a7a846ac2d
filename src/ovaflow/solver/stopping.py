"""The stopping rule |g(w)| <= eps |g(0)|, the same for every start."""

import numpy as np


def relative_tolerance(epsilon, n_positives, n):
    """Tolerance of a label: eps max(1, min(|P|, |N|)) / n (MSI eq. 12-13).

    Parameters
    ----------
    epsilon : float
    n_positives : int or ndarray of int
    n : int
        Number of instances.

    Returns
    -------
    float or ndarray of float64
    """
    return epsilon * np.maximum(1, np.minimum(n_positives, n - n_positives)) / n


def gradient_norm_at_zero(C, slope_at_zero, n, n_positives, pp, xp, xx, positive_cost=1.0):
    """Norm of the gradient at w = 0, from means alone: C |phi'(0)| |(c + 1) |P| p_mean - n x_mean|.

    Parameters
    ----------
    C : float
    slope_at_zero : float
        phi'(0).
    n : int
        Number of instances.
    n_positives : int or ndarray of int
    pp, xp : float or ndarray of float64
        <p_mean, p_mean> and <x_mean, p_mean>.
    xx : float
        <x_mean, x_mean>.
    positive_cost : float or ndarray of float64
        c, weight of the losses of positives.

    Returns
    -------
    float or ndarray of float64
    """
    share = positive_cost + 1.0
    squared = share**2 * np.square(n_positives) * pp - 2.0 * share * n * n_positives * xp + float(n) ** 2 * xx
    return C * abs(slope_at_zero) * np.sqrt(np.maximum(squared, 0.0))


def gradient_targets(settings, slope_at_zero, n, counts, pp, xp, xx, positive_costs=1.0):
    """What |g(w)| must reach, for each label.

    Parameters
    ----------
    settings : Settings
    slope_at_zero : float
    n : int
    counts : ndarray of int64, shape (l,)
        Positives of each label.
    pp, xp : ndarray of float64, shape (l,)
    xx : float
    positive_costs : float or ndarray of float64, shape (l,)

    Returns
    -------
    ndarray of float64, shape (l,)
    """
    at_zero = gradient_norm_at_zero(settings.C, slope_at_zero, n, counts, pp, xp, xx, positive_costs)
    return relative_tolerance(settings.epsilon, counts, n) * at_zero
