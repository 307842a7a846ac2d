from types import SimpleNamespace

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import read_records
from sklearn.metrics import precision_recall_fscore_support

from ovaflow.data.dataset import inverse_propensity
from ovaflow.evaluation.analysis import (
    ENOUGH,
    best_and_worst,
    confused,
    decile_starts,
    frequency_groups,
    often_missed,
    results_of_labels,
    sure_and_wrong,
)
from ovaflow.evaluation.ranking import find_hits
from ovaflow.reranking.answer_length import labels_that_fit
from ovaflow.reranking.reranked_model import Ranking
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage.writing import write_csv


@given(st.lists(st.integers(0, 40), max_size=120))
def test_deciles_against_one_label_at_a_time(counts):
    starts, deciles = decile_starts(np.array(counts, np.int64))
    ours = np.searchsorted(starts, counts, "right")
    theirs = naive.deciles(counts)
    assert [decile for decile in theirs if decile] == [deciles[group - 1][0] for group in ours if group]
    assert (ours == 0).tolist() == [count == 0 for count in counts]


def predicted(seed, n=60, labels=12, k=4):
    """Random predictions, with gaps, and true labels."""
    random = np.random.default_rng(seed)
    Y = (random.random((n, labels)) < 0.5 / np.arange(1, labels + 1)).astype(np.float32)
    ids = np.array([random.permutation(labels)[:k] for _ in range(n)], np.int32).reshape(n, k)
    ids[random.random((n, k)) < 0.1] = -1
    scores = np.sort(random.normal(size=(n, k)))[:, ::-1]
    return ids, scores, Y, from_scipy(Y)


@pytest.mark.parametrize("seed", range(3))
def test_groups_against_one_instance_at_a_time(seed):
    ids, _, dense, Y = predicted(seed)
    counts = np.random.default_rng(seed).integers(0, 9, dense.shape[1])
    inverse, hits = inverse_propensity(counts, 200, 0.55, 1.5), find_hits(ids, Y)
    first = (ids[:, :3, None] == np.arange(dense.shape[1])).any(axis=1)
    for group in frequency_groups(ids, hits, Y, counts, 3, (0, 1, 3, 6), inverse):
        last = np.inf if group["to"] is None else group["to"]
        members = (counts >= group["from"]) & (counts <= last)
        theirs = naive.group_metrics(ids, dense, inverse, 3, set(np.flatnonzero(members)))
        true, assigned = dense[:, members] > 0, first[:, members]
        theirs |= {"labels": members.sum(), "true": true.sum(), "predicted": assigned.sum()}
        found, tested = true & assigned, true.any(axis=0)
        theirs |= {"hits": found.sum(), "coverage": found.any(axis=0).sum() / max(tested.sum(), 1)}
        assert {name: group[name] for name in theirs} == pytest.approx(theirs)


@pytest.mark.parametrize(("seed", "n"), [(0, 60), (1, 60), (2, 60), (3, 0)])
def test_confusions_against_one_instance_at_a_time(seed, n):
    ids, _, dense, Y = predicted(seed, n)
    ours = confused(ids, find_hits(ids, Y), Y, 10_000)
    theirs = naive.confusions(ids, dense)
    assert {(each["true"], each["predicted"]): each["times"] for each in ours} == {
        pair: times for pair, times in theirs.items() if times > 1
    }
    total = sum(theirs.values())
    for each in ours:
        shares = [
            sum(t for pair, t in theirs.items() if pair[side] == each[key]) for side, key in enumerate(each) if side < 2
        ]
        assert each["expected"] == pytest.approx(shares[0] * shares[1] / total)
    gaps = [each["times"] - each["expected"] for each in ours]
    assert gaps == sorted(gaps, reverse=True)


@pytest.mark.parametrize(("seed", "n"), [(0, 60), (1, 60), (2, 0)])
def test_sure_and_wrong_and_often_missed(seed, n):
    ids, scores, dense, Y = predicted(seed, n)
    n_true, hits = dense.sum(axis=1), find_hits(ids, Y)
    wrong, first = {}, ids[:, 0].tolist()
    for row in np.argsort(-scores[:, 0]).tolist():
        if first[row] >= 0 and n_true[row] and not dense[row, first[row]]:
            wrong.setdefault(first[row], row)
    theirs = [{"row": row, "label": label, "score": scores[row, 0]} for label, row in wrong.items()]
    assert sure_and_wrong(ids, scores, hits, n_true, 5) == theirs[:5]
    amounts = np.array([dense, dense * (ids[:, :, None] == np.arange(12)).any(axis=1)]).sum(axis=1).T
    theirs = [{"label": j, "true": true, "found": found} for j, (true, found) in enumerate(amounts) if true > found]
    theirs.sort(key=lambda each: each["found"] - each["true"])
    assert often_missed(ids, hits, Y, 5) == theirs[:5]


def test_results_of_labels_like_scikit_learn(tmp_path):
    ids, _, dense, Y = predicted(9, n=300, k=6)
    names = [f"-label; {j}" for j in range(12)]
    test, counts = SimpleNamespace(Y=Y), np.arange(12)
    data = SimpleNamespace(test=test, label_names=names, label_uris=[], counts=counts, n_labels=12)
    probabilities = np.where(ids < 0, -np.inf, np.sort(np.random.default_rng(9).random(ids.shape))[:, ::-1])
    order = np.argsort(-probabilities, kind="stable")
    ids, probabilities = (np.take_along_axis(each, order, axis=1) for each in (ids, probabilities))
    ranking = Ranking(ids, probabilities, ids, probabilities)
    write_csv(tmp_path / "labels.csv", results_of_labels(SimpleNamespace(ids=ids, ranking=ranking), data))
    rows = read_records(tmp_path / "labels.csv")
    # formulas to a spreadsheet
    assert [row["label"] for row in rows] == [f"'{name}" for name in names]
    for amounts, end in ((labels_that_fit(probabilities), "_fit"), (np.full(len(ids), 5), "")):
        assigned = np.array([[j in row[:m] for j in range(12)] for row, m in zip(ids, amounts, strict=True)])
        precision, recall, f1, true = precision_recall_fscore_support(dense, assigned, zero_division=0)
        figures = {"precision": precision, "recall": recall, "F1": f1, "predicted": assigned.sum(axis=0)}
        figures = {f"{name}{end}": theirs for name, theirs in figures.items()}
        for column, theirs in (figures | {"training_documents": counts, "test_positives": true}).items():
            assert [float(row[column] or 0) for row in rows] == pytest.approx(theirs, abs=1e-4)

    ours = best_and_worst(ids[:, :5], find_hits(ids[:, :5], Y), Y, 3)
    tested = [j for j in range(12) if true[j] >= ENOUGH]
    assert ours["enough"] == len(tested) > 6
    ranked = sorted(tested, key=lambda j: -f1[j])
    assert [each["label"] for each in ours["best"]] == ranked[:3]
    assert [each["label"] for each in ours["worst"]] == ranked[::-1][:3]
