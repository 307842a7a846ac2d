"""Figures on the dev part of a dataset, by a model with a second stage."""

from dataclasses import replace

import naive
import numpy as np
import pytest

from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation.metrics import evaluate, measure
from ovaflow.model.model_file import open_any_model
from ovaflow.model.training_file import Training
from ovaflow.prediction.predictions import Predictions, attach_second_stage, predict_test_set
from ovaflow.settings.train import Propensities


def test_figures_of_instances_that_are_also_tested(finished, tmp_path) -> None:
    model = attach_second_stage(open_any_model(finished["model"]), finished["reranker"])
    dataset = open_dataset(finished["dataset"])
    rows = np.arange(0, dataset.test.X.n_rows, 3)
    dataset = replace(dataset, dev=dataset.test.take(rows))
    predict_test_set(model, dataset, 5).write(tmp_path / "predictions.h5")
    predictions = Predictions.open(tmp_path / "predictions.h5")
    np.testing.assert_array_equal(predictions.dev.ids, predictions.ids[rows])
    measured = measure(predictions, dataset, model, Propensities())
    ours = evaluate(measured, predictions, dataset, model, Training.open(finished["training"]))[
        "dev"
    ]
    inverse = dataset.inverse_propensity(0.55, 1.5)
    theirs = naive.ranking_metrics(
        predictions.ids[rows], dataset.dev.Y.to_scipy().toarray(), inverse, 3
    )
    assert {name: ours[f"{name}@3"] for name in theirs} == pytest.approx(theirs)
