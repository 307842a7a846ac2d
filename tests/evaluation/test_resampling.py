"""Bootstrap of metrics of the test instances."""

import numpy as np
import pytest
import scipy.stats

from ovaflow.evaluation.resampling import interval, resample


def test_intervals_are_scipys_percentile_bootstrap():
    rng = np.random.default_rng(3)
    gains, best = rng.random((300, 2)), 1 + rng.random((300, 2))
    ours = resample(gains, best)
    for column in range(2):
        theirs = scipy.stats.bootstrap(
            (gains[:, column], best[:, column]),
            lambda g, b, axis: g.sum(axis=axis) / b.sum(axis=axis),
            paired=True,
            method="percentile",
            n_resamples=5000,
            rng=1,
        )
        width = theirs.confidence_interval.high - theirs.confidence_interval.low
        assert interval(ours[:, column]) == pytest.approx(tuple(theirs.confidence_interval), abs=0.1 * width)
        assert ours[:, column].std() == pytest.approx(theirs.standard_error, rel=0.1)


def test_differences_on_the_same_samples_are_paired():
    rng = np.random.default_rng(4)
    hits = (rng.random((500, 1)) < 0.5) * 1.0
    better = hits.copy()
    better[np.flatnonzero(hits[:, 0] == 0)[:12]] = 1
    ours = resample(better, np.ones((500, 1))) - resample(hits, np.ones((500, 1)))
    # alone each has an interval of 9 points; the 12 records that differ have no loss among them
    assert interval(ours[:, 0])[0] > 0
    assert interval(ours[:, 0]) == pytest.approx((0.012, 0.038), abs=0.004)


def test_nothing_to_reach_is_zero():
    assert (resample(np.zeros((5, 1)), np.zeros((5, 1))) == 0).all()
