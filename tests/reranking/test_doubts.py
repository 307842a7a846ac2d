"""Training labels that are probably wrong or missing, beside planted ones and scikit-learn's neighbours."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import lil_array
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.reranking.doubts import find_doubts
from ovaflow.sparse.csr import from_scipy


@pytest.fixture(scope="module")
def rows(folder):
    """The training instances that were held out."""
    ids = {name: row for row, name in enumerate(open_dataset(folder / "dataset.h5").ids("train"))}
    held = open_dataset(folder / "held.h5")
    return np.array([ids[name] for name in held.records("test", range(held.test.X.n_rows))])


def test_planted_labels_come_first(folder, rows):
    dataset, random = open_dataset(folder / "dataset.h5"), np.random.default_rng(0)
    Y = lil_array(dataset.train.Y.to_scipy())
    frequent, wrong, missing = dataset.train.Y.indices, set(), set()
    for row in random.choice(rows, 30, replace=False).tolist():
        old = int(random.choice(Y.rows[row]))
        new = int(random.choice(frequent[~np.isin(frequent, Y.rows[row])]))
        Y[row, old], Y[row, new] = 0, 1
        wrong.add((row, new))
        missing.add((row, old))
    changed = replace(dataset, train=replace(dataset.train, Y=from_scipy(Y)))
    model = OneVsAll.open(folder / "held" / "model.h5")
    doubts = find_doubts(changed, rows, open_dataset(folder / "held.h5"), model)
    given, absent = doubts.take(doubts.given), doubts.take(~doubts.given)
    planted = [pair in wrong for pair in pairs_of(given)]
    assert sum(planted) == 30
    area = roc_auc_score(planted, -given.lifts)
    assert area > 0.9
    surest = absent.take(np.argsort(-absent.probabilities)[:10])
    assert sum(pair in missing for pair in pairs_of(surest)) >= 7


def pairs_of(doubts):
    return list(zip(doubts.rows.tolist(), doubts.labels.tolist(), strict=True))


def test_similar_records_are_those_of_scikit_learn(folder, rows):
    dataset, held = open_dataset(folder / "dataset.h5"), open_dataset(folder / "held.h5")
    doubts = find_doubts(dataset, rows, held, OneVsAll.open(folder / "held" / "model.h5"))
    others = held.documents.train
    without_bias = slice(held.bias_feature)
    texts = [split.X.to_scipy()[:, without_bias] for split in (others, dataset.train.take(doubts.rows))]
    search = NearestNeighbors(n_neighbors=30, metric="cosine", algorithm="brute").fit(texts[0])
    distances, nearest = search.kneighbors(texts[1])
    has_label = others.Y.to_scipy().toarray()[nearest, doubts.labels[:, None]] > 0
    # equally similar texts may be others
    clear = np.abs(distances[:, -1] - 1) > 1e-6
    theirs = has_label.sum(axis=1)
    assert np.mean(theirs[clear] == doubts.neighbour_counts[clear]) > 0.8
    assert np.abs(theirs[clear] - doubts.neighbour_counts[clear]).max() <= 5


def test_the_table_of_a_run(folder, rows, tmp_path, capsys):
    files = f"--dataset={folder / 'dataset.h5'}", f"--held-out={folder / 'held.h5'}"
    output = tmp_path / "doubts.csv"
    assert main(["doubts", str(folder / "held" / "model.h5"), *files, f"--output={output}"]) == 0
    written = capsys.readouterr().out
    with open(output, newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    lifts = [float(row["lift"]) for row in table if row["kind"] == "wrong"]
    probabilities = [float(row["probability"]) for row in table if row["kind"] == "missing"]
    assert lifts == sorted(lifts)
    assert probabilities == sorted(probabilities, reverse=True)
    assert min(probabilities, default=1) >= 0.5
    ids = open_dataset(folder / "dataset.h5").ids("train")
    assert {row["record"] for row in table} <= {ids[row] for row in rows}
    assert f"of {len(rows):,} of {len(ids):,} training records" in written


@pytest.mark.long
def test_all_records_in_five_folds(folder, monkeypatch, capsys):
    for module in ("ovaflow.evaluation.doubts.FEWEST", "ovaflow.reranking.doubts.FEWEST"):
        monkeypatch.setattr(module, 100)
    dataset = folder / "dataset.h5"
    assert main(["doubts", str(folder / "dataset" / "model.h5"), f"--dataset={dataset}", "--all"]) == 0
    n = open_dataset(dataset).n_documents
    assert f"of {n:,} of {n:,} training records" in capsys.readouterr().out


def test_what_is_refused(folder, tmp_path, capsys):
    dataset, held = (f"--{name}={folder / file}" for name, file in (("dataset", "dataset.h5"), ("held-out", "held.h5")))
    model = str(folder / "dataset" / "model.h5")
    for arguments, message in (
        ([model, dataset, held], "made from another dataset than"),
        ([model, dataset.replace("dataset.h5", "held.h5"), held], "was not held out of"),
        ([str(folder / "held" / "model.h5"), dataset], "no second stage, so every model has seen"),
        ([model, dataset, held, "--all"], "exclude each other"),
        ([model, dataset, "--all"], "860 training records are too few"),
    ):
        assert main(["doubts", *arguments]) == 2
        assert message in capsys.readouterr().err
