"""What a node's two rankings are judged by: nDCG over all labels, or one of the paper's other measures (table 7).

A measure has a discount for each rank and a normaliser I(y) for each instance
(eq. 3-4); the gain of ranking r for an instance is

    I(y) sum_l g_l y_l d(rank of l under r),

with g_l = 1, or 1/p_l in PfastreXML (Jain, Prabhu and Varma 2016).
"""

from typing import NamedTuple

import numpy as np


class _Measure(NamedTuple):
    places: int | None  # ranks that count, None: all
    discounted: bool


_MEASURES = {"nDCG": _Measure(None, True), "nDCG@5": _Measure(5, True), "P@5": _Measure(5, False)}

OBJECTIVES = tuple(_MEASURES)
"""Names of the measures, as the config has them."""


class Gains(NamedTuple):
    """What rankings are judged by, on a training set."""

    discounts: np.ndarray  # float64 (l,); d of each rank, best first
    normalisers: np.ndarray  # float64 (n,); I(y) of each instance; 0 without labels
    labels: np.ndarray  # float64 (l,); g_l over the largest of them, so that I(y) g_l is at most 1


def make_gains(objective, Y, gains=None):
    """An objective's gains; ``gains`` (l,) are larger for rare labels, 1 by default."""
    measure = _MEASURES[objective]
    worth = np.ones(Y.n_columns) if gains is None else gains / gains.max()
    discounts = _discounts(measure, Y.n_columns)
    normalisers = _normalisers(Y, worth, discounts) if measure.discounted else np.ones(Y.n_rows)
    return Gains(discounts, normalisers, worth)


def _discounts(measure, n_labels):
    ranks = np.arange(1, n_labels + 1)
    discounts = 1 / np.log2(1 + ranks) if measure.discounted else np.full(n_labels, 1 / measure.places)
    return np.where(ranks <= (measure.places or n_labels), discounts, 0.0)


def _normalisers(Y, worth, discounts):
    """I(y) = 1 / sum_r d_r g_(r), the instance's labels in the order of falling g (eq. 4)."""
    rows = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    order = np.lexsort((-worth[Y.indices], rows))
    places = np.arange(len(rows)) - Y.indptr[rows]
    ideal = np.bincount(rows, worth[Y.indices[order]] * discounts[places], Y.n_rows)
    return np.divide(1.0, ideal, out=np.zeros(Y.n_rows), where=ideal > 0)
