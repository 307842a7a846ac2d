"""Gains of rankings, by which FastXML chooses the sides of a node.

A measure (nDCG, or another of the paper's table 7) has a discount d for each rank and a normalizer
I(y) for each instance (eq. 3-4); the gain of ranking r is

    I(y) sum_l g_l y_l d(rank of l under r),

with g_l = 1, or 1/p_l in PfastreXML (Jain, Prabhu and Varma 2016).
"""

from typing import NamedTuple

import numpy as np

from ovaflow.sparse.csr import CSR


class RankingMeasure(NamedTuple):
    """A measure of rankings by which sides are chosen."""

    n_ranks: int | None  # ranks that count; None: all
    is_discounted: bool  # later ranks count less


RANKING_MEASURES = {
    "nDCG": RankingMeasure(None, is_discounted=True),
    "nDCG@5": RankingMeasure(5, is_discounted=True),
    "P@5": RankingMeasure(5, is_discounted=False),
}
"""Measures of the setting ``objective``, by name."""


class Gains(NamedTuple):
    """Gains of rankings on a training set."""

    discounts: np.ndarray  # float64 (l,); d of each rank, best first
    normalizers: np.ndarray  # float64 (n,); I(y) of each instance; 0 without labels
    labels: np.ndarray  # float64 (l,); g_l over the largest of them, so that I(y) g_l is at most 1


def make_gains(objective: str, Y: CSR, label_gains: np.ndarray | None = None) -> Gains:
    """Compute an objective's gains.

    Parameters
    ----------
    objective : str
        A key of :data:`RANKING_MEASURES`.
    Y : CSR, shape (n, l)
        Labels of the training instances.
    label_gains : ndarray of float, shape (l,), optional
        g of each label, such as inverse propensities (Jain et al. 2016); by default 1.

    Returns
    -------
    Gains
    """
    measure = RANKING_MEASURES[objective]
    n_ranks = measure.n_ranks or Y.n_columns
    ranks = np.arange(1, Y.n_columns + 1)
    relative_gains = np.ones(Y.n_columns)
    if label_gains is not None:
        relative_gains = label_gains / label_gains.max()
    if measure.is_discounted:
        discounts = 1 / np.log2(1 + ranks)
        # over all ranks, as Algorithm 2 is printed: eq. 4 for five does not reproduce table 7
        normalizers = _compute_normalizers(Y, relative_gains, discounts)
    else:
        discounts = np.full(Y.n_columns, 1 / n_ranks)
        normalizers = np.ones(Y.n_rows)
    return Gains(np.where(ranks <= n_ranks, discounts, 0.0), normalizers, relative_gains)


def _compute_normalizers(Y: CSR, label_gains: np.ndarray, discounts: np.ndarray) -> np.ndarray:
    """Compute I(y) = 1 / sum_r d_r g_(r), an instance's labels in order of falling g (eq. 4)."""
    rows = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    order = np.lexsort((-label_gains[Y.indices], rows))
    ranks = np.arange(len(rows)) - Y.indptr[rows]
    ideal = np.bincount(rows, label_gains[Y.indices[order]] * discounts[ranks], Y.n_rows)
    return np.divide(1.0, ideal, out=np.zeros(Y.n_rows), where=ideal > 0)
