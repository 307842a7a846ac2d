"""Quantities summed up over labels: a line in the middle and a band of quantiles around it."""

from typing import NamedTuple

import numpy as np

QUANTILES = 0.05, 0.95
"""Ends of a band, as in the figures of the MSI paper."""

FEWEST = 3
"""Labels without which nothing is drawn."""


class Band(NamedTuple):
    """A quantity over labels, at several places.

    Attributes
    ----------
    x : ndarray of float64, shape (m,)
    middle, low, high : ndarray of float64, shape (m,)
        Median or mean, and the :data:`QUANTILES`.
    """

    x: np.ndarray
    middle: np.ndarray
    low: np.ndarray
    high: np.ndarray


def band(x, groups, middle=np.median):
    """Sum up groups of values.

    Parameters
    ----------
    x : sequence of float
        Place of each group.
    groups : sequence of ndarray
        Groups of fewer than :data:`FEWEST` values are left out.
    middle : callable
        ``np.median`` or ``np.mean``.

    Returns
    -------
    Band
    """
    known = [(place, values) for place, values in zip(x, groups, strict=True) if len(values) >= FEWEST]
    rows = [(place, middle(values), *np.quantile(values, QUANTILES)) for place, values in known]
    return Band(*np.array(rows, np.float64).reshape(-1, 4).T)


def by_positives(positives, values, middle=np.median, bins_per_decade=5):
    """Sum up values of labels with similar numbers of positives.

    Parameters
    ----------
    positives : ndarray of int, shape (m,)
        All above 0.
    values : ndarray of float, shape (m,)
    middle : callable
    bins_per_decade : int
        Groups for each factor of ten.

    Returns
    -------
    Band
        ``x``: geometric mean of the group's positives.
    """
    bins = np.floor(bins_per_decade * np.log10(np.maximum(positives, 1)) + 1e-9).astype(np.int64)
    members = [np.flatnonzero(bins == number) for number in np.unique(bins)]
    places = [float(np.exp(np.log(positives[group]).mean())) for group in members]
    return band(places, [values[group] for group in members], middle)
