"""The exponent of label frequencies against counts drawn from, or laid out by, a known law."""

import numpy as np
import pytest
from scipy import stats

from ovaflow.report.power_law import fit_power_law


@pytest.mark.parametrize("a", [1.7, 2.0, 2.5, 3.5])
def test_exponent_of_zipf_samples(a):
    counts = stats.zipf(a).rvs(20_000, random_state=0).clip(max=10**9)
    assert fit_power_law(counts).exponent == pytest.approx(1 / (a - 1), rel=0.03)


@pytest.mark.parametrize("exponent", [0.7, 1.0, 1.5])
def test_exponent_of_counts_that_follow_the_law_by_rank(exponent):
    counts = np.round(1e6 * np.arange(1.0, 5001) ** -exponent).astype(np.int64)
    law = fit_power_law(counts)
    assert law.exponent == pytest.approx(exponent, rel=0.01)
    ranks = np.array([1, 10, law.n_labels])
    assert law.at(ranks) == pytest.approx(np.sort(counts)[::-1][ranks - 1], rel=0.15)


def test_the_law_of_the_frequent_labels_is_found_where_the_rare_ones_follow_none():
    rng = np.random.default_rng(0)
    frequent = np.round(20 * (1 - rng.random(3000)) ** -0.8).astype(np.int64)
    counts = np.concatenate([frequent, rng.integers(1, 20, 4000)])
    law = fit_power_law(counts)
    assert law.exponent == pytest.approx(0.8, rel=0.06)
    assert 15 <= law.smallest <= 40


@pytest.mark.parametrize(
    "counts",
    [[], [0, 0], [3], [5] * 50, [1, 2, 3], [100 + j % 5 for j in range(500)], list(range(1, 1001))],
    ids=["none", "only zeros", "one", "equal", "three", "about equal", "evenly spread"],
)
def test_no_law_where_there_is_none(counts):
    assert fit_power_law(np.array(counts, np.int64)) is None
