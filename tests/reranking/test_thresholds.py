"""Thresholds of labels: the best ones of each label, the common one of rare labels, and questions for them."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from commands import ovaflow
from sklearn.metrics import f1_score, precision_score

from ovaflow.evaluation.reliability import by_thresholds
from ovaflow.prediction.predictor import Predictor
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.thresholds import LEVELS, NEVER, count_by_level, tune_thresholds
from ovaflow.sparse.csr import from_scipy


def problem(seed, n=400, size=5, k=4):
    """Counts of candidates of so many texts, which labels are true, and how probable each is: (n, l)."""
    rng = np.random.default_rng(seed)
    ids = np.argsort(rng.random((n, size)), axis=1)[:, :k].astype(np.int32)
    ids[rng.random(ids.shape) < 0.1] = -1
    p = rng.beta(1, 3, ids.shape).astype(np.float32)
    hits = (rng.random(ids.shape) < p ** (0.5 + ids % 3)) & (ids >= 0)
    # the last column takes what is no candidate
    found, true = np.zeros((n, size + 1), np.float32), rng.random((n, size + 1)) < 0.05
    np.put_along_axis(found, ids, p, axis=1)
    np.put_along_axis(true, ids, hits, axis=1)
    found, true = found[:, :-1], true[:, :-1]
    return count_by_level(ids, p, hits, true.sum(axis=0)), true, found


@pytest.mark.parametrize("seed", range(5))
def test_no_other_threshold_has_a_larger_f1(seed):
    counts, true, found = problem(seed)
    ours = tune_thresholds(counts, pseudo=0)
    for label in range(true.shape[1]):
        scores = [f1_score(true[:, label], found[:, label] >= level, zero_division=0) for level in LEVELS]
        assert ours[label] == LEVELS[np.argmax(scores)]
        np.testing.assert_allclose(counts.f1[label], scores)


@pytest.mark.parametrize("seed", range(5))
def test_no_smaller_threshold_has_the_wanted_precision(seed):
    counts, true, found = problem(seed)
    ours = tune_thresholds(counts, 0.5, pseudo=0)
    for label in range(true.shape[1]):
        chosen = [found[:, label] >= level for level in LEVELS]
        precisions = np.array([precision_score(true[:, label], each, zero_division=0) for each in chosen])
        theirs = LEVELS[np.argmax(precisions >= 0.5)] if (precisions >= 0.5).any() else np.float32(NEVER)
        assert ours[label] == theirs


@pytest.mark.parametrize("wanted", [None, 0.4])
def test_labels_without_positives_have_the_common_threshold(wanted):
    counts, _, _ = problem(0)
    more = type(counts)(*(np.vstack([each, np.zeros((1, each.shape[1]))]) for each in counts))
    assert tune_thresholds(more, wanted)[-1] == tune_thresholds(counts.pooled, wanted)[0]
    shrunk = tune_thresholds(counts, wanted, pseudo=1e9)
    assert (shrunk == tune_thresholds(counts.pooled, wanted)[0]).all()


def test_what_thresholds_reach_is_measured_as_scikit_learn_does():
    _, true, found = problem(0)
    ids, thresholds = np.broadcast_to(np.arange(5), found.shape), np.full(5, 0.3, np.float32)
    Y = from_scipy(sp.csr_array(true.astype(np.float32)))
    ours = by_thresholds(ids, found, true, Y, thresholds)
    chosen = found >= np.float32(0.3)
    assert ours["precision"] == pytest.approx(precision_score(true, chosen, average="micro"))
    for average in ("micro", "macro"):
        assert ours[f"{average}-F1"] == pytest.approx(f1_score(true, chosen, average=average))
    assert ours["labels"] == chosen.sum() / len(chosen)


@pytest.fixture
def with_thresholds(folder, model, tmp_path):
    """Options of a command, and the model with a second stage that was told to tune thresholds."""
    files = f"--dataset={folder}/dataset.h5 --held-out={folder}/held.h5 --predictions={folder}/held/predictions.h5"
    ovaflow("rerank", model, *files.split(), "--thresholds=f1", f"--output={tmp_path}/reranker.h5")
    return tmp_path / "reranker.h5"


def test_answers_are_the_candidates_that_reach_their_thresholds(model, with_thresholds, folder):
    predictor = Predictor.open(model, with_thresholds)
    thresholds = predictor.model.reranker.thresholds
    assert thresholds.shape == (predictor.model.n_labels,)
    text = "word10 word11 word12"
    (ours,), (theirs,) = (predictor.answer([text], **asked) for asked in ({"thresholds": True}, {"top_k": 50}))
    reached = [label.id for label in theirs.labels if label.probability >= thresholds[label.id]]
    assert [label.id for label in ours.labels] == reached
    said = ovaflow("predict", model, f"--reranker={with_thresholds}", f"--text={text}", "--thresholds")
    assert [label["id"] for label in json.loads(said)["labels"]] == reached


def test_nothing_else_of_the_second_stage_changes(folder, model, with_thresholds):
    plain, tuned = (Reranker.about(path) for path in (model.with_name("reranker.h5"), with_thresholds))
    assert plain.thresholds is None
    assert tuned.parameters == plain.parameters | {"thresholds": tuned.parameters["thresholds"]}


def test_a_model_without_thresholds_says_how_it_gets_some(model):
    said = ovaflow("predict", model, "--text=word10", "--thresholds", status=2)
    assert "no thresholds of labels; set predict: {thresholds: f1} in the config" in said
