"""Quality with a second stage, and the reason why one is not used, as the page shows them."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from finished_run import RunFolder
from plain_evidence import PLAIN_KINDS
from sklearn.metrics import f1_score

from ovaflow.dataset.dataset import open_dataset
from ovaflow.prediction.predictions import Predictions
from ovaflow.report import second_stage
from ovaflow.report.gather import DatasetResults, gather_results
from ovaflow.report.page import render_page
from ovaflow.report.tables import Table
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.reranked_model import Ranking
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.storage.texts import write_json


@pytest.fixture(scope="module")
def results(finished) -> DatasetResults:
    """A run with a second stage, and a run of trees without one."""
    return gather_results([finished.path / "msi", finished.path / "forest"])[0]


@pytest.fixture(scope="module")
def ranking(finished) -> Ranking:
    return Predictions.open(finished["predictions"]).ranking


def list_values(table: Table) -> list[list]:
    """List the figures of a table, row by row."""
    rows = []
    for row in table.rows:
        rows.append([cell.value for cell in row.cells])
    return rows


def test_quality_is_that_of_scores_of_probabilities_and_of_labels_that_fit(
    finished, results, ranking
) -> None:
    content = second_stage.show_second_stage(results)
    metrics = results.runs[0].metrics["first_stage"]
    by_score, by_probability, fit = list_values(content["quality"])
    assert by_score[:4] == [metrics[name] for name in ("P@1", "P@3", "P@5", "nDCG@5")]
    Y = open_dataset(finished["dataset"]).test.Y.to_scipy().toarray() > 0
    hits = np.take_along_axis(Y, ranking.ids[:, :5], axis=1)
    assert by_probability[2] == pytest.approx(hits.mean()) != by_score[2]
    answers = np.zeros_like(Y)
    amounts = count_fitting_labels(ranking.probabilities)
    for row, ids, amount in zip(answers, ranking.ids, amounts, strict=True):
        row[ids[:amount]] = True
    assert fit[4] == pytest.approx(f1_score(Y, answers, average="samples", zero_division=0))
    assert fit[7] == pytest.approx(amounts.mean())
    lost = Reranker.open_header(finished["reranker"]).parameters["check"]["lost"]
    assert list_values(content["evidence"]) == [[lost[kind.name]] for kind in PLAIN_KINDS]


def test_labels_for_macro_f1_have_a_row_of_their_own(finished, ranking, tmp_path) -> None:
    folder = RunFolder(shutil.copytree(finished.path, tmp_path / "tiny"))
    replace(Predictions.open(folder["predictions"]), ids=ranking.first_ids[:, :5]).write(
        folder["predictions"]
    )
    (results,) = gather_results([folder.path / "msi"])
    table = second_stage.show_second_stage(results)["quality"]
    ways = ["by score alone", "for macro-F1, first 5", "by probability, first 5", "labels that fit"]
    assert [row.hint for row in table.rows] == ways
    _, chosen, by_probability, _ = list_values(table)
    # metrics of ranked labels are known of one order, and those of answers of the other
    assert [value is not None for value in chosen] == [True] * 4 + [False] * 4
    assert [value is not None for value in by_probability] == [False] * 4 + [True] * 4


def test_texts_show_the_labels_that_fit_in_percent_and_what_was_missed(
    finished, results, ranking
) -> None:
    Y = open_dataset(finished["dataset"]).test.Y.to_scipy().toarray() > 0
    for example in results.examples["texts"]:
        amount = count_fitting_labels(ranking.probabilities[[example.row]])[0]
        fit = ranking.ids[example.row, :amount]
        probabilities = ranking.probabilities[example.row, :amount]
        assert [label.value for label in example.predicted] == probabilities.tolist()[:5]
        assert [label.hit for label in example.predicted] == Y[example.row, fit].tolist()[:5]
        missed = Y[example.row].sum() - Y[example.row, fit].sum()
        assert len(example.missed) + example.more == missed
    section = re.search('<section class="texts".*?</section>', render_page([results]), re.DOTALL)[0]
    assert f"{100 * results.examples['texts'][0].predicted[0].value:.0f} %</data>" in section


def test_what_can_be_assigned_is_shown_for_all_runs_side_by_side(results) -> None:
    (run, _) = results.runs
    table = second_stage.make_assignment_table(results.runs)
    assert [row.name for row in table.rows] == [f"at least {level} %" for level in (50, 70, 80, 90)]
    assert {column.group for column in table.columns} == {run.name}
    theirs = []
    for row in run.reliability["automatic"]:
        if row["probability"] in (0.5, 0.7, 0.8, 0.9):
            theirs.append([row["precision"], row["recall"], row["instances"]])
    assert list_values(table) == theirs
    assert second_stage.make_assignment_table(results.runs[1:]) is None


def test_the_page_says_why_a_second_stage_is_not_used(runs, tmp_path) -> None:
    run = shutil.copytree(runs[0].parent, tmp_path / "mine") / runs[0].name
    remedy = "<code>predict: {rerank: 0.2}</code>"
    assert remedy in render_page(gather_results([run]))
    unused = {"reranker": "one", "fitted": {"unused": "<b> was held out", "fraction": 0.2}}
    write_json(run / "reliability.json", "reliability", unused)
    # the file is of an earlier run, which had a second stage
    assert 'id="mine.second-stage"' not in render_page(gather_results([run]))
    path = run / "predictions.h5"
    predictions = Predictions.open(path)
    replace(predictions, inputs=predictions.inputs | {"reranker": "one"}).write(path)
    page = render_page(gather_results([run]))
    assert "The second stage of <bdi>msi</bdi> is not used: &lt;b&gt; was held out." in page
    assert remedy not in page
