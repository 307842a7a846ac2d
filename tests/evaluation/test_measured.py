"""Labels that fit count as predicted where a second stage knows them, otherwise the first five."""

from types import SimpleNamespace

import numpy as np
import pytest

from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.reranked_model import Ranking
from ovaflow.sparse.csr import from_scipy

IDS = np.array([[3, 1, 4, 0, 5, 2, 6], [6, 2, 0, -1, -1, -1, -1]], np.int32)
VALUES = np.array(
    [[0.9, 0.8, 0.1, 0.1, 0.1, 0.0, 0.0], [0.4, 0.3, 0.2, *[-np.inf] * 4]], np.float32
)

Y = from_scipy(np.eye(2, 7))


@pytest.mark.parametrize(("k", "amounts"), [(7, [5, 3]), (3, [3, 3])])
def test_the_first_labels_count_without_a_second_stage(k, amounts) -> None:
    predictions = SimpleNamespace(ids=IDS[:, :k], scores=VALUES[:, :k], ranking=None)
    counted = EvaluatedPredictions.from_predictions(predictions, Y)
    assert counted.predicted.sum(axis=1).tolist() == amounts
    assert counted.rule == f"the first {min(k, 5)} labels"
    assert counted.candidates.ids is predictions.ids


def test_labels_that_fit_count_with_a_second_stage_whatever_was_asked_for() -> None:
    ranking = Ranking(IDS, VALUES, IDS[:, :1], VALUES[:, :1])
    counted = EvaluatedPredictions.from_predictions(
        SimpleNamespace(ids=IDS[:, :1], scores=VALUES[:, :1], ranking=ranking), Y
    )
    fit = count_fitting_labels(VALUES)
    assert counted.predicted.tolist() == (np.arange(7) < fit[:, None]).tolist()
    assert fit[0] == 2
    assert counted.rule == "the labels that fit"
