"""Calibration from held-out instances to its measurement, on the command line, against scikit-learn's figures."""

import json

import numpy as np
import pytest
from scipy.special import expit
from sklearn.calibration import calibration_curve
from sklearn.linear_model import Ridge
from sklearn.metrics import brier_score_loss, f1_score, log_loss, precision_score, recall_score
from synthetic import topics, write_weights

from ovaflow.cli import main
from ovaflow.data.dataset import Split, open_dataset, write_dataset
from ovaflow.evaluation.calibration_curve import LEVELS, reliability
from ovaflow.evaluation.ranking import find_hits
from ovaflow.prediction.calibration import read_calibration
from ovaflow.prediction.predictions import open_any_model, read_predictions
from ovaflow.sparse.csr import rows_of


def test_reliability_like_scikit_learn():
    rng = np.random.default_rng(0)
    p = rng.beta(0.4, 2, 5000)
    hits = rng.random(5000) < p**1.3
    ours = reliability(p, hits)
    assert ours["log_loss"] == pytest.approx(log_loss(hits, p))
    assert ours["brier"] == pytest.approx(brier_score_loss(hits, p))
    theirs = calibration_curve(hits, p, n_bins=15)
    assert [each["hits"] for each in ours["bins"]] == pytest.approx(theirs[0])
    assert [each["probability"] for each in ours["bins"]] == pytest.approx(theirs[1])
    weights = np.array([each["predictions"] for each in ours["bins"]])
    assert ours["ece"] == pytest.approx(np.average(np.abs(theirs[0] - theirs[1]), weights=weights))


def _run(name, *arguments):
    assert main([name, *map(str, arguments)]) == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A dataset, its model, and the model of what is not held out: least squares, which is fast."""
    folder = tmp_path_factory.mktemp("calibrated")
    made = topics(n=4000, d=800, n_labels=40)
    parts = [
        Split(*(rows_of(matrix, rows) for matrix in (made.train.X, made.train.Y)))
        for rows in (np.arange(3000), np.arange(3000, 4000))
    ]
    write_dataset(folder / "dataset.h5", *parts, [f"label {j}" for j in range(40)], [], {"bias": 1.0})
    _run("hold-out", folder / "dataset.h5", "--fraction=0.4", f"--output={folder}/held-out.h5")
    for data in ("dataset", "held-out"):
        given = folder / f"{data}.h5"
        model = folder / f"of-{data}" / "model.h5"
        dataset = open_dataset(given)
        X, Y = (matrix.to_scipy().toarray() for matrix in (dataset.train.X, dataset.train.Y))
        weights = Ridge(1.0, fit_intercept=False).fit(X, 2 * Y - 1).coef_
        write_weights(model, dataset, weights, train={"method": "one-vs-all"})
        _run("predict", model, f"--dataset={given}", "--top-k=100", f"--output={model.parent}/predictions.h5")
    return folder


@pytest.fixture(scope="module")
def calibrated(folder):
    held_out = f"--held-out={folder}/held-out.h5", f"--predictions={folder}/of-held-out/predictions.h5"
    _run("calibrate", folder / "of-dataset" / "model.h5", *held_out, f"--output={folder}/calibration.h5")
    inputs = f"--calibration={folder}/calibration.h5", f"--dataset={folder}/dataset.h5"
    _run("calibration-curve", folder / "of-dataset" / "model.h5", *inputs, f"--output={folder}/calibration.json")
    return read_calibration(folder / "calibration.h5", open_any_model(folder / "of-dataset" / "model.h5"))


def test_probabilities_are_better_than_scores(folder, calibrated):
    measured = json.loads((folder / "calibration.json").read_text())
    raw, one, each = measured["probabilities"]
    assert each["ece"] < 0.03
    assert each["log_loss"] <= one["log_loss"] + 1e-3
    assert each["log_loss"] < raw["log_loss"]
    # the best 5 labels of each test instance, as scikit-learn measures them
    predictions = read_predictions(folder / "of-dataset" / "predictions.h5")
    ids, scores = predictions.ids[:, :5], predictions.scores[:, :5]
    hits = find_hits(ids, open_dataset(folder / "dataset.h5").test.Y).ravel()
    probabilities = calibrated.probabilities(ids, scores).ravel()
    assert each["brier"] == pytest.approx(brier_score_loss(hits, probabilities))
    assert raw["log_loss"] == pytest.approx(log_loss(hits, expit(scores.ravel().astype(float))))


def test_f1_at_the_thresholds_like_scikit_learn(folder, calibrated):
    ways = json.loads((folder / "calibration.json").read_text())["thresholds"]
    dataset, model = open_dataset(folder / "dataset.h5"), open_any_model(folder / "of-dataset" / "model.h5")
    scores = (dataset.test.X.to_scipy() @ model.weights.to_scipy().T).toarray()
    scores[:, ~model.trained] = -np.inf
    truth = dataset.test.Y.to_scipy().toarray()
    some = truth.any(axis=0)
    for way, threshold in ((ways[0], 0), (ways[-1], calibrated.thresholds)):
        chosen = scores >= threshold
        assert way["micro-F1"] == pytest.approx(f1_score(truth, chosen, average="micro", zero_division=0), abs=1e-3)
        theirs = f1_score(truth[:, some], chosen[:, some], average="macro", zero_division=0)
        assert way["macro-F1"] == pytest.approx(theirs, abs=1e-3)
        assert way["predicted"] == pytest.approx(chosen.sum(axis=1).mean(), abs=1e-2)
    assert ways[-1]["macro-F1"] > ways[0]["macro-F1"]


def test_labels_by_least_probability_like_scikit_learn(folder, calibrated):
    levels = json.loads((folder / "calibration.json").read_text())["automatic"]
    dataset, model = open_dataset(folder / "dataset.h5"), open_any_model(folder / "of-dataset" / "model.h5")
    scores = (dataset.test.X.to_scipy() @ model.weights.to_scipy().T).toarray()
    probabilities = calibrated.probabilities(np.broadcast_to(np.arange(40), scores.shape), scores)
    truth = dataset.test.Y.to_scipy().toarray()
    assert [level["probability"] for level in levels] == list(LEVELS)
    for level in levels:
        chosen = probabilities >= level["probability"]
        if not chosen.any():
            assert level["probability"] >= 0.9
            assert (level["precision"], level["predictions"]) == (None, 0)
            continue
        assert level["precision"] == pytest.approx(precision_score(truth, chosen, average="micro"), abs=1e-3)
        assert level["recall"] == pytest.approx(recall_score(truth, chosen, average="micro"), abs=1e-3)
        assert level["expected"] == pytest.approx(probabilities[chosen].mean(), abs=1e-3)
        assert level["instances"] == pytest.approx(chosen.any(axis=1).mean(), abs=1e-3)
        assert level["labels"] == pytest.approx(chosen.sum(axis=1).mean(), abs=1e-3)


def test_thresholds_and_probabilities_without_a_label(calibrated):
    assert calibrated.probabilities([[-1, 0]], np.float32([[-np.inf, 50]])).tolist() == [[0, 1]]
    assert calibrated.chosen([-1], [-np.inf]).tolist() == [False]
