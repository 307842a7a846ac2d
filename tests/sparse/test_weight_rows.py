"""Rounded weights are off by at most half a step, and score like SciPy's product of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ovaflow.model.index import build_index
from ovaflow.model.pruning import prune
from ovaflow.model.top_k import score_every_label, score_labels, score_labels_of_each, search_index
from ovaflow.sparse.csr import CSR, from_scipy
from ovaflow.sparse.weight_rows import (
    WeightRows,
    count_feature_blocks,
    decode_weights,
    read_values,
    round_weights,
)

WIDTHS = [1, 5, 65_535, 65_536, 65_537, 140_000]
BORDERS = [0, 1, 2, 65_535, 65_536, 131_071, 131_072]
FLOATS = st.floats(-(2.0**126), 2.0**126, width=32) | st.floats(-4, 4, width=32)


@st.composite
def matrices(draw, values=FLOATS, d: int | None = None) -> CSR:
    """Sparse rows, some empty, with features at the borders of blocks and a last one, the bias."""
    if d is None:
        d = draw(st.sampled_from(WIDTHS))
    columns = sorted({column for column in BORDERS if column < d} | {d - 1})
    rows = draw(st.lists(st.dictionaries(st.sampled_from(columns), values), min_size=1, max_size=5))
    matrix = sp.lil_array((len(rows), d), dtype=np.float32)
    for row, entries in enumerate(rows):
        for column, value in entries.items():
            matrix[row, column] = value
    return from_scipy(matrix)


@given(matrices())
def test_rounded_weights_are_off_by_at_most_half_a_step(weights) -> None:
    ours = round_weights(weights)
    steps = np.repeat(ours.steps, np.diff(weights.indptr)).astype(float)
    again = decode_weights(ours)
    assert_array_equal(again.indices, weights.indices)
    assert_array_equal(again.indptr, weights.indptr)
    assert (np.abs(again.data.astype(float) - weights.data) <= steps / 2).all()
    # the step is the least power of two with which the largest weight fits
    assert (np.frexp(ours.steps)[0] == 0.5).all()
    for row, step in enumerate(ours.steps):
        largest = np.abs(weights.to_scipy()[[row]].data.astype(float)).max(initial=0)
        assert largest <= 32767 * step
        assert step in (1, 2.0**-126) or largest > 32767 * step / 2


@given(matrices())
@example(from_scipy(np.float32([[2.0**-128]])))
def test_rounded_weights_round_to_themselves(weights) -> None:
    theirs = round_weights(weights)
    ours = round_weights(decode_weights(theirs))
    assert_array_equal(ours.data, theirs.data)
    assert_array_equal(ours.indices, theirs.indices)
    assert_array_equal(ours.indptr, theirs.indptr)
    assert_array_equal(ours.steps, theirs.steps)


@given(matrices())
def test_any_rows_of_any_form(weights) -> None:
    unrounded = WeightRows(weights.n_columns, weights.data, weights.indices, weights.indptr)
    for form in (weights, unrounded, round_weights(weights)):
        whole = decode_weights(form).to_scipy()
        for row in range(weights.n_rows):
            ours = decode_weights(form, row, row + 1).to_scipy()
            theirs = whole[[row]]
            assert_array_equal(ours.indices, theirs.indices)
            assert_array_equal(ours.data, theirs.data)
        assert form.n_rows == weights.n_rows
        assert form.to_scipy().shape == whole.shape
        assert_array_equal(read_values(form, np.arange(len(form.data))), whole.data)


@given(
    matrices(st.floats(-4, 4, width=32)),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.sampled_from([0.0, 0.5, 2.0]),
)
def test_pruned_rounded_weights_are_rounded_pruned_ones(weights, one, other) -> None:
    ours = round_weights(weights)
    theirs = decode_weights(round_weights(weights)).to_scipy()
    theirs.data[np.abs(theirs.data) < max(one, other)] = 0
    for pruned in (prune(ours, max(one, other)), prune(prune(ours, one), other)):
        assert_array_equal(pruned.to_scipy().nonzero(), theirs.nonzero())
        assert (pruned.to_scipy() != theirs).nnz == 0
        assert pruned.to_scipy().nnz == theirs.count_nonzero()


NEAR = st.floats(0.125, 4, width=16) | st.floats(-4, -0.125, width=16)


@pytest.mark.parametrize("d", WIDTHS)
@given(st.data())
def test_scores_like_the_product_of_scipy(d, data) -> None:
    X = data.draw(matrices(NEAR, d))
    weights = data.draw(matrices(NEAR, d))
    rows = round_weights(weights)
    trained = np.ones(weights.n_rows, bool)
    theirs = (X.to_scipy() @ rows.to_scipy().T).toarray()
    labels = np.arange(weights.n_rows, dtype=np.int32)
    ours = score_labels(rows, X, labels)
    assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    # to the bit those of the same weights as float32, by whichever way
    assert_array_equal(ours, score_labels(decode_weights(rows), X, labels))
    assert_array_equal(ours, score_labels_of_each(rows, X, np.tile(labels, (X.n_rows, 1))))
    ranked = np.argsort(-ours, axis=1, kind="stable")
    for ids, scores in (
        score_every_label(rows, trained, X, len(labels)),
        search_index(list(build_index(rows, trained)), rows, X, len(labels)),
    ):
        assert_array_equal(ids, ranked)
        assert_array_equal(scores, np.take_along_axis(ours, ranked, axis=1))


@given(st.integers(1, 1 << 22))
@example(65_536)
@example(65_537)
def test_blocks_have_65536_features(d) -> None:
    assert count_feature_blocks(d) == len(range(0, d, 65_536))
