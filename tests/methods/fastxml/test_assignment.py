import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import dcg_score

from ovaflow.methods.fastxml.assignment import (
    GAIN_RESOLUTION,
    assign_sides,
    decode_label,
    fill_separator_terms,
    gather_labels,
    toss_sides,
    update_ranking,
)
from ovaflow.methods.fastxml.growing import make_tree_scratch
from ovaflow.methods.fastxml.training import RANKING_MEASURES, make_gains
from ovaflow.sparse.csr import from_scipy


def split(dense, members, seed, objective="nDCG", worth=None, pull=None):
    """Our sides, and theirs from the same coins and the same order of labels."""
    Y = from_scipy(dense)
    scratch = make_tree_scratch(Y, Y)
    gains = make_gains(objective, Y, worth)
    n_labels = gather_labels(Y, members, np.uint64(seed), scratch)
    sides = np.empty(len(members), np.int8)
    toss_sides(sides, np.uint64(seed))
    labels = scratch.labels[:n_labels]
    pull = np.zeros(len(members)) if pull is None else pull
    theirs = naive.ndcg_sides(
        dense[members][:, labels],
        sides.copy(),
        gains.normalisers[members],
        gains.labels[labels],
        gains.discounts[:n_labels],
        GAIN_RESOLUTION,
        pull,
    )
    positive = assign_sides(members, sides, pull, gains, 1.0, n_labels, scratch)
    assert positive == sides.sum()
    assert sorted(labels) == np.flatnonzero(dense[members].sum(axis=0)).tolist()
    assert (scratch.label_number == -1).all()
    return sides, theirs


@pytest.mark.parametrize("objective", RANKING_MEASURES)
@given(seed=st.integers(0, 2**32), density=st.floats(0.02, 0.5), n=st.integers(2, 60))
@settings(max_examples=25, deadline=None)
def test_sides_of_a_node(objective, seed, density, n) -> None:
    generator = np.random.default_rng(seed)
    dense = (generator.random((80, 25)) < density).astype(float)
    members = np.sort(generator.choice(80, n, replace=False)).astype(np.int32)
    ours, theirs = split(dense, members, seed, objective)
    assert_array_equal(ours, theirs)


def test_sides_with_propensities_and_a_separator() -> None:
    generator = np.random.default_rng(4)
    dense = (generator.random((200, 30)) < 0.1).astype(float)
    scores = generator.normal(size=200).astype(np.float32)
    pull = np.empty(200)
    fill_separator_terms(scores, (1.0, 2.0), pull)
    wide = scores.astype(float)
    assert_allclose(pull, np.logaddexp(0, wide) - 2 * np.logaddexp(0, -wide), rtol=1e-5, atol=1e-6)
    ours, theirs = split(
        dense, np.arange(200, dtype=np.int32), 5, worth=generator.uniform(1, 9, 30), pull=pull
    )
    assert_array_equal(ours, theirs)
    assert 0 < ours.sum() < 200


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=40), st.data())
@settings(max_examples=50, deadline=None)
def test_ranking_some_sums_again(sums, data) -> None:
    sums, n = np.array(sums), len(sums)
    keys = np.empty(n, np.int64)
    fresh = np.empty(n, np.int64)
    changed = np.ones(n, bool)
    for _ in range(3):
        update_ranking(sums, keys, changed, fresh)
        ours = [decode_label(key, n) for key in keys]
        assert_array_equal(ours, np.argsort(-sums, kind="stable"))
        changed = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        sums = np.where(changed, sums // 3, sums)


def test_coins_are_fair_and_differ_between_seeds() -> None:
    coins = np.empty((50, 1000), np.int8)
    for seed in range(50):
        toss_sides(coins[seed], np.uint64(seed))
    assert abs(coins.mean() - 0.5) < 0.01
    assert np.abs(np.corrcoef(coins) - np.eye(50)).max() < 0.2


@pytest.mark.parametrize("objective", [*RANKING_MEASURES, "propensities"])
def test_gain_of_a_ranking(objective) -> None:
    Y = (np.random.default_rng(0).random((40, 12)) < 0.3).astype(float)
    Y[0] = 0
    worth = (
        np.random.default_rng(2).uniform(1, 20, 12) if objective == "propensities" else np.ones(12)
    )
    gains = make_gains("nDCG" if objective == "propensities" else objective, from_scipy(Y), worth)
    assert (gains.labels.max(), gains.normalisers[0]) == (1, objective == "P@5")
    ranking = np.random.default_rng(1).permutation(12)
    scores = np.empty(12)
    scores[ranking] = np.arange(12, 0, -1)
    for y, normaliser in zip(Y[1:], gains.normalisers[1:], strict=True):
        ours = normaliser * (gains.labels * y)[ranking] @ gains.discounts
        if objective == "P@5":
            theirs = y[ranking[:5]].mean()
        else:
            worths = [y * worth]
            gained = dcg_score(worths, [scores], k=5 if "@" in objective else None)
            theirs = gained / (dcg_score(worths, worths) or 1)
        assert ours == pytest.approx(theirs, abs=1e-12)
