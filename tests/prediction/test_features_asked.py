"""Models of ready-made features are asked as they are trained: arrays, matrices, and vectors in a
column.
"""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse
from commands import ovaflow, predict_answers
from records import read_records
from synthetic import prepare_and_train

from ovaflow.dataset.dataset import open_dataset
from ovaflow.model.one_vs_all import OneVsAll

N_NEW = 30


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Features and labels as .npy and .npz, and as a Parquet table with a column of vectors."""
    folder = tmp_path_factory.mktemp("features")
    random = np.random.default_rng(0)
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
    prepare_and_train(
        folder,
        "--format=npz",
        f"--train={folder}/X.trn.npy",
        f"--train-labels={folder}/Y.trn.npy",
        name="npz",
    )
    of_table = "--format=parquet", f"--train={folder}/trn.parquet", "--vector-column=embedding"
    model = OneVsAll.open(prepare_and_train(folder, of_table, name="parquet"))
    return folder, X[:N_NEW], Y[:N_NEW], model.weights.to_scipy().toarray()


@pytest.fixture(scope="module")
def scores(files):
    _, X, _, weights = files
    return (
        np.hstack([X / np.linalg.norm(X, axis=1, keepdims=True), np.ones((N_NEW, 1))]) @ weights.T
    )


@pytest.mark.parametrize("file", ["X.new.npy", "sparse.npz", "new.parquet"])
def test_predictions(files, scores, file) -> None:
    folder = files[0]
    kind = "parquet" if file.endswith("parquet") else "npz"
    lines = predict_answers(folder / f"{kind}.h5", folder / file, "--top-k=4")
    assert [line.get("id") for line in lines] == [
        f"r{row}" if kind == "parquet" else None for row in range(N_NEW)
    ]
    for line, row in zip(lines, scores, strict=True):
        ours = {int(label["name"]): label["score"] for label in line["labels"]}
        assert ours == pytest.approx(dict(enumerate(row)), abs=1e-4)


@pytest.mark.parametrize(("file", "kind"), [("X.new.npy", "npz"), ("new.parquet", "parquet")])
def test_evaluation(files, scores, tmp_path, file, kind) -> None:
    folder, _, Y, _ = files
    output = tmp_path / "evaluation.json"
    ovaflow("evaluate", f"--model={folder}/{kind}.h5", folder / file, f"--output={output}")
    ours = json.loads(output.read_text())["models"][0]["metrics"]["P@1"]
    assert ours == pytest.approx(Y[np.arange(N_NEW), scores.argmax(axis=1)].mean())


def test_vectors_are_no_texts(files, tmp_path) -> None:
    options = (
        "prepare",
        "--format=parquet",
        f"--train={files[0]}/trn.parquet",
        f"--output={tmp_path}/a.h5",
    )
    said = "the column 'embedding' holds vectors, not texts; set vector_column: embedding"
    assert said in ovaflow(options, "--text-column=embedding", status=2)
    said = "split_column: records of a vector_column are divided one by one; give a test file"
    assert said in ovaflow(options, "--vector-column=embedding", "--split-column=id", status=2)
    assert "'r0' is not a vector of finite numbers" in ovaflow(
        options, "--vector-column=id", status=2
    )


def test_test_instances_are_written_as_csv(files, tmp_path) -> None:
    folder = files[0]
    output = tmp_path / "answers.csv"
    dataset = open_dataset(folder / "dataset.h5")
    ovaflow(
        "predict",
        folder / "parquet.h5",
        f"--dataset={dataset.path}",
        f"--output={output}",
        "--top-k=2",
    )
    rows = read_records(output)
    assert (
        [row["instance"] for row in rows[::2]]
        == [row["instance"] for row in rows[1::2]]
        == dataset.ids("test")
    )
