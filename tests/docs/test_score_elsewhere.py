"""The programs of docs/how-to/share-a-model.md give the scores of ovaflow."""

import json
import sqlite3

import numpy as np
import pytest
from docs.pages import ROOT, read_blocks
from synthetic import prepare_and_train
from tiny_table import write_table

from ovaflow.cli import main
from ovaflow.prediction.predictor import Predictor

TEXTS = [
    "word00 word01 word00 filler3 2026 42nd",
    "Größerer WORD12 größte ﬁller7, STRASSE Straßen; cafe\u0301s ΟΔΟΣ x",
    "unheard of",
    "",
]
BLOCKS = read_blocks(ROOT / "docs" / "how-to" / "share-a-model.md")
NUMPY, SQL = [block.code for block in BLOCKS if block.language == "python"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with elsewhere/, of a model with the default features."""
    folder = tmp_path_factory.mktemp("elsewhere")
    write_table(folder / "records.csv")
    table = (folder / "records.csv").read_text()
    table = table.replace("filler29", "größte straßen cafés οδος")
    (folder / "records.csv").write_text(table, encoding="utf-8")
    prepare_and_train(
        folder, "--format=csv", f"--train={folder}/records.csv", "--label-separator=|", prune=0.01
    )
    assert (
        main(
            ["convert", f"{folder}/model.h5", "--to=npz", f"--output={folder}/elsewhere/model.npz"]
        )
        == 0
    )
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    """Scores of TEXTS, of which two have known words."""
    predictor = Predictor.open(folder / "model.h5")
    X = predictor.from_texts(TEXTS)
    assert np.diff(X.indptr)[:2].min() > 3
    return predictor.scores(X, np.arange(predictor.n_labels))


def test_numpy_and_sql(folder, expected, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    names = {}
    exec(NUMPY, names)
    ours = [names["scores"](text) for text in TEXTS]
    np.testing.assert_allclose(ours, expected, atol=1e-5)
    try:
        sqlite3.connect(":memory:").execute("select ln(2)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no mathematical functions")
    exec(SQL, names)
    for text, theirs in zip(TEXTS, expected, strict=True):
        rows = dict(names["base"].execute(names["QUERY"], [json.dumps(names["terms"](text))]))
        np.testing.assert_allclose([rows[label] for label in range(len(theirs))], theirs, atol=1e-5)
