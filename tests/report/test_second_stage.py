"""What a second stage is worth, and where it is not used, as the page shows them."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from finished_run import Folder
from sklearn.metrics import f1_score

from ovaflow.data.dataset import open_dataset
from ovaflow.prediction.predictions import Predictions
from ovaflow.report import second_stage
from ovaflow.report.gather import gather
from ovaflow.report.page import render
from ovaflow.reranking.answer_length import labels_that_fit
from ovaflow.reranking.evidence import GROUPS
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.storage.texts import write_json


@pytest.fixture(scope="module")
def results(finished):
    """Of a run with a second stage and of trees without one."""
    return gather([finished.path / name for name in ("msi", "forest")])[0]


@pytest.fixture(scope="module")
def ranking(finished):
    return Predictions.open(finished["predictions"]).ranking


def figures(table):
    return [[cell.value for cell in row.cells] for row in table.rows]


def test_quality_is_that_of_scores_of_probabilities_and_of_labels_that_fit(finished, results, ranking):
    content, metrics = second_stage.show("tiny", results), results.runs[0].metrics["first_stage"]
    by_score, by_probability, fit = figures(content["quality"])
    assert by_score[:4] == [metrics[name] for name in ("P@1", "P@3", "P@5", "nDCG@5")]
    Y = open_dataset(finished["dataset"]).test.Y.to_scipy().toarray() > 0
    hits = np.take_along_axis(Y, ranking.ids[:, :5], axis=1)
    assert by_probability[2] == pytest.approx(hits.mean()) != by_score[2]
    answers, amounts = np.zeros_like(Y), labels_that_fit(ranking.probabilities)
    for row, ids, amount in zip(answers, ranking.ids, amounts, strict=True):
        row[ids[:amount]] = True
    assert fit[4] == pytest.approx(f1_score(Y, answers, average="samples", zero_division=0))
    assert fit[7] == pytest.approx(amounts.mean())
    lost = Reranker.about(finished["reranker"]).parameters["check"]["lost"]
    assert figures(content["evidence"]) == [[lost[name]] for name in GROUPS]
    *_, (name, *point) = content["figures"][1].rows
    assert (name, point) == ("msi, labels that fit", pytest.approx([fit[7], 100 * fit[4]]))


def test_labels_for_macro_f1_have_a_row_of_their_own(finished, ranking, tmp_path):
    folder = Folder(shutil.copytree(finished.path, tmp_path / "tiny"))
    replace(Predictions.open(folder["predictions"]), ids=ranking.first_ids[:, :5]).write(folder["predictions"])
    table = second_stage.show("tiny", gather([folder.path / "msi"])[0])["quality"]
    ways = ["by score alone", "for macro-F1, first 5", "by probability, first 5", "labels that fit"]
    assert [row.hint for row in table.rows] == ways
    _, chosen, by_probability, _ = figures(table)
    shown = [value is not None for value in chosen + by_probability]
    assert shown == [True] * 4 + [False] * 8 + [True] * 4


def test_examples_show_probabilities_in_percent_and_shade_labels_that_fit(results, ranking):
    shaded = 0
    for example in results.examples:
        of_runs = dict(example.predictions)
        assert {label.fits for label in of_runs[1]} == {None}
        probabilities = ranking.probabilities[[example.row]]
        amount = min(labels_that_fit(probabilities)[0], 5)
        assert [label.fits for label in of_runs[0]] == [place < amount for place in range(5)]
        assert [label.score for label in of_runs[0]] == probabilities[0, :5].tolist()
        shaded += amount
    section = re.search('<section class="examples".*?</section>', render([results]), re.DOTALL)[0]
    # and once in the sentence that explains it
    assert section.count('class="fits"') == shaded + 1
    assert f"{100 * results.examples[0].predictions[0][1][0].score:.0f} %</data>" in section


def test_ranges_of_probability_with_few_labels_are_left_out(results):
    ((run, automatic, sure, lengths),) = second_stage.show("tiny", results)["tables"]
    measured = run.read["second-stage"]
    ranges = [each for group in measured["lengths"] for each in group["ranges"]]
    shown = [each["right"] for each in ranges if each["labels"] >= 10]
    rights = [value for row in figures(lengths) for value in row[1::2] if value is not None]
    assert sorted(rights) == sorted(shown)
    assert len(rights) < len(ranges)
    for table, name, level in ((automatic, "automatic", "probability"), (sure, "sure", "level")):
        assert [row.name for row in table.rows] == [f"at least {100 * each[level]:g} %" for each in measured[name]]
    assert [row[2] for row in figures(sure)] == [each["labels"] for each in measured["sure"]]
    assert "Which records can go without a look?" in render([results])


def test_the_page_says_why_a_second_stage_is_not_used(runs, tmp_path):
    run = shutil.copytree(runs[0].parent, tmp_path / "mine") / runs[0].name
    assert "predict: {rerank: 0.2}" in render(gather([run]))
    unused = {"reranker": "one", "fitted": {"unused": "<b> was held out"}}
    write_json(run / "reliability.json", "reliability", unused)
    # of an earlier run, which had one
    assert '<section class="second-stage"' not in render(gather([run]))
    predictions = Predictions.open(path := run / "predictions.h5")
    replace(predictions, inputs=predictions.inputs | {"reranker": "one"}).write(path)
    page = render(gather([run]))
    assert "The second stage of <bdi>msi</bdi> is not used: &lt;b&gt; was held out." in page
    assert "Run again with" not in page
