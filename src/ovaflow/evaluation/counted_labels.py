"""Which ranked labels count as predicted, wherever right, wrong and missed labels are counted."""

from typing import NamedTuple

import numpy as np

from ovaflow.reranking.answer_length import FIRST, count_as_predicted


class CountedLabels(NamedTuple):
    """Ranked labels of each record, and which of them count as predicted."""

    ids: np.ndarray  # int32 (n, k), by falling value; -1 for none
    values: np.ndarray  # float32 (n, k); probabilities with a second stage, scores without one
    predicted: np.ndarray  # bool (n, k)
    rule: str  # names the labels that count, for people: "the labels that fit"


def count_predicted_labels(predictions):
    """Count the labels that fit as predicted where a second stage knows them, and otherwise the first ones."""
    probabilistic = predictions.ranking is not None
    if probabilistic:
        ids, values = predictions.ranking.ids, predictions.ranking.probabilities
    else:
        ids, values = predictions.ids, predictions.scores
    predicted = count_as_predicted(ids, values, probabilistic)
    return CountedLabels(ids, values, predicted, rule_in_words(probabilistic, ids.shape[1]))


def rule_in_words(probabilistic, k=FIRST):
    """Name the labels of each record that count as predicted, of k ranked ones."""
    return "the labels that fit" if probabilistic else f"the first {min(FIRST, k)} labels"
