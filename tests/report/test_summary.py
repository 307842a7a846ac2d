"""The summary: the best run, and its quality in words."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from finished_run import RunFolder

from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.prediction.predictions import Predictions
from ovaflow.report import run_settings, summary
from ovaflow.report.gather import DatasetResults, gather_results
from ovaflow.report.tables import find_as_good_as_best, find_surely_best
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.reranked_model import Ranking
from ovaflow.sparse.csr import from_scipy


@pytest.fixture(scope="module")
def results(finished) -> DatasetResults:
    """Two runs; the first one, of trees, is worse than the second one."""
    return gather_results([finished.path / "forest", finished.path / "msi"])[0]


def test_sentences_and_texts_are_those_of_the_best_run(results) -> None:
    assert results.best.name == "msi"
    content = summary.show_summary(results)
    text = " ".join(content["sentences"])
    assert f"Of 100 texts, {100 * results.best.metrics['P@1']:.0f} get a right first label." in text
    assert results.examples["texts"][0].predicted[0].value <= 1
    assert content["compared"] == {"metric": "nDCG@5", "as_good": [], "all": False}


def test_shares_of_labels_are_those_of_all_labels_not_means_over_texts() -> None:
    # one text with one label, which is right, and one with four labels, which are all wrong
    ids = np.array([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]], np.int32)
    probabilities = np.array([[1, 0, 0, 0, 0], [0.5, 0.5, 0.5, 0.5, 0]], np.float32)
    true = np.zeros((2, 10))
    true[0, 0] = 1
    true[1, 1:4] = 1
    predictions = SimpleNamespace(ids=ids, ranking=Ranking(ids, probabilities, ids, probabilities))
    measured = EvaluatedPredictions.from_predictions(predictions, from_scipy(true), np.ones(10))
    best = SimpleNamespace(
        reranked=True,
        has_test_labels=True,
        measured=measured,
        metrics=measured.metrics(),
        read=lambda reader: reader(best),
    )
    # people assigned six more labels, which no model knows
    results = SimpleNamespace(
        best=best,
        data=SimpleNamespace(noun="texts"),
        assigned_labels=SimpleNamespace(labels=10),
    )
    text = " ".join(summary.describe_quality(results))
    assert text == (
        "Of 100 texts, 50 get a right first label. It suggests 2.50 labels on average: of 100 of "
        "these 20 are right, and of 100 labels that people assigned 10 are among them."
    )


def test_answers_that_can_go_without_a_person_against_the_predictions(finished, results) -> None:
    ranking = Predictions.open(finished["predictions"]).ranking
    Y = open_dataset(finished["dataset"]).test.Y.to_scipy().toarray() > 0
    amounts = count_fitting_labels(ranking.probabilities)
    sure = 0
    labels = 0
    right = 0
    for row, amount in enumerate(amounts):
        if amount and ranking.probabilities[row, :amount].mean() >= summary.SURE_PRECISION:
            sure += 1
            labels += amount
            right += Y[row, ranking.ids[row, :amount]].sum()
    text = " ".join(summary.show_summary(results)["sentences"])
    sure_of_100 = f"{100 * sure / len(Y):.0f}"
    assert f"{sure_of_100} of 100 answers are sure enough to be used unchecked" in text
    # a share below 1 is not rounded to 100 of 100
    assert 0.99 < right / labels < 1
    assert "of 100 of their labels more than 99 are right" in text


def test_best_and_as_good() -> None:
    random = np.random.default_rng(0)
    low = random.normal(0.3, 0.01, 1000)
    high = random.normal(0.5, 0.01, 1000)
    near = high + random.normal(-0.001, 0.01, 1000)
    assert find_as_good_as_best([0.3, 0.5, 0.499, None], [low, high, near, None]) == [1, 2]
    # all that are surely better than the others are marked, and none where all are equal
    assert find_surely_best([0.3, 0.5, 0.499, None], [low, high, near, None]) == [1, 2]
    assert find_surely_best([0.5, 0.499, None], [high, near, None]) == []
    assert find_surely_best([0.5], [high]) == []


def test_settings_after_training_differ_too(finished, tmp_path) -> None:
    folder = RunFolder(shutil.copytree(finished.path, tmp_path / "tiny"))
    path = folder["predictions"]
    copy = shutil.copytree(folder.path / "msi", folder.path / "for-macro-F1")
    ranking = Predictions.open(path).ranking
    changed = replace(
        Predictions.open(path), ids=ranking.first_ids[:, :4], scores=ranking.scores[:, :4]
    )
    changed.write(copy / "predictions.h5")
    paths = [folder.path / name for name in ("msi", "for-macro-F1", "forest")]
    (results,) = gather_results(paths)
    table = run_settings.show_settings(results)["table"]
    shown = {row.name: [cell.text for cell in row.cells] for row in table.rows}
    assert shown["optimise"] == ["–", "macro-F1", "–"]
    assert shown["rerank"] == ["0.6", "0.6", "0"]
