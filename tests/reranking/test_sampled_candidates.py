"""The candidates that trees are fitted to stand for all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

from ovaflow.reranking.boosted_trees import LEARNING_RATE, MAX_TREES, TREE_SETTINGS, fit_trees
from ovaflow.reranking.cross_fitting import FEW_TEXTS
from ovaflow.reranking.held_out_candidates import HeldOutCandidates
from ovaflow.reranking.sampled_candidates import MAX_VALUES, MIN_SHARE, sample_candidates


def make_texts(n: int, seed: int = 0) -> HeldOutCandidates:
    """Texts with 30 candidates, one in fifteen of them true and some missing."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, 30, 3)).astype(np.float32)
    columns[:, :, 2] = columns[:, :, 2] > 0
    ids = np.tile(np.arange(30), (n, 1))
    ids[::3, -5:] = -1
    hits = (columns[:, :, 0] + 0.5 * rng.normal(size=(n, 30)) > 1.7) & (ids >= 0)
    return HeldOutCandidates([], columns, ids, hits, hits.sum(axis=1))


def test_few_texts_keep_all_candidates() -> None:
    texts = make_texts(FEW_TEXTS - 1)
    ours = sample_candidates(texts, 1).training_rows
    assert ours.weights is None
    assert_array_equal(ours.rows, texts.rows)
    assert_array_equal(ours.hits, texts.row_hits)


@pytest.mark.parametrize("seed", range(3))
def test_a_sample_adds_up_to_all_candidates(seed) -> None:
    texts = make_texts(FEW_TEXTS, seed)
    sampled = sample_candidates(texts, 1)
    assert np.count_nonzero(sampled.weights) < 0.4 * np.count_nonzero(texts.ids >= 0)
    assert_array_equal(sampled.weights[texts.ids < 0], 0)
    assert_array_equal(sampled.weights[texts.hits], 1)
    assert sampled.weights.max() <= 1 / MIN_SHARE
    ours = sampled.training_rows
    assert_array_equal(ours.weights, sampled.weights[sampled.weights > 0])
    assert ours.weights.sum() == pytest.approx(len(texts.rows), rel=0.03)
    theirs = texts.rows.mean(axis=0)
    assert_allclose(np.average(ours.rows, axis=0, weights=ours.weights), theirs, atol=0.03)


def test_trees_of_a_sample_predict_others_as_well_as_trees_of_all() -> None:
    """scikit-learn fitted to all candidates is the reference."""
    texts = make_texts(2 * FEW_TEXTS)
    others = make_texts(FEW_TEXTS, seed=1)
    model = HistGradientBoostingClassifier(
        max_iter=MAX_TREES,
        learning_rate=LEARNING_RATE,
        **TREE_SETTINGS,
        early_stopping=False,
        random_state=0,
    )
    model.fit(texts.rows, texts.row_hits)
    theirs = log_loss(others.row_hits, model.predict_proba(others.rows)[:, 1])
    trees = fit_trees(*sample_candidates(texts, 1).training_rows)
    probabilities = trees.compute_probabilities(others.evidence_values, others.ids)
    ours = log_loss(others.row_hits, probabilities[others.ids >= 0])
    assert ours == pytest.approx(theirs, rel=0.03)


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32), distinct=st.integers(1, 3 * MAX_VALUES))
def test_rounded_evidence_keeps_its_order(seed, distinct) -> None:
    texts = make_texts(FEW_TEXTS)
    drawn = np.random.default_rng(seed).normal(size=distinct).astype(np.float32)
    values = np.random.default_rng(seed).choice(drawn, texts.ids.shape)
    texts.evidence_values[:, :, 1] = values
    exists = texts.ids >= 0
    ours = sample_candidates(texts, 1).evidence_values[:, :, 1][exists]
    theirs = values[exists]
    order = np.argsort(theirs, kind="stable")
    assert (np.diff(ours[order]) >= 0).all()
    assert len(np.unique(ours)) <= MAX_VALUES
    assert set(ours.tolist()) <= set(theirs.tolist())
    if len(np.unique(theirs)) <= MAX_VALUES:
        assert_array_equal(ours, theirs)
