"""Figures on the dev part of a dataset, by models with and without a second stage."""

from dataclasses import replace

import naive
import numpy as np
import pytest

from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.metrics import evaluate
from ovaflow.model.model_file import open_any_model
from ovaflow.model.training_file import Training
from ovaflow.prediction.predictions import Predictions, predict_test_set, with_second_stage


@pytest.fixture(params=["model", "forest", "embedded"])
def run(finished, request):
    """A dataset, a model of it and its training."""
    model, name = open_any_model(finished[request.param]), request.param
    if name == "model":
        model = with_second_stage(model, finished["reranker"])
    training = Training.open(finished["training" if name == "model" else f"{name}_training"])
    return open_dataset(finished["dataset"]), model, training


def measured(run, rows, path):
    """Metrics where some of the test instances are the dev part, and predictions of it as they are read again."""
    dataset, model, training = run
    dataset = replace(dataset, dev=dataset.test.take(rows))
    predict_test_set(model, dataset, 5).write(path)
    predictions = Predictions.open(path)
    return evaluate(predictions, dataset, model, training, 0.55, 1.5), predictions


def test_figures_are_those_that_the_same_instances_have_as_a_test_set(run, tmp_path):
    metrics, predictions = measured(run, np.arange(run[0].test.X.n_rows), tmp_path / "predictions.h5")
    np.testing.assert_array_equal(predictions.dev.ids, predictions.ids)
    np.testing.assert_array_equal(predictions.dev.scores, predictions.scores)
    theirs = {name: metrics[name] for name in metrics["dev"]}
    assert metrics["dev"] == theirs
    assert {"P@1", "PSP@5", "intervals"} <= theirs.keys()
    assert ("F1-fit" in theirs) == (predictions.ranking is not None) == (predictions.dev.ranking is not None)


def test_figures_of_some_instances(run, tmp_path):
    rows = np.arange(0, run[0].test.X.n_rows, 3)
    metrics, predictions = measured(run, rows, tmp_path / "predictions.h5")
    ours, Y = metrics["dev"], run[0].test.Y.to_scipy().toarray()[rows]
    theirs = naive.ranking_metrics(predictions.dev.ids, Y, run[0].inverse_propensity(0.55, 1.5), 3)
    assert {name: ours[f"{name}@3"] for name in theirs} == pytest.approx(theirs)
    assert ours["instances"] == len(rows)
    assert ours["intervals"] != metrics["intervals"]


def test_a_dev_part_without_labels_has_no_figures(run, tmp_path):
    dataset, *others = run
    Y = dataset.test.Y
    bare = replace(dataset.test, Y=Y._replace(data=Y.data[:0], indices=Y.indices[:0], indptr=0 * Y.indptr))
    metrics, predictions = measured((replace(dataset, test=bare), *others), np.arange(3), tmp_path / "predictions.h5")
    assert predictions.dev.ids.shape == (3, 5)
    assert "dev" not in metrics
