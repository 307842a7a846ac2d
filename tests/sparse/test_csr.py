"""Products, transposes and counts of sparse matrices against SciPy and NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from callees import call
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ovaflow.features.normalize import store_zeros
from ovaflow.sparse.csr import (
    add_row,
    add_squared_row,
    count_column_nonzeros,
    count_row_nonzeros,
    from_scipy,
    multiply_vector,
    omit_full_indices,
    row_dot,
    transpose,
)
from ovaflow.sparse.panel import PANEL_WIDTH, multiply_panel


@st.composite
def matrices(draw) -> sp.csr_array:
    """Random sparse matrices."""
    n = draw(st.integers(1, 30))
    d = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return sp.random_array(
        (n, d), density=draw(st.floats(0, 1)), rng=rng, format="csr", dtype=np.float32
    )


def test_repeated_and_unsorted_entries_are_put_in_order_without_touching_the_source() -> None:
    values = np.array([1.0, 2.0, 4.0])
    source = sp.csr_array((values, np.array([3, 0, 3]), np.array([0, 3])), shape=(1, 5))
    ours = from_scipy(source)
    assert ours.indices.tolist() == [0, 3]
    assert ours.data.tolist() == [2.0, 5.0]
    assert source.indices.tolist() == [3, 0, 3]


@given(matrices())
def test_transposes_and_counts_are_those_of_numpy(theirs) -> None:
    dense = theirs.toarray()
    ours = transpose(from_scipy(theirs))
    assert_array_equal(ours.to_scipy().toarray(), dense.T)
    assert ours.to_scipy().has_canonical_format
    full = transpose(omit_full_indices(store_zeros(from_scipy(theirs))))
    assert full.indices is None
    assert_array_equal(full.data.reshape(dense.T.shape), dense.T)
    assert_array_equal(full.indptr, len(dense) * np.arange(len(dense.T) + 1))
    for ours in (from_scipy(theirs), store_zeros(from_scipy(theirs))):
        assert_array_equal(count_row_nonzeros(ours), (dense != 0).sum(axis=1))
        assert_array_equal(count_column_nonzeros(ours), (dense != 0).sum(axis=0))


@given(matrices(), st.booleans(), st.integers(0, 2**32 - 1))
def test_products(theirs, full, seed) -> None:
    X = from_scipy(theirs)
    if full:
        X = omit_full_indices(store_zeros(X))
    assert X.indices is not None or full
    panel = np.random.default_rng(seed).normal(size=(X.n_columns, PANEL_WIDTH)).astype(np.float32)
    products = np.full((X.n_rows, PANEL_WIDTH), np.nan, np.float32)
    multiply_panel(X.data, X.indices, X.indptr, panel, products)
    assert products == pytest.approx(theirs @ panel, rel=1e-4, abs=1e-4)
    vector = panel[:, 0].copy()
    ours = np.empty(X.n_rows, np.float32)
    multiply_vector(X.data, X.indices, X.indptr, vector, ours)
    assert ours == pytest.approx(theirs @ vector, rel=1e-4, abs=1e-4)
    for i, row in enumerate(theirs.toarray()):
        start, end = X.indptr[i : i + 2]
        product = row_dot(X.data, X.indices, start, end, vector)
        assert product == pytest.approx(row @ vector, rel=1e-4, abs=1e-4)
        added = vector.copy()
        squared = vector.copy()
        call(add_row, X.data, X.indices, start, end, np.float32(-2), added)
        add_squared_row(X.data, X.indices, start, end, np.float32(3), squared)
        assert added == pytest.approx(vector - 2 * row, rel=1e-5, abs=1e-5)
        assert squared == pytest.approx(vector + 3 * row**2, rel=1e-5, abs=1e-5)
