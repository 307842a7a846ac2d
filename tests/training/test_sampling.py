"""The stratified sample: which labels, and the totals that it stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.training.sampling import stratified_sample, total_of

some_counts = st.lists(st.integers(0, 5000), min_size=1, max_size=200).map(np.array)


@given(some_counts, st.integers(2, 60), st.integers(0, 3))
def test_strata_divide_the_labels_with_positives(counts, n_labels, seed):
    kinds = counts < 100
    strata = stratified_sample(counts, kinds, n_labels, seed)
    assert sum(stratum.size for stratum in strata) == np.count_nonzero(counts)
    sampled = np.concatenate([np.empty(0, int), *(stratum.labels for stratum in strata)])
    assert len(set(sampled)) == len(sampled)
    assert (counts[sampled] > 0).all()
    for stratum in strata:
        assert min(stratum.size, 2) <= len(stratum.labels) <= stratum.size
        assert len(set(np.log2(counts[stratum.labels]).astype(int))) == len(set(kinds[stratum.labels])) == 1


@given(some_counts.filter(lambda counts: counts.any()))
def test_a_sample_of_all_labels_is_exact(counts):
    strata = stratified_sample(counts, counts < 100, len(counts), 0)
    sampled = np.concatenate([stratum.labels for stratum in strata])
    total = total_of(strata, np.square(counts[sampled]))
    assert total.value == pytest.approx(np.square(counts).sum())
    assert total.error == 0


def test_the_range_holds_the_total_as_often_as_it_says():
    rng = np.random.default_rng(1)
    counts = np.minimum(rng.zipf(1.6, 8000), 3000)
    values = counts**0.6 * rng.lognormal(0, 0.5, 8000)
    inside, errors = 0, []
    for seed in range(200):
        strata = stratified_sample(counts, counts < 500, 200, seed)
        total = total_of(strata, values[np.concatenate([stratum.labels for stratum in strata])])
        inside += abs(total.value - values.sum()) <= total.error * total.value
        errors.append(total.error)
    # 95 % by its name, of a normal distribution
    assert 0.9 <= inside / 200 <= 1.0
    assert max(errors) < 0.15
