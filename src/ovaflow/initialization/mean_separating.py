"""The mean-separating start: <w, p_mean> = s and <w, n_mean> = t with the least norm (MSI sec. 4)."""

import numpy as np

from ovaflow.initialization.start import Start
from ovaflow.sparse.csr import add_row
from ovaflow.sparse.jit import kernel

PARALLEL_DETERMINANT = 1e-6
"""Relative determinant below which the two means are treated as parallel."""


def compute_coefficients(pp, xp, xx, share, s, t):
    """Coefficients u, v of w_0 = u p_mean + v x_mean for l labels; always finite.

    With rho the share of positives and r = t + (s - t) rho, the negatives' condition becomes
    <w, x_mean> = r, and [pp xp; xp xx] [u; v] = [s; r] is solved by Cramer's rule; parallel means
    get the least-squares solution.
    """
    pp, xp, share = (np.atleast_1d(np.asarray(values, np.float64)) for values in (pp, xp, share))
    r = t + (s - t) * share
    determinant = pp * xx - xp * xp
    regular = determinant > PARALLEL_DETERMINANT * pp * xx
    divisor = np.where(regular, determinant, 1.0)
    parallel_u, parallel_v = _parallel(pp, xp, xx, r, s)
    u = np.where(regular, (s * xx - r * xp) / divisor, parallel_u)
    v = np.where(regular, (r * pp - s * xp) / divisor, parallel_v)
    return u, v


def _parallel(pp, xp, xx, r, s):
    """For p_mean = a q and x_mean = b q with |q| = 1: w = q (a s + b r) / (a^2 + b^2)."""
    longer = np.maximum(pp, xx)
    safe = np.where(longer > 0, longer, 1.0)
    along = np.where(xp < 0, -1.0, 1.0)
    a = np.sqrt(pp)
    b = along * np.sqrt(xx)
    length = np.where(
        longer > 0, (a * s + b * r) / np.where(longer > 0, pp + xx, 1.0), 0.0
    ) / np.sqrt(safe)
    by_positives = pp >= xx
    return np.where(by_positives, length, 0.0), np.where(by_positives, 0.0, along * length)


class MeanSeparatingStart(Start):
    """Start of each label from its means; s and t are the mean scores to aim at."""

    def __init__(self, means, n, s=1.0, t=-2.0) -> None:
        self._counts = means.counts
        self._x_mean = means.x_mean.astype(np.float32)
        self._u, self._v = compute_coefficients(
            means.pp, means.xp, means.xx, means.counts / n, s, t
        )

    def fill(self, label, X, positives, weights) -> None:
        share = self._u[label] / max(len(positives), 1)
        _combine(X, positives, np.float32(share), np.float32(self._v[label]), self._x_mean, weights)


@kernel
def _combine(X, positives, share, v, x_mean, weights) -> None:
    """w_0 = v x_mean + u / |P| sum_{i in P} x_i."""
    for j in range(len(weights)):
        weights[j] = v * x_mean[j]
    for i in positives:
        add_row(X.data, X.indices, X.indptr[i], X.indptr[i + 1], share, weights)
