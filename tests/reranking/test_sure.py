"""Records that go without a look, and the order of the others."""

import numpy as np
import pytest
from commands import list_label_values, ovaflow, predict_answers, read_answers
from numpy.testing import assert_allclose
from records import read_records, write_records

from ovaflow.reranking.answer_length import count_fitting_labels


@pytest.fixture(scope="module")
def texts(dataset, tmp_path_factory):
    """The test texts as a table, numbered from 100."""
    path = tmp_path_factory.mktemp("sure") / "new.csv"
    rows = dataset.test_texts()
    write_records(
        str(path), [{"id": number, "text": text} for number, text in enumerate(rows, 100)]
    )
    return path


@pytest.fixture(scope="module")
def theirs(check, predicted):
    """Labels that fit each test text, their expected precision and recall, and expected errors, one
    by one.
    """
    ranking = predicted.ranking
    rows = []
    for ids, p in zip(
        ranking.ids, np.maximum(ranking.probabilities[:, :50], 0).astype(float), strict=True
    ):
        m = count_fitting_labels(p[None])[0]
        right = p[:m].sum()
        among = p.sum()
        true = among + check["missed"] * (1 - right / among)
        rows.append((ids[:m].tolist(), right / m, right / true, (m - right) + (true - right)))
    return rows


@pytest.fixture(scope="module")
def predict_texts(model, texts):
    return lambda *options: predict_answers(model, texts, options)


KEYS = "expected_precision", "expected_recall"


def test_promises_are_columns_and_keys(model, texts, predict_texts, theirs, tmp_path) -> None:
    ours = predict_texts("--fit")
    assert list_label_values(ours) == [each[0] for each in theirs]
    promises = [[each[key] for key in KEYS] for each in ours]
    assert_allclose(promises, [each[1:3] for each in theirs], atol=1e-4)
    for joined, first in ((["--joined=|"], {}), ([], {"rank": "1"})):
        ovaflow("predict", model, texts, "--fit", joined, f"--output={tmp_path}/a.csv")
        rows = [row for row in read_records(tmp_path / "a.csv") if first.items() <= row.items()]
        assert [[float(row[key]) for key in KEYS] for row in rows] == promises


def test_an_answer_without_labels_has_no_precision(predict_texts) -> None:
    first = predict_texts("--min-probability=1")[0]
    assert (first["labels"], *(first[key] for key in KEYS)) == ([], None, 0)
    assert predict_texts("--no-rerank")[0]["expected_precision"] is None


def test_a_file_is_divided_and_the_share_that_is_right_is_said(
    model, texts, theirs, check, tmp_path, capsys
) -> None:
    sure = tmp_path / "sure.jsonl"
    unsure = tmp_path / "unsure.jsonl"
    ovaflow("predict", model, texts, "--sure=0.855", f"--output={sure}", f"--unsure={unsure}")
    precise = np.array([each[1] for each in theirs]) >= 0.855
    others = sorted(np.flatnonzero(~precise), key=lambda i: -theirs[i][3])
    assert 0 < precise.sum() < len(precise)
    for path, order in ((sure, np.flatnonzero(precise)), (unsure, others)):
        ours = read_answers(path)
        assert [each["id"] for each in ours] == [str(100 + i) for i in order]
        assert list_label_values(ours) == [theirs[i][0] for i in order]
    said = capsys.readouterr().err
    assert f"{precise.sum()} of {len(theirs)} records" in said
    (row,) = (row for row in check["sure"] if row["level"] == 0.85)
    measured = (
        f"{row['records']} were so sure, and {100 * row['right']:.0f} % of {row['labels']}"
        " labels were right"
    )
    assert f"measured: of {check['texts']} held-out records {measured}" in said


def test_as_many_labels_are_missed_of_new_records_as_of_those_measured(dataset, theirs) -> None:
    true = sum(len(ids) * precision / recall for ids, precision, recall, _ in theirs)
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
