from types import SimpleNamespace

import naive
import numpy as np
import pytest
from records import read_records
from sklearn.metrics import precision_recall_fscore_support

from ovaflow.dataset.dataset import compute_inverse_propensity
from ovaflow.evaluation.analysis import (
    count_outcomes,
    find_confused_labels,
    group_by_frequency,
    tabulate_labels,
)
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.ranking import Ranked
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.reranked_model import Ranking
from ovaflow.sparse.csr import from_scipy
from ovaflow.storage.writing import write_csv


def make_predictions(seed, n=60, labels=12, k=4) -> tuple:
    """Random predictions, with gaps, and true labels."""
    random = np.random.default_rng(seed)
    Y = (random.random((n, labels)) < 0.5 / np.arange(1, labels + 1)).astype(np.float32)
    ids = np.array([random.permutation(labels)[:k] for _ in range(n)], np.int32).reshape(n, k)
    ids[random.random((n, k)) < 0.1] = -1
    scores = np.sort(random.normal(size=(n, k)))[:, ::-1]
    return ids, scores, Y, from_scipy(Y)


@pytest.mark.parametrize("seed", range(3))
def test_groups_against_one_instance_at_a_time(seed) -> None:
    ids, _, dense, Y = make_predictions(seed)
    counts = np.random.default_rng(seed).integers(0, 9, dense.shape[1])
    inverse = compute_inverse_propensity(counts, 200, 0.55, 1.5)
    first = (ids[:, :3, None] == np.arange(dense.shape[1])).any(axis=1)
    for group in group_by_frequency(Ranked(ids, Y, inverse), counts, 3, (0, 1, 3, 6)):
        last = np.inf if group["to"] is None else group["to"]
        members = (counts >= group["from"]) & (counts <= last)
        theirs = naive.group_metrics(ids, dense, inverse, 3, set(np.flatnonzero(members)))
        true = dense[:, members] > 0
        assigned = first[:, members]
        theirs |= {"labels": members.sum(), "true": true.sum(), "predicted": assigned.sum()}
        found = true & assigned
        tested = true.any(axis=0)
        theirs |= {"hits": found.sum(), "coverage": found.any(axis=0).sum() / max(tested.sum(), 1)}
        assert {name: group[name] for name in theirs} == pytest.approx(theirs)


@pytest.mark.parametrize(("seed", "n"), [(0, 60), (1, 60), (2, 60), (3, 0)])
def test_confusions_against_one_instance_at_a_time(seed, n) -> None:
    ids, _, dense, Y = make_predictions(seed, n)
    ours = find_confused_labels(Ranked(ids, Y), ids.shape[1], 10_000)
    theirs = naive.count_confusions(ids, dense)
    assert {(each["true"], each["predicted"]): each["times"] for each in ours} == {
        pair: times for pair, times in theirs.items() if times > 1
    }
    total = sum(theirs.values())
    for each in ours:
        missed = 0
        wrong = 0
        for (true, predicted), times in theirs.items():
            if true == each["true"]:
                missed += times
            if predicted == each["predicted"]:
                wrong += times
        assert each["expected"] == pytest.approx(missed * wrong / total)
    gaps = [each["times"] - each["expected"] for each in ours]
    assert gaps == sorted(gaps, reverse=True)


def test_results_of_labels_like_scikit_learn(tmp_path) -> None:
    ids, _, dense, Y = make_predictions(9, n=300, k=6)
    names = [f"-label; {j}" for j in range(12)]
    test = SimpleNamespace(Y=Y)
    counts = np.arange(12)
    data = SimpleNamespace(test=test, label_names=names, label_uris=[], counts=counts, n_labels=12)
    probabilities = np.where(
        ids < 0, -np.inf, np.sort(np.random.default_rng(9).random(ids.shape))[:, ::-1]
    )
    order = np.argsort(-probabilities, kind="stable")
    ids, probabilities = (np.take_along_axis(each, order, axis=1) for each in (ids, probabilities))
    ranking = Ranking(ids, probabilities, ids, probabilities)
    write_csv(
        tmp_path / "labels.csv",
        tabulate_labels(
            EvaluatedPredictions.from_predictions(SimpleNamespace(ids=ids, ranking=ranking), Y),
            data,
        ),
    )
    rows = read_records(tmp_path / "labels.csv")
    # formulas to a spreadsheet
    assert [row["label"] for row in rows] == [f"'{name}" for name in names]
    for amounts, end in ((count_fitting_labels(probabilities), "_fit"), (np.full(len(ids), 5), "")):
        predicted = [row[:amount] for row, amount in zip(ids, amounts, strict=True)]
        assigned = naive.mark_labels(predicted, 12)
        precision, recall, f1, true = precision_recall_fscore_support(
            dense, assigned, zero_division=0
        )
        figures = {
            "precision": precision,
            "recall": recall,
            "F1": f1,
            "predicted": assigned.sum(axis=0),
        }
        figures = {f"{name}{end}": theirs for name, theirs in figures.items()}
        for column, theirs in (
            figures | {"training_documents": counts, "test_positives": true}
        ).items():
            assert [float(row[column] or 0) for row in rows] == pytest.approx(theirs, abs=1e-4)


def test_reasons_of_missed_labels_against_one_label_at_a_time() -> None:
    ids, _, dense, Y = make_predictions(3, n=200, k=8)
    random = np.random.default_rng(3)
    probabilities = np.where(ids < 0, -np.inf, random.random(ids.shape))
    order = np.argsort(-probabilities, kind="stable")
    ids, probabilities = (np.take_along_axis(each, order, axis=1) for each in (ids, probabilities))
    ranking = Ranking(ids, probabilities, ids, probabilities)
    ours = count_outcomes(
        EvaluatedPredictions.from_predictions(SimpleNamespace(ids=ids, ranking=ranking), Y)
    )
    amounts = count_fitting_labels(probabilities)
    theirs = naive.count_outcomes(ids, dense, amounts)
    counts = ours._asdict()
    assert {name: counts[name] for name in theirs} == theirs
    missed = ours.unfitting + ours.ranked_low + ours.no_candidates
    assert ours.found + missed == ours.true
    assert ours.suggested == np.minimum(amounts, (ids >= 0).sum(axis=1)).sum()
    first_ten = naive.mark_labels(ids[:, :10], 12)
    assert ours.in_first_ten == (first_ten & (dense > 0)).sum()
    missed_counts = [label.missed for label in ours.most_missed]
    assert missed_counts == sorted(missed_counts, reverse=True)
