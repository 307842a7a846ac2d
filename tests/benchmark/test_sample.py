import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.benchmark.sample import columns_of, sample_labels
from ovaflow.sparse.csr import from_scipy


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(0, 20))
def test_columns_of_equals_scipy(seed, width, n):
    rng = np.random.default_rng(seed)
    dense = rng.integers(0, 2, (n, width)) * rng.random((n, width))
    columns = np.flatnonzero(rng.random(width) < 0.5)
    ours = columns_of(from_scipy(sp.csr_array(dense)), columns)
    theirs = np.float32(dense[:, columns])
    assert np.array_equal(ours.to_scipy().toarray(), theirs)


def test_sampled_labels_have_positives_and_follow_the_seed():
    counts = np.array([3, 0, 1, 0, 5, 2])
    assert sample_labels(counts, 10, 0).tolist() == [0, 2, 4, 5]
    chosen = sample_labels(counts, 2, 1)
    assert len(chosen) == 2
    assert chosen.tolist() == sample_labels(counts, 2, 1).tolist()
    assert (counts[chosen] > 0).all()
