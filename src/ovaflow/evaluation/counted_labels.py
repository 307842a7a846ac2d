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
    ranking = predictions.ranking
    if ranking is None:
        ids, values = predictions.ids, predictions.scores
        rule = f"the first {min(FIRST, ids.shape[1])} labels"
    else:
        ids, values = ranking.ids, ranking.probabilities
        rule = "the labels that fit"
    predicted = count_as_predicted(ids, values, probabilistic=ranking is not None)
    return CountedLabels(ids, values, predicted, rule)
