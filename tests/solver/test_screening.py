"""Bounds of scores, and the candidates that they leave."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from ovaflow.solver.batch import SLOT_SOLVED, make_batch, screen_all
from ovaflow.solver.screening import (
    STRIPE_INSTANCES,
    add_rare_features,
    bound_by_popular_features,
    estimate_threshold,
    make_screen,
)
from ovaflow.sparse.csr import CSR, from_scipy
from ovaflow.sparse.panel import PANEL_WIDTH


def make_skewed(
    n: int, d: int, seed: int, *, negative: bool = False, words: int = 12, tail: float = 0.6
) -> CSR:
    """Make rows whose features follow a power law, as words do."""
    rng = np.random.default_rng(seed)
    columns = np.minimum((rng.pareto(tail, size=(n, words)) * 3).astype(int), d - 1)
    values = rng.normal(size=columns.shape) if negative else rng.random(columns.shape)
    rows = np.repeat(np.arange(n), words)
    return from_scipy(sp.csr_array((values.ravel(), (rows, columns.ravel())), shape=(n, d)))


def compute_scores(X: CSR, weights: np.ndarray) -> np.ndarray:
    """Compute the scores of all instances, for weights of shape (columns, d) or (d,)."""
    return (X.to_scipy().astype(float) @ weights.T.astype(float)).T


def compute_bounds(X: CSR, weights: np.ndarray) -> np.ndarray:
    """Compute upper bounds of all scores, for weights of shape (columns, d)."""
    screen = make_screen(X)
    n = X.n_rows
    batch = make_batch(n, X.n_columns, len(screen.popular_features))
    batch.popular_weights[:, : len(weights)] = weights[:, screen.popular_features].T
    bound_by_popular_features(screen, batch.popular_weights, 0, n, batch.block, batch.bounds)
    for c, column in enumerate(weights):
        support = np.flatnonzero(column).astype(np.int32)
        add_rare_features(screen, support, column[support], 0, batch.bounds[c])
    return batch.bounds[: len(weights), :n]


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("d", [50, 5000])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_no_score_exceeds_its_bound(d, negative, seed) -> None:
    X = make_skewed(300, d, seed, negative=negative)
    weights = np.random.default_rng(seed).normal(size=(PANEL_WIDTH, d)).astype(np.float32)
    weights[:, ::3] = 0
    assert (compute_bounds(X, weights) >= compute_scores(X, weights) - 1e-5).all()


def test_bounds_are_tight_where_weights_are_positive() -> None:
    X = make_skewed(400, 5000, 1)
    weights = np.random.default_rng(0).random((3, 5000)).astype(np.float32) + np.float32(0.001)
    assert compute_bounds(X, weights) == pytest.approx(compute_scores(X, weights), abs=0.01)


def test_bounds_are_tight_where_all_features_are_popular() -> None:
    X = make_skewed(400, 50, 1)
    weights = np.random.default_rng(0).standard_normal((3, 50)).astype(np.float32)
    assert compute_bounds(X, weights) == pytest.approx(compute_scores(X, weights), abs=0.01)


def test_stripes_of_instances_are_screened_like_one() -> None:
    n = 140_000
    assert n > STRIPE_INSTANCES
    weights = (0.5 * np.random.default_rng(0).random(4000)).astype(np.float32)
    weights[:20] = -5.0
    X = make_skewed(n, 4000, 0, words=3, tail=0.5)
    screen = make_screen(X)
    scores = compute_scores(X, weights)
    batch = make_batch(n, 4000, len(screen.popular_features))
    batch.state[7] = SLOT_SOLVED
    batch.support[7] = np.arange(4000)
    batch.weights[7] = weights
    batch.n_support[7] = 4000
    batch.popular_weights[:, 7] = weights[screen.popular_features]

    batch.exhaustive[7] = True
    screen_all(screen, batch)
    ours = batch.candidates[7, : batch.n_candidates[7]]
    assert (np.diff(ours) > 0).all()
    assert np.isin(np.flatnonzero(scores > -1), ours).all()
    assert len(ours) < 0.9 * n

    batch.exhaustive[7] = False
    screen_all(screen, batch)
    highest = batch.candidates[7, : batch.n_candidates[7]]
    assert batch.cut[7]
    assert len(highest) < len(ours) / 10
    assert np.median(scores[highest]) > np.quantile(scores, 0.98)


@given(
    st.lists(st.floats(-5, 5, width=32, allow_subnormal=False), min_size=1, max_size=300),
    st.integers(1, 300),
)
def test_about_as_many_values_as_wanted_exceed_the_threshold(values, wanted) -> None:
    values = np.array(values, np.float32)
    threshold = estimate_threshold(values, len(values), wanted, np.zeros(4096, np.int64))
    above = (values > threshold).sum()
    assert above >= min(wanted, len(values))
    assert values.max() > threshold
    bin_width = (values.max() - values.min()) / 4095
    if bin_width > 0:
        assert (values > threshold + 2 * bin_width).sum() <= wanted
