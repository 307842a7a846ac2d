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
from ovaflow.methods.fastxml.gains import RANKING_MEASURES, make_gains
from ovaflow.methods.fastxml.scratch import make_tree_scratch
from ovaflow.sparse.csr import from_scipy


def assign_both(
    dense: np.ndarray,
    members: np.ndarray,
    seed: int,
    objective: str = "nDCG",
    label_gains: np.ndarray | None = None,
    separator_terms: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Assign sides by ours and by theirs, from the same coins and the same order of labels."""
    Y = from_scipy(dense)
    scratch = make_tree_scratch(Y, Y)
    gains = make_gains(objective, Y, label_gains)
    n_labels = gather_labels(Y, members, np.uint64(seed), scratch)
    sides = np.empty(len(members), np.int8)
    toss_sides(sides, np.uint64(seed))
    labels = scratch.labels[:n_labels]
    if separator_terms is None:
        separator_terms = np.zeros(len(members))
    theirs = naive.ndcg_sides(
        dense[members][:, labels],
        sides.copy(),
        gains.normalizers[members],
        gains.labels[labels],
        gains.discounts[:n_labels],
        GAIN_RESOLUTION,
        separator_terms,
    )
    n_positive = assign_sides(members, sides, separator_terms, gains, 1.0, n_labels, scratch)
    assert n_positive == sides.sum()
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
    ours, theirs = assign_both(dense, members, seed, objective)
    assert_array_equal(ours, theirs)


def test_sides_with_propensities_and_a_separator() -> None:
    generator = np.random.default_rng(4)
    dense = (generator.random((200, 30)) < 0.1).astype(float)
    scores = generator.normal(size=200).astype(np.float32)
    separator_terms = np.empty(200)
    fill_separator_terms(scores, (1.0, 2.0), separator_terms)
    wide = scores.astype(float)
    expected_terms = np.logaddexp(0, wide) - 2 * np.logaddexp(0, -wide)
    assert_allclose(separator_terms, expected_terms, rtol=1e-5, atol=1e-6)
    ours, theirs = assign_both(
        dense,
        np.arange(200, dtype=np.int32),
        5,
        label_gains=generator.uniform(1, 9, 30),
        separator_terms=separator_terms,
    )
    assert_array_equal(ours, theirs)
    assert 0 < ours.sum() < 200


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=40), st.data())
@settings(max_examples=50, deadline=None)
def test_rankings_follow_the_sums_that_change(sums, data) -> None:
    sums = np.array(sums)
    n = len(sums)
    keys = np.empty(n, np.int64)
    changed_keys = np.empty(n, np.int64)
    changed = np.ones(n, bool)
    for _ in range(3):
        update_ranking(sums, keys, changed, changed_keys)
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


@pytest.mark.parametrize("measure", [*RANKING_MEASURES, "propensities"])
def test_gain_of_a_ranking(measure) -> None:
    Y = (np.random.default_rng(0).random((40, 12)) < 0.3).astype(float)
    Y[0] = 0
    label_gains = np.ones(12)
    objective = measure
    if measure == "propensities":
        label_gains = np.random.default_rng(2).uniform(1, 20, 12)
        objective = "nDCG"
    gains = make_gains(objective, from_scipy(Y), label_gains)
    assert gains.labels.max() == 1
    assert gains.normalizers[0] == (objective == "P@5")
    ranking = np.random.default_rng(1).permutation(12)
    scores = np.empty(12)
    scores[ranking] = np.arange(12, 0, -1)
    for y, normalizer in zip(Y[1:], gains.normalizers[1:], strict=True):
        ours = normalizer * (gains.labels * y)[ranking] @ gains.discounts
        if objective == "P@5":
            theirs = y[ranking[:5]].mean()
        else:
            true_gains = [y * label_gains]
            n_ranks = 5 if "@" in objective else None
            theirs = dcg_score(true_gains, [scores], k=n_ranks) / (
                dcg_score(true_gains, true_gains) or 1
            )
        assert ours == pytest.approx(theirs, abs=1e-12)
