"""Weights of training records: a column of any table, and their use."""

import json
from pathlib import Path

import numpy as np
import pytest
from commands import ovaflow
from records import write_records
from sklearn.svm import LinearSVC

from ovaflow.dataset.dataset import Dataset
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_model

TABLE = "--min-df=1 --max-df=1.0 --weight-column=w"


def make_records(weights) -> list[dict]:
    """Make records with some weights."""
    records = []
    for i, weight in enumerate(weights):
        text = f"word{i % 7} word{i % 5} word{i % 3}"
        records.append({"id": f"r{i}", "text": text, "labels": f"l{i % 3}", "w": weight})
    return records


WEIGHTS = [0.5, 1, 3, 2, 2.5] * 8


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_training_records_weigh_what_their_column_says(prepare, format) -> None:
    write_records(f"train.{format}", make_records(WEIGHTS))
    write_records(f"test.{format}", [{"text": "word1", "labels": "l1"}])
    dataset = prepare(
        f"--format={format} --train=train.{format} --test=test.{format} --reading=r.json {TABLE}"
    )
    n = dataset.n_documents
    assert dataset.train.weights.tolist() == WEIGHTS + [1.0] * (dataset.train.X.n_rows - n)
    assert dataset.test.weights is dataset.train.extra is None
    lines = json.loads(Path("r.json").read_text())["lines"]
    assert lines["weights"] == "from 0.5 to 3 in column 'w'"
    assert "from 0.5 to 3 in column 'w' in the first 40 records" in prepare.said


def test_weights_stay_with_their_records_when_some_are_set_aside(prepare) -> None:
    write_records("train.csv", make_records(range(1, 41)))
    write_records("more.csv", [{"text": "word1 word2", "labels": "l1"}])
    extra = "--extra=more.csv --extra-weight=7 --no-label-names --test-fraction=0.3"
    dataset = prepare(f"--format=csv --train=train.csv {TABLE} {extra}")
    names = dataset.records("train", range(dataset.n_documents - 1))
    weights = [float(name.removeprefix("r")) + 1 for name in names]
    assert dataset.train.weights.tolist() == [*weights, 7.0]
    assert dataset.test.X.n_rows + len(names) == 40


def test_records_that_are_marked_as_no_training_records_need_no_weight(prepare) -> None:
    records = make_records([""] * 9 + [2] * 31)
    for record in records:
        record["part"] = "train" if record["w"] else "test"
    write_records("train.csv", records)
    dataset = prepare(
        f"--format=csv --train=train.csv {TABLE} --split-column=part --no-label-names"
    )
    assert dataset.train.weights.tolist() == [2.0] * 31


@pytest.mark.parametrize("wrong", ["", "-1", "0", "nan", "inf", "1e-60", "0,5", "heavy"])
def test_what_is_no_weight_is_refused_with_its_line(prepare, wrong) -> None:
    write_records("train.csv", make_records([1, wrong, 1]))
    prepare(f"--format=csv --train=train.csv {TABLE}", status=2)
    value = repr(wrong) if wrong else "empty"
    refusal = f"train.csv, line 3: weight_column is {value}, not a number above 0"
    assert refusal in prepare.said


def test_joined_records_weigh_the_same(prepare) -> None:
    versions = [each | {"id": "r0"} for each in make_records([1, 1, 2])]
    write_records("train.csv", versions)
    prepare(f"--format=csv --train=train.csv {TABLE} --repeated=join", status=2)
    assert "records to be joined have different weights: r0 and r0" in prepare.said


def test_other_methods_refuse_weights(prepare) -> None:
    write_records("train.csv", make_records(WEIGHTS))
    prepare(f"--format=csv --train=train.csv {TABLE}")
    said = ovaflow("train-shard", "--method=fastxml", "dataset.h5", "--output=trees.h5", status=2)
    assert "leave out weight_column" in said


def make_vectors(weights) -> list[dict]:
    """Make records of vectors with some weights."""
    rng = np.random.default_rng(0)
    records = []
    for i, weight in enumerate(weights):
        labels = ["a"] if i % 3 else ["a", "b"]
        records.append({"v": rng.normal(size=4).tolist(), "labels": labels, "w": weight})
    return records


def train_on(prepare, records) -> tuple[Dataset, np.ndarray]:
    """Prepare and train on records; return the dataset and the weights of its labels."""
    write_records("train.jsonl", records)
    write_records("test.jsonl", records[:1])
    files = "--train=train.jsonl --test=test.jsonl --vector-column=v --weight-column=w"
    dataset = prepare(f"--format=jsonl {files}")
    model = train_model(dataset, TrainLabels(epsilon=1e-6), 0.0)
    return dataset, model.weights.to_scipy().toarray()


def test_whole_weights_are_repeated_records_and_all_are_those_of_liblinear(prepare) -> None:
    weights = [1, 3, 2, 1, 4] * 8
    dataset, ours = train_on(prepare, make_vectors(weights))
    X = dataset.train.X.to_scipy().toarray()
    y = dataset.train.Y.to_scipy().toarray()[:, 1]
    solver = LinearSVC(dual=False, fit_intercept=False, tol=1e-8, max_iter=10_000)
    theirs = solver.fit(X, y, sample_weight=weights).coef_[0]
    np.testing.assert_allclose(ours[1], theirs, atol=1e-4)
    copies = []
    for each in make_vectors(weights):
        copies += [each | {"w": 1}] * each["w"]
    _, repeated = train_on(prepare, copies)
    np.testing.assert_allclose(ours, repeated, atol=1e-4)
