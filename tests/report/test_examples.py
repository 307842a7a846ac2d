"""Test instances and labels with their words, and recall by frequency, as the page shows them."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.dataset.dataset import open_dataset
from ovaflow.features.tokens import TOKEN_PATTERNS
from ovaflow.prediction.explanation import LabelContributions, compute_contributions
from ovaflow.prediction.predictions import Predictions
from ovaflow.prediction.predictor import Predictor
from ovaflow.report import examples, frequency, label_words, marked_text
from ovaflow.report.gather import DatasetResults, gather_results
from ovaflow.report.page import render_page
from ovaflow.results.runs import open_run
from ovaflow.sparse.csr import select_rows

N_TRAIN = 300


@pytest.fixture(scope="module")
def results(runs) -> DatasetResults:
    return gather_results(runs)[0]


@pytest.fixture(scope="module")
def predictor(runs) -> Predictor:
    predictor = label_words.open_explainable(open_run(runs[0]))
    predictor.model.parameters["transform"] |= {"token_pattern": TOKEN_PATTERNS["plain"]}
    return predictor


def test_parts_of_bins_add_up_to_the_metrics(results) -> None:
    for run in results.runs:
        for name, metric in (("precision", "P@5"), ("psp", "PSP@5")):
            ours = sum(group[name] for group in run.analysis["bins"])
            assert ours == pytest.approx(run.metrics[metric], rel=1e-9)


def test_recall_by_training_positives_is_drawn_for_each_run(results) -> None:
    drawing = frequency.draw_recall("mine", results.runs)["drawing"]
    for run in results.runs:
        ours = [recall for name, _, recall in drawing.rows if name == run.name]
        theirs = [100 * group["recall"] for group in run.analysis["bins"] if group["true"]]
        assert ours == pytest.approx(theirs)


def test_recall_of_runs_that_predict_other_numbers_of_labels_names_each_number(results) -> None:
    first, second = results.runs
    fewer = SimpleNamespace(
        name=second.name, series=second.series, analysis=second.analysis | {"k": 3}
    )
    drawing = frequency.draw_recall("mine", [first, fewer])["drawing"]
    assert "among the first 3 or 5 predictions" in drawing.caption
    assert "recall@3 or 5 in %" in drawing.columns


def test_texts_are_those_of_the_best_run_with_reasons_and_stay_the_same(runs, results) -> None:
    texts = results.examples["texts"]
    assert texts == gather_results(runs)[0].examples["texts"]
    assert len(texts) == 5
    labels = []
    for example in texts:
        labels += example.predicted
    assert {label.hit for label in labels} == {True, False}
    assert np.mean([bool(label.up) for label in labels]) > 0.9
    assert all(example.record == f"<i>{N_TRAIN + example.row}</i>" for example in texts)
    row = texts[0].row
    heading = f"<h4><bdi>&lt;i&gt;{N_TRAIN + row}&lt;/i&gt;</bdi> <small>test instance {row}<"
    assert heading in render_page([results])
    best = Predictions.open(results.best.folder / "predictions.h5")
    assert [label.value for label in texts[0].predicted] == best.scores[row].tolist()
    other = gather_results(runs, seed=1)[0].examples["texts"]
    assert [example.row for example in other] != [example.row for example in texts]


@given(st.integers(0, 2**32 - 1), st.integers(0, 30), st.integers(0, 15))
def test_choice_takes_each_kind_and_no_unlabelled_document(seed, n, wanted) -> None:
    random = np.random.default_rng(seed)
    n_true = random.integers(0, 4, n)
    hits = random.random((n, 5)) < 0.3
    hits &= np.cumsum(hits, axis=1) <= n_true[:, None]
    rows = examples.choose_instances(hits, n_true, wanted)
    assert len(rows) == len(set(rows)) == min(wanted, (n_true > 0).sum())
    assert (n_true[rows] > 0).all()
    assert (np.diff(rows) > 0).all()
    found = hits.sum(axis=1)
    possible = np.minimum(n_true, 5)
    kinds = np.select([found == 0, found < possible], [0, 1], 2)
    if wanted >= 3:
        assert set(kinds[rows]) == set(kinds[n_true > 0])


def test_pieces_are_the_text_and_marks_speak_for_labels(runs, predictor) -> None:
    dataset = open_dataset(runs[0].parent / "dataset.h5")
    predicted = Predictions.open(runs[0] / "predictions.h5").ids
    marked = {"hit": 0, "miss": 0}
    for row in range(30):
        (text,) = dataset.test_texts([row])
        labels = predicted[row]
        true = set(dataset.test.Y.part(row, row + 1).indices.tolist())
        explanations = label_words.explain_predictions(predictor, dataset.test.X, row, labels)
        pieces = marked_text.cut_text(predictor, text, explanations, true)
        assert "".join(piece.text for piece in pieces) == text
        x = select_rows(dataset.test.X, np.array([row]))
        theirs = {}
        for label in labels.tolist():
            theirs[label] = dict(compute_contributions(predictor, x, label).up)
        for piece in pieces:
            if piece.kind:
                marked[piece.kind] += 1
                word = predictor.model.feature_ids.get(piece.text.lower())
                supported = max(theirs, key=lambda label: theirs[label].get(word, 0))
                assert (supported in true) == (piece.kind == "hit")
                assert marked_text.MIN_MARK_STRENGTH <= piece.strength <= 1
    assert min(marked.values()) > 5


def test_words_of_a_prediction_are_the_strongest(predictor) -> None:
    contributions = LabelContributions(
        label=0,
        score=0.26,
        bias=0.0,
        up=[(0, 0.5), (3, 0.3), (4, 0.2), (5, 0.1), (6, 0.05), (2, 0.01)],
        down=[(1, -0.4), (7, -0.3), (8, -0.2)],
        others=0.0,
    )
    up, down = label_words.find_pushing_words(predictor, contributions)
    names = predictor.feature_names
    assert up == [(names[0], 0.5), (names[3], 0.3)]
    assert down == [(names[1], -0.4)]


def test_sampled_labels_go_from_head_to_tail(predictor) -> None:
    labels = label_words.sample_labels(predictor, lambda label: f"number {label}", 6)
    counts = [label["positives"] for label in labels]
    of_trained = predictor.model.counts[predictor.model.trained]
    assert counts == sorted(counts, reverse=True)
    assert (counts[0], counts[-1]) == (of_trained.max(), of_trained.min())
    assert len({label["name"] for label in labels}) == len(labels)
    words = labels[0]["words"]
    assert max(words, key=lambda word: word[1]) == words[0]
    for label in labels:
        assert all(0 < cosine <= 1 for _, cosine in label["nearest"])


def test_ranges_of_positives_in_words() -> None:
    assert frequency.describe_range({"from": 1, "to": 1}) == "1"
    assert frequency.describe_range({"from": 2, "to": 1000}) == "2–1,000"
    assert frequency.describe_range({"from": 101, "to": None}) == "over 100"
