"""ovaflow near-twins lists every test record that is marked, beside the training record it is like."""

import csv

import numpy as np
import pytest
from commands import ovaflow
from naive import jaccard
from tiny_table import write_table

from ovaflow.data.dataset import open_dataset


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """train.csv, and test.csv with copies, editions and short copies of some of its records, of other labels."""
    folder = tmp_path_factory.mktemp("twins")
    write_table(folder / "train.csv")
    head, *lines = (folder / "train.csv").read_text().splitlines()
    texts, _ = zip(*(line.split(",") for line in lines), strict=True)
    short = "word11 filler3"
    (folder / "train.csv").write_text("\n".join([head, *lines, f"{short},topic 1"]) + "\n")
    editions = [f"filler1 {text}" for text in texts[20:40]]
    tested = [*texts[:20], *editions, short, *(f"word{j}1 filler{j}" for j in range(9))]
    (folder / "test.csv").write_text("\n".join([head, *(f"{text},topic 9" for text in tested)]) + "\n")
    ovaflow(
        "prepare", "--format=csv", f"--train={folder}/train.csv", f"--test={folder}/test.csv", "--label-separator=|",
        "--label-names=false", f"--output={folder}/dataset.h5",
    )  # fmt: skip
    return folder


def test_all_that_are_marked(folder, tmp_path):
    said = ovaflow("near-twins", folder / "dataset.h5", f"--output={tmp_path}/twins.csv")
    with open(tmp_path / "twins.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    dataset = open_dataset(folder / "dataset.h5")
    X, others = (split.X.to_scipy().toarray() != 0 for split in (dataset.test, dataset.train))
    theirs = jaccard(np.vstack([X, others]) * 1.0)[: len(X), len(X) :]
    places = [{name: place for place, name in enumerate(dataset.ids(part))} for part in ("test", "train")]
    assert len(rows) == np.count_nonzero(dataset.test.twins) >= 41
    assert f"{len(rows)} of 50 test records" in said
    for row in rows:
        test, train = (place[row[f"{part}_record"]] for place, part in zip(places, ("test", "training"), strict=True))
        assert float(row["shared"]) == pytest.approx(theirs[test, train], abs=0.005)
        assert dataset.test.twins[test]
        assert row["test_labels"] == "topic 9"
    shared = [float(row["shared"]) for row in rows]
    assert shared == sorted(shared, reverse=True)
