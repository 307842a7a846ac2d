"""Files of a run that ``ovaflow evaluate`` writes, against those that it reads."""

import json
from dataclasses import replace

import naive
import numpy as np
import pytest
from commands import ovaflow
from sklearn.metrics import ndcg_score

from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation.metrics import evaluate, measure
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.training_file import Training
from ovaflow.prediction.predictions import Predictions
from ovaflow.settings.train import Propensities


@pytest.fixture(scope="module")
def files(finished):
    """Predictions by score alone, and what they were made from."""
    dataset = open_dataset(finished["dataset"])
    model = OneVsAll.open(finished["model"])
    predictions = Predictions.open(finished["predictions"])
    first = replace(predictions, ids=predictions.ranking.first_ids[:, :5], ranking=None)
    return first, dataset, model, Training.open(finished["training"])


def test_metrics_are_those_of_the_files(finished, files, tmp_path) -> None:
    written = json.loads(finished["metrics"].read_text())
    predictions, dataset, model, training = files
    Y = dataset.test.Y.to_scipy().toarray()
    inverse = dataset.inverse_propensity(written["propensity_a"], written["propensity_b"])
    by_probability = Predictions.open(finished["predictions"]).ids
    for ours, ids in ((written, by_probability), (written["first_stage"], predictions.ids)):
        theirs = naive.ranking_metrics(ids, Y, inverse, 3)
        assert {name: ours[f"{name}@3"] for name in theirs} == pytest.approx(theirs)
    scores = dataset.test.X.to_scipy() @ model.weights.to_scipy().toarray().T
    assert written["first_stage"]["nDCG@5"] == pytest.approx(ndcg_score(Y, scores, k=5), rel=1e-6)
    theirs = {
        "instances_without_labels": (~Y.any(axis=1)).sum(),
        "labels_trained": model.trained.sum(),
        "nonzeros": len(model.weights.data),
        "newton_steps": training.statistics["newton_steps"].sum(),
        "train_seconds": training.core_seconds,
    }
    assert written.items() >= theirs.items()
    options = [f"--{name}={finished[name]}" for name in ("dataset", "model", "training")]
    outputs = [f"--{name}={tmp_path / name}" for name in ("output", "analysis")]
    said = ovaflow("evaluate", finished["predictions"], options, outputs, "--metrics=annif")
    assert f": P@1/3/5 {100 * written['P@1']:.1f}/{100 * written['P@3']:.1f}/" in said
    assert f"Precision@1                    {written['P@1']:.4f}\n" in said
    bins = json.loads((tmp_path / "analysis").read_text())["bins"]
    assert sum(group["precision"] for group in bins) == pytest.approx(written["P@5"])


@pytest.mark.parametrize(
    "asked", [[], ["output"], ["analysis"], ["labels", "errors"], ["metrics=annif"]]
)
def test_only_files_that_were_asked_for_are_written(finished, tmp_path, asked) -> None:
    before = sorted(finished.path.rglob("*"))
    options = [f"--{name}={finished[name]}" for name in ("dataset", "model", "training")]
    names = [name for name in asked if "=" not in name]
    options += [f"--{name}={tmp_path / name}" for name in names]
    options += [f"--{name}" for name in asked if "=" in name]
    said = ovaflow("evaluate", finished["predictions"], options)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert sorted(finished.path.rglob("*")) == before
    subject = tmp_path / "output" if "output" in asked else finished["predictions"]
    assert said.startswith(f"{subject}: P@1/3/5 ")


def test_instances_with_a_near_twin_are_also_left_out(files) -> None:
    predictions, dataset, *others = files
    twins = np.arange(dataset.test.Y.n_rows) % 5 == 0
    changed = replace(dataset, test=replace(dataset.test, twins=twins))
    model, training = others
    metrics = evaluate(
        measure(predictions, changed, model, Propensities()), predictions, changed, model, training
    )
    Y = dataset.test.Y.to_scipy().toarray()[~twins]
    theirs = naive.ranking_metrics(predictions.ids[~twins], Y, np.ones(Y.shape[1]), 3)["P"]
    assert metrics["without_near_twins"]["P@3"] == pytest.approx(theirs)
    assert metrics["instances_with_near_twin"] == twins.sum()
