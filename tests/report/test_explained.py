"""Words behind predictions, and the calibration, as the page shows them."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from ovaflow.data.dataset import open_dataset
from ovaflow.data.tfidf import TOKEN_PATTERN
from ovaflow.evaluation.calibration_curve import reliability
from ovaflow.prediction.calibration import Calibration, read_calibration, write_calibration
from ovaflow.prediction.explanation import contributions
from ovaflow.prediction.methods import open_any_model
from ovaflow.prediction.predictions_file import read_predictions
from ovaflow.report import explained
from ovaflow.report.gather import gather
from ovaflow.report.page import render
from ovaflow.report.resources import find_benchmarks
from ovaflow.sparse.csr import rows_of
from ovaflow.storage.texts import write_json


@pytest.fixture(scope="module")
def predictor(runs):
    number, predictor = explained.first_explained(runs)
    assert number == 0
    predictor.model.parameters["transform"] |= {"token_pattern": TOKEN_PATTERN}
    return predictor


def test_pieces_are_the_text_and_marks_speak_for_labels(runs, predictor):
    dataset = open_dataset(runs[0].parent / "dataset.h5")
    predicted = read_predictions(runs[0] / "predictions.h5").ids
    marked = {"hit": 0, "miss": 0}
    for row in range(30):
        (text,) = dataset.test_texts([row])
        labels = predicted[row]
        true = set(dataset.test.Y.indices[slice(*dataset.test.Y.indptr[row : row + 2])].tolist())
        parts = explained.parts_of(predictor, dataset.test.X, row, labels)
        pieces = explained.cut_text(predictor, text, parts, true)
        assert "".join(piece.text for piece in pieces) == text
        x = rows_of(dataset.test.X, np.array([row]))
        theirs = {label: dict(contributions(predictor, x, int(label)).up) for label in labels.tolist()}
        for piece in pieces:
            if piece.kind:
                marked[piece.kind] += 1
                word = predictor.model.feature_ids[piece.text.lower()]
                speaking = max(theirs, key=lambda label: theirs[label].get(word, 0))
                assert (speaking in true) == (piece.kind == "hit")
                assert explained.LEAST_MARK <= piece.strength <= 1
    assert min(marked.values()) > 5


def test_words_of_a_prediction_are_the_strongest(predictor):
    parts = {0: 0.5, 1: -0.4, 2: 0.01, 3: 0.3, 4: 0.2, 5: 0.1, 6: 0.05, 7: -0.3, 8: -0.2}
    up, down = explained.words_of(predictor, parts)
    names = predictor.feature_names
    assert up == [(names[0], 0.5), (names[3], 0.3), (names[4], 0.2), (names[5], 0.1)]
    assert down == [(names[1], -0.4), (names[7], -0.3)]


def test_sampled_labels_go_from_head_to_tail(predictor):
    labels = explained.sample_labels(predictor, lambda label: f"number {label}", 6)
    counts = [label.positives for label in labels]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == predictor.model.counts.max()
    assert counts[-1] == predictor.model.counts[predictor.model.trained].min()
    by_name = {label.name: label for label in labels}
    assert len(by_name) == len(labels)
    assert max(labels[0].words, key=lambda word: word[1]) == labels[0].words[0]
    assert all(0 < cosine <= 1 for label in labels for _, cosine in label.nearest)


def test_only_the_first_run_is_explained(runs):
    section = gather(runs)[0]
    assert section.explained == 0
    words = [
        [bool(prediction.up) for example in section.examples for prediction in dict(example.predictions)[number]]
        for number in (0, 1)
    ]
    assert np.mean(words[0]) > 0.9
    assert not any(words[1])


@pytest.fixture
def calibrated(runs, tmp_path):
    """The runs, the first of them with a calibration and what it was measured to be."""
    shutil.copytree(runs[0].parent, tmp_path / "mine")
    folders = [tmp_path / "mine" / run.name for run in runs]
    model = open_any_model(folders[0] / "model.h5")
    arrays = [np.full(model.n_labels, value, np.float32) for value in (3, 1, 0)]
    parameters = {"fraction": 0.2, "instances": 60}
    path = folders[0] / "calibration.h5"
    write_calibration(path, Calibration(*arrays, parameters, {"model": model.checksum}))
    rng = np.random.default_rng(0)
    p = rng.random(600)
    ways = [{"name": name, **reliability(p, rng.random(600) < p)} for name in ("scores", "one", "each <b>")]
    f1 = [{"name": "a threshold", "macro-F1": 0.25, "micro-F1": 0.5, "predicted": 3.5}]
    measured = {"calibration": read_calibration(path).checksum, "k": 5, "probabilities": ways, "thresholds": f1}
    write_json(folders[0] / "calibration.json", "calibration-curve", measured)
    return folders


def test_a_calibrated_run_has_its_section(calibrated):
    sections = gather(calibrated)
    assert [run.calibration is not None for run in sections[0].runs] == [True, False]
    listed = [dict(example.predictions) for example in sections[0].examples]
    probabilities = [each.probability for predictions in listed for each in predictions[0]]
    scores = [each.score for predictions in listed for each in predictions[0]]
    assert probabilities == pytest.approx(expit(3 * np.array(scores) + 1), rel=1e-5)
    assert {each.probability for predictions in listed for each in predictions[1]} == {None}
    page = render(sections)
    assert "Probabilities and thresholds" in page
    assert "each &lt;b&gt;" in page
    assert "60 (20 %) for <bdi>msi</bdi>" in page
    assert "25.00" in page


def test_a_calibration_of_another_model_is_passed_over(calibrated):
    path = calibrated[0] / "calibration.h5"
    write_calibration(path, replace(read_calibration(path), inputs={"model": "another"}))
    assert gather(calibrated)[0].runs[0].calibration is None
    assert "Probabilities and thresholds" not in render(gather(calibrated))


def test_resources_of_the_second_training_stand_apart(runs, tmp_path):
    for path in ("means.tsv", "msi/merge.tsv", "held-out-0.2/means.tsv", "held-out-0.2/msi/merge.tsv"):
        (tmp_path / "mine" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / path).touch()
    found = {name: len(files) for name, files in find_benchmarks(runs, tmp_path)}
    assert found == {"": 1, "msi": 1, "dismec": 0, "held-out-0.2": 2}
