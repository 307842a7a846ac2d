"""Words that push labels up or down, and the section Labels and their words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ovaflow.prediction.explanation import (
    LabelContributions,
    compute_contributions,
    find_nearest_labels,
    find_strongest_features,
)
from ovaflow.prediction.predictor import Predictor
from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.sparse.csr import CSR, select_rows

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run

MIN_WORD_SHARE = 0.08
"""Words that push a label less than this share of the strongest word are not shown."""

MAX_WORDS_UP = 2  # words shown that push a predicted label up
MAX_WORDS_DOWN = 1  # words shown that push it down
SAMPLED_LABELS = 8  # labels shown with their words, spread from the most frequent to the rarest
WORDS_OF_LABEL = 7  # words shown of each of these labels
NEAREST_OF_LABEL = 3  # nearest labels shown of each of these labels
MAX_NAME_CHARACTERS = 40  # characters shown of a feature's name

WeightedWord = tuple[str, float]
"""Name of a feature with its weight or contribution."""


def open_explainable(run: Run) -> Predictor | None:
    """Open the predictor of a run whose scores are sums over features; None for other runs."""
    model = run.open_model()
    if model.linear is None:
        return None
    return Predictor(model)


def explain_predictions(
    predictor: Predictor, X: CSR, row: int, labels: Iterable[int]
) -> dict[int, LabelContributions]:
    """Explain the scores of labels for the instance in a row, by label."""
    x = select_rows(X, np.array([row]))
    explanations = {}
    for label in labels:
        explanations[int(label)] = compute_contributions(predictor, x, int(label))
    return explanations


def find_pushing_words(
    predictor: Predictor, explanation: LabelContributions
) -> tuple[list[WeightedWord], list[WeightedWord]]:
    """Find the words that push a label up and down most, with their contributions."""
    first = explanation.up[:1] + explanation.down[:1]
    strongest = max((abs(value) for _, value in first), default=0)

    def name_strong(features: list[tuple[int, float]]) -> list[WeightedWord]:
        words = []
        for feature, value in features:
            if abs(value) > MIN_WORD_SHARE * strongest:
                words.append((_get_word(predictor, feature), value))
        return words

    up = name_strong(explanation.up[:MAX_WORDS_UP])
    down = name_strong(explanation.down[:MAX_WORDS_DOWN])
    return up, down


def sample_labels(
    predictor: Predictor, get_name: Callable[[int], str], amount: int = SAMPLED_LABELS
) -> list[dict[str, Any]]:
    """Describe some labels by their strongest words, from the most frequent to the rarest.

    The logarithms of their ranks by frequency are evenly spaced.
    """
    counts = np.where(predictor.model.trained, predictor.model.counts, 0)
    ranked = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    if not len(ranked):
        return []
    ranks = np.unique(np.geomspace(1, len(ranked), amount).astype(np.int64)) - 1
    return [_describe_label(predictor, int(label), get_name) for label in ranked[ranks]]


def _describe_label(
    predictor: Predictor, label: int, get_name: Callable[[int], str]
) -> dict[str, Any]:
    nearest = []
    for other, cosine in find_nearest_labels(predictor, label, NEAREST_OF_LABEL):
        nearest.append((get_name(other), cosine))
    return {
        "name": get_name(label),
        "positives": int(predictor.model.counts[label]),
        "words": list_strongest_words(predictor, label, WORDS_OF_LABEL),
        "nearest": nearest,
    }


def list_strongest_words(predictor: Predictor, label: int, amount: int) -> list[WeightedWord]:
    """List the features with the largest weights of a label."""
    up, _, _ = find_strongest_features(predictor, label, amount)
    return [(_get_word(predictor, feature), weight) for feature, weight in up]


def _get_word(predictor: Predictor, feature: int) -> str:
    names = predictor.feature_names
    if not names:
        return f"feature {feature}"
    return wording.plain(names[feature], MAX_NAME_CHARACTERS)


def show_labels(results: DatasetResults) -> dict[str, Any] | None:
    """Show some labels with their words; None where scores cannot be explained."""
    labels = results.examples.get("labels")
    if not labels:
        return None
    return {"run": results.best, "labels": labels}


SECTION = ReportSection("labels", "Labels and their words", show_labels, folded=True)
