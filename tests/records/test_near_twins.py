import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import jaccard
from scipy.sparse.csgraph import connected_components

from ovaflow.records.drawing import draw_by_hash, hash_rows
from ovaflow.records.near_twins import MIN_COMMON_FEATURES, MIN_JACCARD, group_near_twins
from ovaflow.records.units import find_feature_units
from ovaflow.sparse.csr import from_scipy, select_rows


def make_rows(n, seed=0) -> np.ndarray:
    """Make rows of 40 features, more or less, that have little in common."""
    return (np.random.default_rng(seed).random((n, 2000)) < 0.02) * 1.0


def mark_twins(X) -> np.ndarray:
    """Mark the pairs that are near twins: (n, n)."""
    return (jaccard(X) >= MIN_JACCARD) & (X @ X.T >= MIN_COMMON_FEATURES)


def make_edition(row, seed, n_changed=3) -> np.ndarray:
    """Make the same row, but for a few features."""
    copy = row.copy()
    rng = np.random.default_rng(seed)
    copy[rng.choice(np.flatnonzero(row), n_changed, replace=False)] = 0
    copy[rng.choice(len(row), n_changed, replace=False)] = 1
    return copy


def draw_rows(X, fraction, seed=0) -> np.ndarray:
    """Draw rows by their hashes, near twins together."""
    return draw_by_hash(find_feature_units(X), hash_rows(X, seed), fraction)


@pytest.fixture(scope="module")
def series() -> np.ndarray:
    """Rows of features: 400, then three editions of each of the first 50."""
    rows = make_rows(400)
    copies = [make_edition(rows[i % 50], i) for i in range(150)]
    return np.vstack([rows, copies])


def test_groups_are_what_near_twins_lead_to() -> None:
    rng = np.random.default_rng(0)
    rows = list(make_rows(30))
    for i in range(400):
        earlier = rows[rng.integers(len(rows))]
        rows.append(make_edition(earlier, i, rng.integers(1, 12)))
    X = np.vstack([*rows, make_rows(1000, seed=1)])
    groups = group_near_twins(from_scipy(X))
    _, components = connected_components(mark_twins(X), directed=False)
    ours = np.equal.outer(groups, groups)
    theirs = np.equal.outer(components, components)
    assert not (ours & ~theirs).any()
    missed = (theirs & ~ours).sum() / (theirs.sum() - len(X))
    assert 0 <= missed < 0.05


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(8, 16))
def test_members_of_a_group_have_a_near_twin_in_it(seed, width) -> None:
    X = (np.random.default_rng(seed).random((150, width)) < 0.7) * 1.0
    groups = group_near_twins(from_scipy(X))
    similar = mark_twins(X)
    np.fill_diagonal(similar, val=False)
    has_others = np.bincount(groups, minlength=150)[groups] > 1
    has_twin = (similar & np.equal.outer(groups, groups)).any(axis=1)
    assert has_twin[has_others].all()
    assert np.bincount(groups).max() <= 3


def test_near_twins_are_held_out_together(series) -> None:
    X = from_scipy(series)
    held = draw_rows(X, 0.2)
    assert np.array_equal(held[400:], held[np.arange(150) % 50])
    alone = hash_rows(X) < 0.2 * 2.0**64
    assert np.array_equal(held[50:400], alone[50:400])
    assert not np.array_equal(held, alone)


def test_the_share_holds_however_large_the_groups() -> None:
    editions = []
    for i, row in enumerate(make_rows(200)):
        editions += [make_edition(row, 10 * i + k) for k in range(10)]
    X = np.vstack(editions)
    shares = [draw_rows(from_scipy(X), 0.2, seed).mean() for seed in range(10)]
    assert np.mean(shares) == pytest.approx(0.2, abs=0.03)


def test_the_order_of_texts_does_not_matter(series) -> None:
    X = from_scipy(series)
    shuffled = np.random.default_rng(0).permutation(550)
    assert np.array_equal(draw_rows(select_rows(X, shuffled), 0.2), draw_rows(X, 0.2)[shuffled])


def test_a_group_that_runs_away_falls_apart() -> None:
    chain = [make_rows(1)[0]]
    for i in range(300):
        chain.append(make_edition(chain[-1], i))
    X = from_scipy(np.vstack([*chain, make_rows(200, seed=1)]))
    assert np.array_equal(group_near_twins(X), np.arange(501))
    assert np.array_equal(draw_rows(X, 0.2), hash_rows(X) < 0.2 * 2.0**64)


def test_short_rows_are_alike_by_chance() -> None:
    X = np.vstack([make_rows(200), np.zeros((2, 2000)), np.eye(2, 2000), np.tri(3, 2000, 8)])
    assert np.array_equal(group_near_twins(from_scipy(X))[:206], np.arange(206))
    assert group_near_twins(from_scipy(X))[206] == 205
