"""How much of a figure is the choice of test instances: the bootstrap (Efron and Tibshirani 1993, chapter 13)."""

import numpy as np

RESAMPLES = 1000
"""Samples of the test instances, drawn with replacement, the same ones for every run."""

CONFIDENCE = 0.95


def resample(gains, best):
    """Metrics sum(gains) / sum(best) over each sample: float64 (RESAMPLES, m), of arrays (n, m)."""
    n, m = gains.shape
    both, generator = np.hstack([gains, best]), np.random.default_rng(0)
    sums = np.empty((RESAMPLES, 2 * m))
    for sample in sums:
        sample[:] = np.bincount(generator.integers(n, size=n), minlength=n) @ both
    reached, reachable = np.hsplit(sums, 2)
    return np.divide(reached, reachable, out=np.zeros_like(reached), where=reachable > 0)


def interval(values):
    """Bounds between which the middle :data:`CONFIDENCE` of the samples' values lie: (low, high)."""
    outside = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [outside, 1 - outside])
    return float(low), float(high)
