"""Training labels that are probably wrong or missing, beside planted ones and scikit-learn's
neighbours.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from commands import ovaflow
from records import read_records
from scipy.sparse import lil_array
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from ovaflow.dataset.dataset import Dataset
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.reranking.doubts import Doubts, find_doubts
from ovaflow.sparse.csr import from_scipy


@pytest.fixture(scope="module")
def rows(dataset, held) -> np.ndarray:
    """The training instances that were held out."""
    ids = dataset.ids("train")
    records = held.records("test", range(held.test.X.n_rows))
    return np.array([ids.index(record) for record in records])


@pytest.fixture(scope="module")
def find(folder, held, rows) -> Callable[[Dataset], Doubts]:
    """Find doubts about the held-out instances, perhaps of a changed dataset."""
    model = OneVsAll.open(folder / "held" / "model.h5")

    def find_in(dataset: Dataset) -> Doubts:
        return find_doubts(dataset, rows, held, model)

    return find_in


def test_planted_labels_come_first(dataset, rows, find) -> None:
    random = np.random.default_rng(0)
    Y = lil_array(dataset.train.Y.to_scipy())
    frequent = dataset.train.Y.indices
    wrong = set()
    missing = set()
    for row in random.choice(rows, 30, replace=False).tolist():
        others = frequent[~np.isin(frequent, Y.rows[row])]
        old = int(random.choice(Y.rows[row]))
        new = int(random.choice(others))
        Y[row, old] = 0
        Y[row, new] = 1
        wrong.add((row, new))
        missing.add((row, old))
    doubts = find(replace(dataset, train=replace(dataset.train, Y=from_scipy(Y))))
    given = doubts.take(doubts.given)
    absent = doubts.take(~doubts.given)
    planted = [pair in wrong for pair in list_pairs(given)]
    assert sum(planted) == 30
    assert roc_auc_score(planted, -given.lifts) > 0.9
    surest = absent.take(np.argsort(-absent.probabilities)[:10])
    assert sum(pair in missing for pair in list_pairs(surest)) >= 7


def list_pairs(doubts) -> list[tuple[int, int]]:
    return list(zip(doubts.rows.tolist(), doubts.labels.tolist(), strict=True))


def test_similar_records_are_those_of_scikit_learn(dataset, held, find) -> None:
    doubts = find(dataset)
    others = held.documents.train
    words_of_others = others.X.to_scipy()[:, : held.bias_feature]
    words = dataset.train.take(doubts.rows).X.to_scipy()[:, : held.bias_feature]
    search = NearestNeighbors(n_neighbors=30, metric="cosine", algorithm="brute")
    distances, nearest = search.fit(words_of_others).kneighbors(words)
    theirs = (others.Y.to_scipy().toarray()[nearest, doubts.labels[:, None]] > 0).sum(axis=1)
    # equally similar texts may be others
    clear = np.abs(distances[:, -1] - 1) > 1e-6
    differences = np.abs(theirs - doubts.neighbour_counts)[clear]
    assert np.mean(differences == 0) > 0.8
    assert differences.max() <= 5


def test_the_table_of_a_run(folder, dataset, rows, tmp_path) -> None:
    said = ovaflow(
        "doubts",
        folder / "held" / "model.h5",
        f"--dataset={folder}/dataset.h5",
        f"--held-out={folder}/held.h5",
        f"--output={tmp_path}/doubts.csv",
    )
    table = read_records(tmp_path / "doubts.csv")
    lifts = [float(row["lift"]) for row in table if row["kind"] == "wrong"]
    probabilities = [float(row["probability"]) for row in table if row["kind"] == "missing"]
    assert lifts == sorted(lifts)
    assert probabilities == sorted(probabilities, reverse=True)
    assert min(probabilities) >= 0.5
    ids = dataset.ids("train")
    assert {row["record"] for row in table} <= {ids[row] for row in rows}
    assert f"of {len(rows):,} of {len(ids):,} training records" in said


@pytest.mark.long
def test_all_records_in_five_folds(model, dataset, monkeypatch) -> None:
    for module in ("evaluation", "reranking"):
        monkeypatch.setattr(f"ovaflow.{module}.doubts.MIN_HELD_OUT_TEXTS", 100)
    said = ovaflow("doubts", model, f"--dataset={dataset.path}", "--all")
    n = dataset.n_documents
    assert f"of {n:,} of {n:,} training records" in said


REFUSED = {
    "{0}/dataset/model.h5 --dataset={0}/dataset.h5 --held-out={0}/held.h5": "made from another"
    " dataset than",
    "{0}/dataset/model.h5 --dataset={0}/held.h5 --held-out={0}/held.h5": "was not held out of",
    "{0}/held/model.h5 --dataset={0}/dataset.h5": "no second stage, so every model has seen",
    "{0}/dataset/model.h5 --held-out={0}/held.h5 --all": "exclude each other",
    "{0}/dataset/model.h5 --dataset={0}/dataset.h5 --all": "860 training records are too few",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused(folder, words) -> None:
    assert REFUSED[words] in ovaflow("doubts", words.format(folder).split(), status=2)
