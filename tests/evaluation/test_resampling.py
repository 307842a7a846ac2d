"""Bootstrap of metrics of the test instances."""

import numpy as np
import pytest
import scipy.stats

from ovaflow.evaluation.resampling import interval, resample


def test_intervals_are_scipys_percentile_bootstrap() -> None:
    rng = np.random.default_rng(3)
    gains = rng.random((300, 2))
    best = 1 + rng.random((300, 2))
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
        assert interval(ours[:, column]) == pytest.approx(
            tuple(theirs.confidence_interval), abs=0.1 * width
        )
        assert ours[:, column].std() == pytest.approx(theirs.standard_error, rel=0.1)


def test_nothing_to_reach_is_zero() -> None:
    assert (resample(np.zeros((5, 1)), np.zeros((5, 1))) == 0).all()
