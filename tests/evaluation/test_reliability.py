"""Figures of probabilities and of answers against scikit-learn's and plain loops."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss, precision_score, recall_score

from ovaflow.evaluation.reliability import (
    PROBABILITY_LEVELS,
    measure_answer_lengths,
    measure_assigned_labels,
    measure_calibration,
)
from ovaflow.reranking.answer_length import count_fitting_labels


@pytest.fixture(scope="module")
def probabilities_and_hits() -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of all labels of texts by falling value, and which are right."""
    rng = np.random.default_rng(0)
    probabilities = -np.sort(-rng.beta(0.4, 2, (500, 8)), axis=1)
    return probabilities, rng.random((500, 8)) < probabilities**1.3


def test_reliability_like_scikit_learn(probabilities_and_hits) -> None:
    p, hits = [array.ravel() for array in probabilities_and_hits]
    ours = measure_calibration(p, hits)
    said, right, amounts = np.transpose([[*each.values()] for each in ours.pop("bins")])
    np.testing.assert_allclose((right, said), calibration_curve(hits, p, n_bins=15))
    gap = np.average(np.abs(right - said), weights=amounts)
    assert ours == pytest.approx(
        {"log_loss": log_loss(hits, p), "brier": brier_score_loss(hits, p), "ece": gap}
    )


def test_labels_by_least_probability_like_scikit_learn(probabilities_and_hits) -> None:
    p, hits = probabilities_and_hits
    # four true labels are no candidate
    for row, level in zip(
        measure_assigned_labels(p, hits, hits.sum() + 4), PROBABILITY_LEVELS, strict=True
    ):
        chosen = p >= level
        recall = recall_score(hits, chosen, average="micro")
        theirs = {
            "probability": level,
            "predictions": chosen.sum(),
            "expected": p[chosen].mean(),
            "precision": precision_score(hits, chosen, average="micro"),
            "recall": recall * hits.sum() / (hits.sum() + 4),
            "instances": chosen.any(axis=1).mean(),
            "labels": chosen.sum(axis=1).mean(),
        }
        assert row == pytest.approx(theirs)
    assert measure_assigned_labels(p / 3, hits, 9)[-1]["precision"] is None


def test_answers_by_number_of_labels(probabilities_and_hits) -> None:
    p, hits = probabilities_and_hits
    rows = measure_answer_lengths(p, hits, hits.sum(axis=1))
    assert [(row["name"], row["labels"]) for row in rows[:-1]] == [
        (str(amount), amount) for amount in range(1, 9)
    ]
    assert rows[-1]["name"] == "fit"
    assert rows[-1]["labels"] == pytest.approx(count_fitting_labels(p).mean())
    assert rows[-1]["F1"] > max(row["F1"] for row in rows[:-1])
    assert rows[7]["R"] == pytest.approx(hits.any(axis=1).mean())
