"""Bootstrap of metrics: how far a metric depends on the choice of test instances (Efron and
Tibshirani 1993, chapter 13).
"""

import math
from typing import NamedTuple

import numpy as np

RESAMPLES = 1000
"""Samples of the test instances, drawn with replacement, the same ones for every run."""

CONFIDENCE = 0.95
"""Share of the samples that an interval covers."""

_MAX_DRAWN_INSTANCES = 20_000
"""Most instances that are drawn one by one; of more, random groups of equal size are, which vary as
much.
"""


def resample(gains: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Compute metrics sum(gains) / sum(best) on each sample: float64 (RESAMPLES, m).

    ``gains`` and ``best`` are (n, m), those of each instance.
    """
    n = len(gains)
    generator = np.random.default_rng(0)
    both = np.hstack([gains, best])
    if n > _MAX_DRAWN_INSTANCES:
        both = np.add.reduceat(
            both[generator.permutation(n)], np.arange(0, n, -(-n // _MAX_DRAWN_INSTANCES))
        )
        n = len(both)
    sums = np.empty((RESAMPLES, both.shape[1]))
    for sample in sums:
        sample[:] = np.bincount(generator.integers(n, size=n), minlength=n) @ both
    reached, reachable = np.hsplit(sums, 2)
    return np.divide(reached, reachable, out=np.zeros_like(reached), where=reachable > 0)


def interval(values: np.ndarray) -> tuple[float, float]:
    """Compute the bounds of the middle :data:`CONFIDENCE` of the values on samples."""
    outside = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [outside, 1 - outside])
    return float(low), float(high)


def interval_of_difference(samples: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """Compute the bounds of the difference of two metrics on the same samples.

    Instances that are difficult for both cancel out.
    """
    return interval(samples - others)


def may_be_chance(better: np.ndarray, worse: np.ndarray) -> bool:
    """Tell whether the difference of two metrics on the same samples may be chance.

    Its interval then reaches 0.
    """
    low, _ = interval_of_difference(better, worse)
    return low <= 0


class MeanDifference(NamedTuple):
    """Mean difference of scores of the same instances."""

    mean: float
    error: float  # its standard error

    @classmethod
    def from_scores(cls, before: np.ndarray, after: np.ndarray) -> "MeanDifference":
        """Compare two scores of the same instances (n,)."""
        difference = after - before
        return cls(float(difference.mean()), float(difference.std() / math.sqrt(len(difference))))
