import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import normalize

from ovaflow.features import normalize as module
from ovaflow.features.normalize import (
    append_bias,
    make_model_features,
    normalize_rows,
    unscale_rows,
)
from ovaflow.sparse.csr import from_scipy

values = st.integers(-1000, 1000).map(lambda number: number / 8)  # scikit-learn takes 1e-16 for 0
matrices = hnp.arrays(
    np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=values
)


@given(matrices, st.integers(1, 9))
def test_rows_are_scaled_as_in_scikit_learn(dense, block) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK_ENTRIES", block)
        ours = from_scipy(dense.copy())
        normalize_rows(ours)
    theirs = normalize(dense.astype(np.float64))
    np.testing.assert_allclose(ours.to_scipy().toarray(), theirs, rtol=1e-6)


@given(matrices, st.integers(1, 9), st.sampled_from([0.0, 0.5]))
def test_features_come_back_by_their_norms(dense, block, bias) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK_ENTRIES", block)
        scaled, norms = make_model_features(from_scipy(dense), bias, normalize=True)
        unscaled, _ = make_model_features(from_scipy(dense), bias, normalize=True, unscaled=True)
    theirs = np.linalg.norm(dense.astype(np.float64), axis=1)
    np.testing.assert_allclose(norms, np.where(theirs > 0, theirs, 1))
    theirs = np.pad(dense, ((0, 0), (0, int(bias > 0))), constant_values=bias)
    np.testing.assert_allclose(unscaled.to_scipy().toarray(), theirs, rtol=1e-6)
    np.testing.assert_array_equal(unscale_rows(scaled, norms, bias).data, unscaled.data)


def test_tiny_and_huge_values_are_scaled() -> None:
    matrix = from_scipy(np.array([[3e-38, 4e-38], [3e38, 1e38]], np.float32))
    normalize_rows(matrix)
    lengths = np.linalg.norm(matrix.to_scipy().toarray().astype(np.float64), axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-6)


@given(matrices, st.sampled_from([1.0, 0.5, -2.0]))
def test_bias_is_the_last_column(dense, bias) -> None:
    ours = append_bias(from_scipy(dense), bias)
    theirs = np.pad(dense, ((0, 0), (0, 1)), constant_values=bias)
    np.testing.assert_array_equal(ours.to_scipy().toarray(), theirs)
    assert [array.dtype for array in ours.arrays] == [np.float32, np.int32, np.int64]
