"""Labels with scores above 0, of a model without second stage: like scikit-learn, on the test and
the dev part.
"""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation.metrics import evaluate, measure
from ovaflow.model.model_file import open_any_model
from ovaflow.model.training_file import Training
from ovaflow.prediction.predictions import Predictions, predict_test_set
from ovaflow.settings.train import Propensities
from ovaflow.storage.texts import read_json

SCORES = {"P": precision_score, "R": recall_score, "F1": f1_score}


def test_labels_above_zero_like_scikit_learn(finished, tmp_path) -> None:
    model = open_any_model(finished["model"])
    dataset = open_dataset(finished["dataset"])
    rows = np.arange(0, dataset.test.X.n_rows, 3)
    dataset = replace(dataset, dev=dataset.test.take(rows))
    predict_test_set(model, dataset, 4).write(tmp_path / "predictions.h5")
    predictions = Predictions.open(tmp_path / "predictions.h5")
    measured = measure(predictions, dataset, model, Propensities())
    ours = evaluate(measured, predictions, dataset, model, Training.open(finished["training"]))
    true = dataset.test.Y.to_scipy().toarray() > 0
    chosen = np.zeros_like(true)
    row, place = np.nonzero(predictions.scores > 0)
    chosen[row, predictions.ids[row, place]] = True
    for part, some in ((ours, slice(None)), (ours["dev"], rows)):
        for name, score in SCORES.items():
            theirs = score(true[some], chosen[some], average="samples", zero_division=0)
            assert part[f"{name}-above-0"] == pytest.approx(theirs)
        assert part["labels-above-0"] == chosen[some].sum(axis=1).mean()
        low, high = part["intervals"]["F1-above-0"]
        assert low < part["F1-above-0"] < high
    assert "F1-fit" not in ours


@pytest.mark.parametrize("kind", ["metrics", "forest_metrics", "embedded_metrics"])
def test_probabilities_and_other_methods_have_no_labels_above_zero(finished, kind) -> None:
    assert not any("above-0" in name for name in read_json(finished[kind], "metrics"))
