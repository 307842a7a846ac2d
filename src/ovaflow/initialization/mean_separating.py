"""The mean-separating start: <w, p_mean> = s and <w, n_mean> = t with the least norm.

See MSI, sec. 4.
"""

import numpy as np

from ovaflow.initialization.means import Means
from ovaflow.initialization.start import Start
from ovaflow.sparse.csr import CSR, add_row
from ovaflow.sparse.jit import kernel

PARALLEL_DETERMINANT = 1e-6
"""Relative determinant below which the two means are treated as parallel: rounding of the inner
products would decide the solution.
"""


def compute_coefficients(
    pp: float | np.ndarray,
    xp: float | np.ndarray,
    xx: float,
    share: float | np.ndarray,
    s: float,
    t: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the coefficients u, v of w_0 = u p_mean + v x_mean for l labels; always finite.

    With rho the share of positives and r = t + (s - t) rho, the negatives' condition becomes
    <w, x_mean> = r, and [pp xp; xp xx] [u; v] = [s; r] is solved by Cramer's rule; parallel means
    get the least-squares solution.

    Parameters
    ----------
    pp, xp, xx
        <p_mean, p_mean>, <x_mean, p_mean> and <x_mean, x_mean>.
    share
        Share rho of positives of each label.
    s, t
        Scores of the means of positives and negatives to aim at.
    """
    pp = np.atleast_1d(np.asarray(pp, np.float64))
    xp = np.atleast_1d(np.asarray(xp, np.float64))
    share = np.atleast_1d(np.asarray(share, np.float64))
    r = t + (s - t) * share
    determinant = pp * xx - xp * xp
    is_regular = determinant > PARALLEL_DETERMINANT * pp * xx
    divisor = np.where(is_regular, determinant, 1.0)
    parallel_u, parallel_v = _solve_parallel(pp, xp, xx, r, s)
    u = np.where(is_regular, (s * xx - r * xp) / divisor, parallel_u)
    v = np.where(is_regular, (r * pp - s * xp) / divisor, parallel_v)
    return u, v


def _solve_parallel(
    pp: np.ndarray, xp: np.ndarray, xx: float, r: np.ndarray, s: float
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the coefficients for parallel means, of which the longer one gets all.

    For p_mean = a q and x_mean = b q with |q| = 1, w = q (a s + b r) / (a^2 + b^2).
    """
    longer = np.maximum(pp, xx)
    is_nonzero = longer > 0
    length = np.sqrt(np.where(is_nonzero, longer, 1.0))
    sign = np.where(xp < 0, -1.0, 1.0)
    a = np.sqrt(pp)
    b = sign * np.sqrt(xx)
    divisor = np.where(is_nonzero, pp + xx, 1.0)
    coefficient = np.where(is_nonzero, (a * s + b * r) / divisor, 0.0) / length
    is_positive_longer = pp >= xx
    u = np.where(is_positive_longer, coefficient, 0.0)
    v = np.where(is_positive_longer, 0.0, sign * coefficient)
    return u, v


class MeanSeparatingStart(Start):
    """Start of each label from its means; s and t are the mean scores to aim at."""

    def __init__(self, means: Means, n: int, s: float = 1.0, t: float = -2.0) -> None:
        self._x_mean = means.x_mean.astype(np.float32)
        shares = means.counts / n
        self._u, self._v = compute_coefficients(means.pp, means.xp, means.xx, shares, s, t)

    def fill(self, label: int, X: CSR, positives: np.ndarray, weights: np.ndarray) -> None:
        share = self._u[label] / max(len(positives), 1)
        _combine(X, positives, np.float32(share), np.float32(self._v[label]), self._x_mean, weights)


@kernel
def _combine(
    X: CSR,
    positives: np.ndarray,
    share: np.float32,
    v: np.float32,
    x_mean: np.ndarray,
    weights: np.ndarray,
) -> None:
    """Fill w_0 = v x_mean + u / |P| sum_{i in P} x_i; ``share`` is u / |P|."""
    for j in range(len(weights)):
        weights[j] = v * x_mean[j]
    for i in positives:
        add_row(X.data, X.indices, X.indptr[i], X.indptr[i + 1], share, weights)
