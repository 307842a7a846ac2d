"""A stratified sample of labels, and totals over all labels that it stands for.

Time and weights grow with the number of positives, so labels are divided by its
magnitude; frequent ones are sampled more densely than they occur, since they
differ more from each other (Cochran, Sampling Techniques, ch. 5).
"""

from typing import NamedTuple

import numpy as np

_TWO_SIDED = 1.96


class Stratum(NamedTuple):
    """Labels alike.

    Attributes
    ----------
    size : int
        Number of labels.
    labels : ndarray of int64
        Those in the sample.
    """

    size: int
    labels: np.ndarray


class Total(NamedTuple):
    """A sum over all labels.

    Attributes
    ----------
    value : float
    error : float
        Half width of the 95 % range, as a share of the value; 0 where every
        label was looked at.
    """

    value: float
    error: float


def stratified_sample(counts, kinds, n_labels, seed):
    """Draw labels with positives.

    Parameters
    ----------
    counts : ndarray of int64, shape (l,)
        Positives of each label.
    kinds : ndarray of bool, shape (l,)
        Divides labels besides: those that are solved in another way.
    n_labels : int
        Wanted size of the sample, met about: each stratum gives two labels at least.
    seed : int

    Returns
    -------
    list of Stratum
        All labels with positives where there are no more than ``n_labels``.
    """
    candidates = np.flatnonzero(counts)
    keys = 2 * np.log2(counts[candidates]).astype(np.int64) + kinds[candidates]
    groups = [candidates[keys == key] for key in np.unique(keys)]
    if len(candidates) <= n_labels:
        return [Stratum(len(group), group) for group in groups]
    generator = np.random.default_rng(seed)
    shares = np.array([len(group) * np.sqrt(counts[group].mean()) for group in groups])
    wanted = np.maximum(np.rint(n_labels * shares / shares.sum()), 2).astype(np.int64)
    return [
        Stratum(len(group), generator.choice(group, min(size, len(group)), replace=False))
        for group, size in zip(groups, wanted, strict=True)
    ]


def total_of(strata, values):
    """Estimate the sum of something over all labels.

    Parameters
    ----------
    strata : list of Stratum
    values : ndarray of float64
        Of each sampled label, stratum after stratum.

    Returns
    -------
    Total
    """
    total = variance = 0.0
    ends = np.cumsum([len(stratum.labels) for stratum in strata])
    for stratum, own in zip(strata, np.split(np.asarray(values, np.float64), ends[:-1]), strict=True):
        total += stratum.size * own.mean()
        if len(own) < stratum.size:
            variance += stratum.size * (stratum.size - len(own)) * own.var(ddof=1) / len(own)
    return Total(total, _TWO_SIDED * np.sqrt(variance) / total if total else 0.0)
