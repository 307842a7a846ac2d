"""The power law of label frequencies, N_r = N_1 r^-b: the label of rank r has N_r positives (DiSMEC, eq. 2 and fig. 1).

Fitted by maximum likelihood to the counts, not by a line through the log-log
plot: ranks are cumulated counts, whose errors are correlated, so that least
squares is biased and says nothing about how well it fits. Counts that follow
p(k) ~ k^-a have b = 1 / (a - 1). The law holds for the frequent labels only;
from where, is chosen so that the fitted and the found distribution are
nearest (Clauset, Shalizi and Newman, Power-law distributions in empirical data,
SIAM Review 2009, sec. 3).
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import zeta

FARTHEST = 0.1
"""Distance beyond which the counts follow no power law."""

_FEWEST = 10
_SMALLEST_SHARE = 0.1
_CANDIDATES = 60
_EXPONENTS = 1.05, 12.0


class PowerLaw(NamedTuple):
    """A power law fitted to label frequencies.

    Attributes
    ----------
    exponent : float
        b.
    smallest : int
        Fewest positives from which on it holds.
    n_labels : int
        Labels with at least so many.
    distance : float
        Largest difference of the cumulative distributions, fitted and found
        (Kolmogorov-Smirnov).
    """

    exponent: float
    smallest: int
    n_labels: int
    distance: float

    def at(self, ranks):
        """Positives that the law gives the labels of some ranks.

        Parameters
        ----------
        ranks : ndarray of float

        Returns
        -------
        ndarray of float64
        """
        return self.smallest * (np.asarray(ranks, np.float64) / self.n_labels) ** -self.exponent


def fit_power_law(counts):
    """Fit a power law to label frequencies.

    Parameters
    ----------
    counts : ndarray of int, shape (l,)
        Training positives of each label.

    Returns
    -------
    PowerLaw or None
        None with fewer than ten labels, or where no power law comes nearer than
        :data:`FARTHEST`.
    """
    counts = np.sort(counts[counts > 0])
    values, firsts = np.unique(counts, return_index=True)
    enough = max(_FEWEST, int(_SMALLEST_SHARE * len(counts)))
    # two different counts at least are needed for an exponent
    candidates = [
        (value, first) for value, first in zip(values[:-1], firsts[:-1], strict=True) if len(counts) - first >= enough
    ]
    if not candidates:
        return None
    spread = np.unique(np.geomspace(1, len(candidates), _CANDIDATES).round().astype(int)) - 1
    fits = [_fit_tail(counts[candidates[place][1] :], int(candidates[place][0])) for place in spread]
    best = min(fits, key=lambda fit: fit.distance)
    return best if best.distance <= FARTHEST else None


def _fit_tail(tail, smallest):
    """Maximise -n ln zeta(a, k_min) - a sum ln k over a; zeta is Hurwitz's."""
    mean_log = np.log(tail).mean()
    a = minimize_scalar(lambda a: np.log(zeta(a, smallest)) + a * mean_log, bounds=_EXPONENTS, method="bounded").x
    values, ends = np.unique(tail[::-1], return_index=True)
    found = 1 - ends / len(tail)
    fitted = 1 - zeta(a, values + 1) / zeta(a, smallest)
    return PowerLaw(float(1 / (a - 1)), smallest, len(tail), float(np.abs(found - fitted).max()))
