"""Errors of test records: like scikit-learn's, the same in every file, and explained as explain
does.
"""

import json
import re
import shlex
import shutil
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet
import pytest
from commands import ovaflow
from hypothesis import given
from hypothesis import strategies as st
from records import read_records
from sklearn.metrics import f1_score

from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation.errors import RunErrors
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.prediction.predictions import PredictedLabels
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.reranked_model import Ranking
from ovaflow.sparse.csr import from_scipy

LABELS = 9


def make_errors(seed, n, probabilistic) -> tuple:
    """Errors of random predictions, and dense arrays of true and predicted labels and of values."""
    random = np.random.default_rng(seed)
    dense = random.random((n, LABELS)) < 0.3
    ids = np.array([random.permutation(LABELS)[:7] for _ in range(n)], np.int32).reshape(n, 7)
    values = np.sort(random.random((n, 7)).astype(np.float32))[:, ::-1]
    ids[:, 6:] = -1
    values[:, 6:] = -np.inf
    ranking = Ranking(ids, values, ids, values) if probabilistic else None
    Y = from_scipy(dense.astype(np.float32))
    data = SimpleNamespace(
        test=SimpleNamespace(Y=Y, take=lambda rows: rows),
        records=lambda part, rows: [f"id{row}" for row in rows],
        test_texts=lambda rows: ["text"] * len(rows),
        label_names=[f"name {label}" for label in range(LABELS)],
        n_labels=LABELS,
    )
    amounts = count_fitting_labels(values) if probabilistic else np.full(n, 5)
    assigned = np.zeros_like(dense)
    known = np.full(dense.shape, -np.inf)
    for row in range(n):
        assigned[row, ids[row, : amounts[row]][ids[row, : amounts[row]] >= 0]] = True
        known[row, ids[row, :6]] = values[row, :6]
    return (
        RunErrors(
            data, EvaluatedPredictions.from_predictions(PredictedLabels(ids, values, ranking), Y)
        ),
        dense,
        assigned,
        known,
    )


@given(st.integers(0, 2**32 - 1), st.integers(0, 25), st.booleans())
def test_records_against_scikit_learn(seed, n, probabilistic) -> None:
    errors, dense, assigned, _ = make_errors(seed, n, probabilistic)
    labelled = dense.any(axis=1)
    assert f" of {labelled.sum()} test records" in errors.summary()
    theirs = np.flatnonzero(labelled & (dense != assigned).any(axis=1))
    assert sorted(errors.error_rows.tolist()) == theirs.tolist()
    # those without an error are the last
    assert errors.labelled_rows[: len(theirs)].tolist() == errors.error_rows.tolist()
    assert sorted(errors.labelled_rows.tolist()) == np.flatnonzero(labelled).tolist()
    ours = []
    records = errors.records(errors.labelled_rows)
    for record in records:
        true = dense[record.row]
        predicted = assigned[record.row]
        assert record.f1 == pytest.approx(f1_score(true, predicted, zero_division=0))
        for pairs, expected in (
            (record.missed, true & ~predicted),
            (record.wrong, predicted & ~true),
        ):
            assert sorted(label for label, _ in pairs) == np.flatnonzero(expected).tolist()
            values = [-np.inf if value is None else value for _, value in pairs]
            assert values == sorted(values, reverse=True)
        assert {label for label, _ in record.right} == set(
            np.flatnonzero(true & predicted).tolist()
        )
        ours.append((record.f1, -len(record.missed) - len(record.wrong)))
    assert ours == sorted(ours)


@given(st.integers(0, 2**32 - 1), st.integers(0, 25), st.booleans())
def test_counts_are_those_of_the_labels_that_are_named(seed, n, probabilistic) -> None:
    errors, dense, assigned, _ = make_errors(seed, n, probabilistic)
    labelled = dense.any(axis=1)
    right = dense & assigned
    wrong = assigned & ~dense & labelled[:, None]
    missed = dense & ~assigned
    rule = "the labels that fit" if probabilistic else "the first 5 labels"
    said = (
        f"of {rule} of each record {right.sum():,} are right and {wrong.sum():,} wrong, and"
        f" {missed.sum():,} true"
    )
    assert said in errors.summary()
    for kind, of_kind in {"wrong": wrong, "missed": missed}.items():
        amounts = of_kind.sum(axis=0)
        ours = errors.most_frequent(3)[kind]
        assert [amount for _, amount in ours] == sorted(amounts[amounts > 0], reverse=True)[:3]
        assert all(amount == amounts[label] for label, amount in ours)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_errors_of_a_label_one_record_at_a_time(seed, probabilistic) -> None:
    errors, dense, assigned, known = make_errors(seed, 40, probabilistic)
    scores = np.random.default_rng(seed).random((40, LABELS))
    model = SimpleNamespace(
        instances=lambda rows: rows, score=lambda rows, labels: scores[rows][:, labels]
    )
    for label in range(LABELS):
        ours = errors.find_label_errors(label, model)
        wrong = [
            row
            for row in range(40)
            if assigned[row, label] and not dense[row, label] and dense[row].any()
        ]
        missed = [row for row in range(40) if dense[row, label] and not assigned[row, label]]
        wrong.sort(key=lambda row: -known[row, label])
        by = known if probabilistic else scores
        missed.sort(key=lambda row: (by[row, label], scores[row, label]))
        assert [each.tolist() for each in ours[:2]] == [wrong, missed]
        theirs = [*known[wrong, label], *by[missed, label]]
        assert ours[2][wrong + missed].tolist() == pytest.approx(theirs, rel=1e-6)


@pytest.fixture(scope="module")
def run(finished, tmp_path_factory):
    folder = tmp_path_factory.mktemp("copy") / "tiny"
    shutil.copytree(finished.path, folder)
    return folder / "msi"


def test_csv_and_parquet_say_what_metrics_say(run, tmp_path) -> None:
    said = ovaflow("errors", run, f"--output={tmp_path}/errors.csv")
    ovaflow("errors", run, f"--output={tmp_path}/errors.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "errors.parquet").to_pylist()
    for ours, theirs in zip(read_records(tmp_path / "errors.csv"), rows, strict=True):
        assert ours == {
            name: json.dumps(value) if isinstance(value, list) else str(value)
            for name, value in theirs.items()
        }
        assert set(theirs["missed"]) == set(theirs["true"]) - set(theirs["predicted"])
        assert len(theirs["probability"]) == len(theirs["predicted"])
    metrics = json.loads((run / "metrics.json").read_text())
    dataset = open_dataset(run.parent / "dataset.h5")
    n = dataset.test.X.n_rows
    assert f"{len(rows):,} of {n:,} test records" in said
    # records without an error have an F1 of 1
    assert (sum(row["F1"] for row in rows) + n - len(rows)) / n == pytest.approx(
        metrics["F1-fit"], abs=1e-4
    )


def test_a_short_table_says_where_all_are(run, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = ovaflow("errors", run)
    advice = said.splitlines()[-1].removeprefix("all of them: ovaflow ")
    ovaflow(advice)
    rows = read_records(tmp_path / "errors.csv")
    assert rows[0]["record"] in said
    assert said.count("\n") < 90


def test_the_terminal_names_the_labels_of_its_counts(run, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    rows = read_errors(run.parent / "forest", tmp_path)
    said = ovaflow("errors", run.parent / "forest")
    for row in rows[:10]:
        for kind in ("missed", "wrong"):
            labels = json.loads(row[kind])
            assert not labels or f"{len(labels)}: {', '.join(labels)[:60]}" in said
    for kind in ("missed", "wrong"):
        amounts = Counter()
        for row in rows:
            amounts.update(json.loads(row[kind]))
        [named] = re.findall(rf"^{kind} most often: (.*)$", said, re.MULTILINE)
        assert named.split(" (")[1].startswith(f"{max(amounts.values())})")


def test_reasons_are_those_of_explain(run, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = read_errors(run, tmp_path)
    kinds = {"wrong": "false positive", "missed": "false negative"}
    # a good model may have errors of one kind alone
    named = {}
    for row in rows:
        for kind, name_of_kind in kinds.items():
            labels = json.loads(row[kind])
            if labels:
                named[name_of_kind] = labels[0]
    options = [f"--label={name}" for name in dict.fromkeys(named.values())]
    said = ovaflow("errors", run, options)
    for kind, name in named.items():
        assert f"{kind} of {name}" in said
    ovaflow(shlex.split(said.splitlines()[-1].removeprefix("all of them: ovaflow ")))
    rows = read_records(tmp_path / "errors.csv")
    assert {(row["label"], row["kind"]) for row in rows} >= {
        (name, kind) for kind, name in named.items()
    }
    for row in rows[:2] + rows[-2:]:
        options = [
            f"--dataset={run.parent}/dataset.h5",
            f"--row={row['instance']}",
            f"--label={row['label']}",
        ]
        [theirs] = json.loads(ovaflow("explain", run / "model.h5", "--json", "--top=5", options))[
            "labels"
        ]
        assert json.loads(row["up"]) == [
            f"{each['feature']} {each['contribution']:+.3f}" for each in theirs["up"]
        ]
        assert json.loads(row["evidence"]) == [each["text"] for each in theirs["evidence"]]
        assert float(row["probability"] or 0) == pytest.approx(theirs["probability"] or 0, abs=1e-4)


def test_a_model_without_weights_lists_its_errors_without_words(run, tmp_path) -> None:
    rows = [*read_errors(run.parent / "forest", tmp_path)]
    name = json.loads(rows[0]["missed"])[0]
    said = ovaflow("errors", run.parent / "forest", f"--label={name}")
    assert "• a label's score is a mean over the leaves" in said
    assert "score" in rows[0]


def read_errors(run, folder) -> list[dict[str, str]]:
    ovaflow("errors", run, f"--output={folder}/errors.csv")
    return read_records(folder / "errors.csv")


def test_an_unknown_label_and_predictions_of_another_model_are_refused(run) -> None:
    assert "no label 'nowhere'" in ovaflow("errors", run, "--label=nowhere", status=2)
    other = run.parent / "embedded"
    shutil.copy(run / "predictions.h5", other)
    assert "stale" in ovaflow("errors", other, status=2)
