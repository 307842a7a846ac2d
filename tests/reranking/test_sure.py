"""Records that go without a look, and the order of the others."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from commands import list_label_values, ovaflow, predict_answers, read_answers
from numpy.testing import assert_allclose
from records import read_records, write_records

from ovaflow.reranking.answer_length import count_fitting_labels


@pytest.fixture(scope="module")
def texts(dataset, tmp_path_factory) -> Path:
    """The test texts as a table, numbered from 100."""
    path = tmp_path_factory.mktemp("sure") / "new.csv"
    records = []
    for number, text in enumerate(dataset.test_texts(), 100):
        records.append({"id": number, "text": text})
    write_records(str(path), records)
    return path


class Promise(NamedTuple):
    """The labels that fit a text, and what is expected of them."""

    labels: list[int]
    precision: float
    recall: float
    errors: float


@pytest.fixture(scope="module")
def theirs(check, predicted) -> list[Promise]:
    """The promise of each test text, computed one by one."""
    ranking = predicted.ranking
    probabilities = np.maximum(ranking.probabilities[:, :50], 0).astype(float)
    promises = []
    for ids, p in zip(ranking.ids, probabilities, strict=True):
        m = count_fitting_labels(p[None])[0]
        right = p[:m].sum()
        true = p.sum() + check["missed"] * (1 - right / p.sum())
        promise = Promise(
            labels=ids[:m].tolist(),
            precision=right / m,
            recall=right / true,
            errors=(m - right) + (true - right),
        )
        promises.append(promise)
    return promises


def list_promises(answers) -> list[list[float]]:
    """List expected precision and recall of answers, or of rows of a table."""
    promises = []
    for answer in answers:
        promises.append([float(answer["expected_precision"]), float(answer["expected_recall"])])
    return promises


def test_promises_are_columns_and_keys(model, texts, theirs, tmp_path) -> None:
    ours = predict_answers(model, texts, "--fit")
    assert list_label_values(ours) == [promise.labels for promise in theirs]
    expected = [[promise.precision, promise.recall] for promise in theirs]
    assert_allclose(list_promises(ours), expected, atol=1e-4)
    output = f"--output={tmp_path}/a.csv"
    ovaflow("predict", model, texts, "--fit", "--joined=|", output)
    assert list_promises(read_records(tmp_path / "a.csv")) == list_promises(ours)
    ovaflow("predict", model, texts, "--fit", output)
    first_rows = [row for row in read_records(tmp_path / "a.csv") if row["rank"] == "1"]
    assert list_promises(first_rows) == list_promises(ours)


def test_an_answer_without_labels_has_no_precision(model, texts) -> None:
    first = predict_answers(model, texts, "--min-probability=1")[0]
    assert first["labels"] == []
    assert first["expected_precision"] is None
    assert first["expected_recall"] == 0
    by_score = predict_answers(model, texts, "--no-rerank")[0]
    assert by_score["expected_precision"] is None


def test_a_file_is_divided_and_the_share_that_is_right_is_said(
    model, texts, theirs, check, tmp_path, capsys
) -> None:
    sure = tmp_path / "sure.jsonl"
    unsure = tmp_path / "unsure.jsonl"
    ovaflow("predict", model, texts, "--sure=0.855", f"--output={sure}", f"--unsure={unsure}")
    precise = np.array([promise.precision for promise in theirs]) >= 0.855
    others = sorted(np.flatnonzero(~precise), key=lambda i: -theirs[i].errors)
    assert 0 < precise.sum() < len(precise)
    for path, order in ((sure, np.flatnonzero(precise)), (unsure, others)):
        ours = read_answers(path)
        assert [each["id"] for each in ours] == [str(100 + i) for i in order]
        assert list_label_values(ours) == [theirs[i].labels for i in order]
    said = capsys.readouterr().err
    assert f"{precise.sum()} of {len(theirs)} records" in said
    (row,) = [row for row in check["sure"] if row["level"] == 0.85]
    measured = (
        f"{row['records']} were so sure, and {100 * row['right']:.0f} % of {row['labels']}"
        " labels were right"
    )
    assert f"measured: of {check['texts']} held-out records {measured}" in said


def test_as_many_labels_are_missed_of_new_records_as_of_those_measured(dataset, theirs) -> None:
    true = sum(len(each.labels) * each.precision / each.recall for each in theirs)
    assert len(dataset.test.Y.indices) == pytest.approx(true, rel=0.05)


REFUSED = {
    "--sure=0.9": "go together",
    "--sure=0.9 --output=a.csv": "go together",
    "--unsure=b.csv --output=a.csv": "go together",
    "--sure=0.9 --output=a.csv --unsure=b.txt": "xmc-text has no ids",
    "--sure=0.9 --output=a.csv --unsure=b.csv --min-score=0": "goes without --min-score",
    "--sure=0.9 --output=a.csv --unsure=b.csv --optimise=macro-F1": "goes without --optimise",
    "--sure=0.9 --output=a.csv --unsure=b.csv --no-rerank": "has no second stage",
}


@pytest.mark.parametrize("options", REFUSED)
def test_options_that_do_not_go_together_are_refused(
    model, texts, tmp_path, monkeypatch, options
) -> None:
    monkeypatch.chdir(tmp_path)
    assert REFUSED[options] in ovaflow("predict", model, texts, options.split(), status=2)
    assert not list(tmp_path.iterdir())
