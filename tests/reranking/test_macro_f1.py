"""Labels chosen for the macro-F1 of all texts."""

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.metrics import f1_score

from ovaflow.reranking.macro_f1 import choose_labels_for_macro_f1


def mark_chosen(chosen, true) -> np.ndarray:
    found = np.zeros_like(true)
    np.put_along_axis(found, np.array(chosen), 1, axis=1)
    return found


def compute_expected_utility(chosen, P, smoothing=2) -> float:
    """Sum over labels of 2 t / m."""
    found = mark_chosen(chosen, P)
    return (2 * (found * P).sum(axis=0) / ((found + P).sum(axis=0) + smoothing)).sum()


@pytest.mark.parametrize("seed", range(6))
def test_no_other_choice_is_expected_to_be_much_better(seed) -> None:
    P = np.random.default_rng(seed).dirichlet(np.full(4, 0.4), size=4)
    order = np.argsort(-P, axis=1).astype(np.int32)
    ids, probabilities = choose_labels_for_macro_f1(order, np.take_along_axis(P, order, axis=1), 2)
    assert (np.take_along_axis(P, ids, axis=1) == probabilities).all()
    assert (np.diff(probabilities) <= 0).all()
    ours = compute_expected_utility(ids, P)
    by_probability = compute_expected_utility(order[:, :2], P)
    theirs = max(
        compute_expected_utility(choice, P)
        for choice in product(combinations(range(4), 2), repeat=4)
    )
    assert by_probability <= ours + 1e-12
    assert 0.95 * theirs <= ours


def test_macro_f1_rises_on_labels_drawn_from_the_probabilities() -> None:
    rng = np.random.default_rng(0)
    frequency = 0.3 / np.arange(1, 61)
    P = np.clip(frequency * rng.lognormal(0, 1.5, (2000, 60)), 0, 0.95)
    true = rng.random(P.shape) < P
    order = np.argsort(-P, axis=1).astype(np.int32)[:, :20]
    chosen, _ = choose_labels_for_macro_f1(order, np.take_along_axis(P, order, axis=1), 2)

    ours, theirs = (
        f1_score(true, mark_chosen(ids, true), average="macro", zero_division=0)
        for ids in (chosen, order[:, :2])
    )
    assert ours > theirs + 0.05


def test_texts_with_fewer_candidates_have_fewer_labels() -> None:
    ids, probabilities = choose_labels_for_macro_f1(
        np.array([[3, -1, -1]], np.int32), np.array([[0.5, -np.inf, -np.inf]]), 2
    )
    assert ids.tolist() == [[3, -1]]
    assert probabilities.tolist() == [[0.5, -np.inf]]
