"""Pruning drops exactly the small weights, and pruning twice is pruning once."""

import hypothesis.extra.numpy as arrays
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.model.pruning import kept_per_row, prune
from ovaflow.sparse.csr import CSR, from_scipy

THRESHOLDS = st.sampled_from([0.0, 0.01, 0.25, 0.5, 1.0, 2.0])
DENSE = arrays.arrays(
    np.float32,
    st.tuples(st.integers(0, 5), st.integers(1, 6)),
    elements=st.sampled_from([0.0, 0.01, -0.01, 0.25, -0.25, 0.5, -1.0, 3.0]),
)


@given(DENSE, THRESHOLDS)
def test_like_numpy(dense, threshold):
    ours = prune(from_scipy(dense), threshold)
    theirs = np.where(np.abs(dense) >= np.float32(threshold), dense, 0)
    assert np.array_equal(ours.to_scipy().toarray(), theirs)
    assert np.array_equal(np.diff(ours.indptr), np.count_nonzero(theirs, axis=1))


@given(DENSE, THRESHOLDS, THRESHOLDS)
def test_again_at_a_larger_threshold(dense, one, other):
    weights = from_scipy(dense)
    ours = prune(prune(weights, min(one, other)), max(one, other))
    theirs = prune(weights, max(one, other))
    for left, right in zip(ours.arrays, theirs.arrays, strict=True):
        assert np.array_equal(left, right)


def test_stored_zeros_are_dropped():
    weights = CSR(np.float32([0, 1]), np.int32([0, 1]), np.int64([0, 2]), 2)
    assert kept_per_row(weights, 0.0).tolist() == [1]
