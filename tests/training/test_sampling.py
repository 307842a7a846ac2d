"""The stratified sample: which labels, and how many each represents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ovaflow.training.sampling import stratified_sample

some_counts = st.lists(st.integers(0, 5000), min_size=1, max_size=200).map(np.array)


@given(some_counts, st.integers(2, 60), st.integers(0, 3))
def test_every_magnitude_is_represented(counts, n_labels, seed):
    labels, represented = stratified_sample(counts, n_labels, seed)
    assert len(set(labels)) == len(labels)
    assert (counts[labels] > 0).all()
    magnitudes = np.log2(np.maximum(counts, 1)).astype(int)
    ours = np.bincount(magnitudes[labels], represented, 13)
    np.testing.assert_allclose(ours, np.bincount(magnitudes[counts > 0], minlength=13))


@given(some_counts)
def test_a_sample_of_all_labels(counts):
    labels, represented = stratified_sample(counts, len(counts), 0)
    assert sorted(labels) == np.flatnonzero(counts).tolist()
    assert (represented == 1).all()


def test_totals_are_near():
    rng = np.random.default_rng(1)
    counts = np.minimum(rng.zipf(1.6, 8000), 3000)
    theirs = counts**0.6 * rng.lognormal(0, 0.5, 8000)
    for seed in range(50):
        labels, represented = stratified_sample(counts, 200, seed)
        assert represented @ theirs[labels] == pytest.approx(theirs.sum(), rel=0.2)
