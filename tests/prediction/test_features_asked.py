"""Models of ready-made features are asked as they are trained: arrays, matrices, and vectors in a column."""

import csv
import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_model

N_NEW = 30


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Features and labels as .npy and .npz, and as a Parquet table with a column of vectors."""
    folder, random = tmp_path_factory.mktemp("features"), np.random.default_rng(0)
    X = random.normal(size=(200, 8)).astype(np.float32)
    Y = X @ random.normal(size=(8, 4)) > 1
    Y[:, 0] |= ~Y.any(axis=1)
    for name, rows in (("trn", slice(N_NEW, None)), ("new", slice(N_NEW))):
        np.save(folder / f"X.{name}.npy", X[rows])
        np.save(folder / f"Y.{name}.npy", Y[rows])
        labels = [[str(label) for label in np.flatnonzero(row)] for row in Y[rows]]
        ids = [f"r{row}" for row in range(len(labels))]
        table = pyarrow.table({"id": ids, "embedding": list(X[rows]), "labels": labels})
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
    scipy.sparse.save_npz(folder / "sparse.npz", scipy.sparse.csr_array(X[:N_NEW]))
    for name, options in {
        "npz": ["--format=npz", f"--train={folder}/X.trn.npy", f"--train-labels={folder}/Y.trn.npy"],
        "parquet": ["--format=parquet", f"--train={folder}/trn.parquet", "--vector-column=embedding"],
    }.items():
        assert main(["prepare", *options, f"--output={folder}/{name}.h5"]) == 0
        model = train_model(open_dataset(folder / f"{name}.h5"), TrainLabels(), 0.0)
        model.write(folder / f"{name}.model.h5")
    return folder, X[:N_NEW], Y[:N_NEW], model.weights.to_scipy().toarray()


def answers(capsys, *arguments):
    capsys.readouterr()
    assert main(["predict", *map(str, arguments), "--top-k=4"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(scope="module")
def scores(files):
    _, X, _, weights = files
    return np.hstack([X / np.linalg.norm(X, axis=1, keepdims=True), np.ones((N_NEW, 1))]) @ weights.T


@pytest.mark.parametrize("file", ["X.new.npy", "sparse.npz", "new.parquet"])
def test_predictions(files, scores, capsys, file):
    folder, kind = files[0], "parquet" if file.endswith("parquet") else "npz"
    lines = answers(capsys, folder / f"{kind}.model.h5", folder / file)
    assert [line.get("id") for line in lines] == [f"r{row}" if kind == "parquet" else None for row in range(N_NEW)]
    for line, row in zip(lines, scores, strict=True):
        ours = {int(label["name"]): label["score"] for label in line["labels"]}
        assert ours == pytest.approx(dict(enumerate(row)), abs=1e-4)


@pytest.mark.parametrize(("file", "kind"), [("X.new.npy", "npz"), ("new.parquet", "parquet")])
def test_evaluation(files, scores, tmp_path, file, kind):
    folder, _, Y, _ = files
    output = tmp_path / "evaluation.json"
    assert main(["evaluate", f"--model={folder}/{kind}.model.h5", f"{folder}/{file}", f"--output={output}"]) == 0
    ours = json.loads(output.read_text())["models"][0]["metrics"]["P@1"]
    assert ours == pytest.approx(Y[np.arange(N_NEW), scores.argmax(axis=1)].mean())


def test_vectors_are_no_texts(files, tmp_path, capsys):
    folder, *_ = files
    options = ["prepare", "--format=parquet", f"--train={folder}/trn.parquet", f"--output={tmp_path}/a.h5"]
    assert main([*options, "--text-column=embedding"]) == 2
    error = capsys.readouterr().err
    assert "the column 'embedding' holds vectors, not texts; set vector_column: embedding" in error
    assert main([*options, "--vector-column=embedding"]) == 0
    assert main([*options, "--vector-column=id"]) == 2
    assert "'r0' is not a vector of finite numbers" in capsys.readouterr().err


def test_test_instances_are_written_as_csv(files, tmp_path):
    folder, *_ = files
    output = tmp_path / "answers.csv"
    dataset = open_dataset(folder / "parquet.h5")
    arguments = [f"{folder}/parquet.model.h5", f"--dataset={folder}/parquet.h5", f"--output={output}", "--top-k=2"]
    assert main(["predict", *arguments]) == 0
    with open(output, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(dict.fromkeys(row["instance"] for row in rows)) == dataset.ids("test")
    assert len(rows) == 2 * dataset.test.X.n_rows
