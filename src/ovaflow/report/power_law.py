"""The power law of label frequencies, N_r = N_1 r^-b: the label of rank r has N_r positives (DiSMEC, eq. 2 and fig. 1).

Fitted by maximum likelihood to the counts, not by a line through the log-log
plot: ranks are cumulated counts, whose errors are correlated, so that least
squares is biased and says nothing about how well it fits. Counts that follow
p(k) ~ k^-a have b = 1 / (a - 1) (Clauset, Shalizi and Newman, Power-law
distributions in empirical data, SIAM Review 2009, sec. 3).

Label frequencies bend in that plot, rare labels being rarer than the law of the
frequent ones says, so it is fitted to the frequent ones: from the fewest
positives on from which a Kolmogorov-Smirnov test does not reject it. (Clauset's
own choice, the smallest distance, ends at two positives on our data, where it
misses the most frequent label by a factor of 50 and more.)
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import zeta

REJECTED = 1.094
"""Distance times sqrt(number of labels) from which on a law is rejected, at 5 % (ln k is exponential, its scale fitted:
Lilliefors, JASA 1969)."""

_FEWEST = 50
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
        None where no law holds for 50 labels or more.
    """
    counts = np.sort(counts[counts > 0])
    values, firsts = np.unique(counts, return_index=True)
    # one count alone has no exponent
    firsts = firsts[:-1][len(counts) - firsts[:-1] >= _FEWEST]
    if not len(firsts):
        return None
    for place in np.unique(np.geomspace(1, len(firsts), _CANDIDATES).round().astype(int)) - 1:
        law = _fit_tail(counts[firsts[place] :], int(values[place]))
        if law.distance * np.sqrt(law.n_labels) < REJECTED:
            return law
    return None


def _fit_tail(tail, smallest):
    """Maximise -n ln zeta(a, k_min) - a sum ln k over a; zeta is Hurwitz's."""
    mean_log = np.log(tail).mean()
    a = minimize_scalar(lambda a: np.log(zeta(a, smallest)) + a * mean_log, bounds=_EXPONENTS, method="bounded").x
    values, ends = np.unique(tail[::-1], return_index=True)
    found = 1 - ends / len(tail)
    fitted = 1 - zeta(a, values + 1) / zeta(a, smallest)
    return PowerLaw(float(1 / (a - 1)), smallest, len(tail), float(np.abs(found - fitted).max()))
