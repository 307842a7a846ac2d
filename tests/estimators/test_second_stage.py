"""The second stage of classifiers in a Python program: the bits of the pipeline, and metrics of
scikit-learn.
"""

import pickle
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from command_training import CommandTraining
from commands import ovaflow
from estimators.corpus import prepare_dataset, save_and_load
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score, brier_score_loss, f1_score, log_loss
from solving import read_model_bytes

from ovaflow import FastXMLClassifier, OneVsAllClassifier, RembrandtClassifier
from ovaflow.console.errors import InputError
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.evidence.name_in_text import NameInText
from ovaflow.reranking.evidence.similar_texts import SimilarTexts

SHARE = 0.4
CLASSIFIERS = [
    OneVsAllClassifier(rerank=SHARE, normalize=True),
    FastXMLClassifier(trees=4, rerank=SHARE),
    RembrandtClassifier(rank=10, rerank=SHARE),
]


@pytest.fixture(scope="module")
def crossed():
    """Instances whose labels depend on pairs of features: similar instances have the same labels,
    which no sum of weights gives.
    """
    rng = np.random.default_rng(5)
    n = 1500
    words = 12
    n_labels = 20
    first, second = rng.integers(0, words, (2, n))
    X = np.zeros((n, 2 * words), np.float32)
    X[np.arange(n), first] = X[np.arange(n), words + second] = 1
    noise = sp.random_array((n, 30), density=0.05, rng=rng, dtype=np.float32)
    meeting = rng.random((words, words, n_labels)) < 0.1
    X = sp.csr_array(sp.hstack([X, noise]))
    Y = sp.csr_array(meeting[first, second].astype(int))
    return SimpleNamespace(X=X[:1300], Y=Y[:1300], new=X[1300:], true=Y[1300:])


@pytest.fixture(scope="module", params=CLASSIFIERS, ids=lambda model: model.method)
def fitted(request, crossed):
    return clone(request.param).fit(crossed.X, crossed.Y)


@pytest.fixture(scope="module")
def plain(crossed, fitted):
    """The same classifier without a second stage."""
    return clone(fitted).set_params(rerank=0).fit(crossed.X, crossed.Y)


def test_probabilities_are_those_of_true_labels(crossed, fitted) -> None:
    probabilities = fitted.predict_proba(crossed.new)
    true = crossed.true.toarray()
    assert sp.issparse(probabilities)
    dense = probabilities.toarray()
    assert brier_score_loss(true.ravel(), dense.ravel()) < 0.03
    labelled = true.any(axis=1)
    scores = fitted.decision_function(crossed.new)

    def measure(values) -> float:
        return average_precision_score(true[labelled], values[labelled], average="samples")

    assert measure(dense) > measure(scores)
    sure = dense[dense > 0.5]
    assert true[dense > 0.5].mean() == pytest.approx(sure.mean(), abs=0.05)


def test_probabilities_are_those_of_the_first_labels(crossed, fitted) -> None:
    labels, probabilities = fitted.predict_topk(crossed.new, 4)
    known = np.isfinite(probabilities)
    dense = fitted.predict_proba(crossed.new).toarray()
    ours = np.take_along_axis(dense, np.where(known, labels, 0).astype(int), axis=1)
    assert_array_equal(ours[known], probabilities[known])
    assert (ours[:, 0] == dense.max(axis=1)).all()


def test_as_many_labels_are_predicted_as_fit(crossed, fitted, plain) -> None:
    ours = fitted.predict(crossed.new).toarray()
    probabilities = fitted.predict_proba(crossed.new).toarray()
    assert_array_equal(ours.sum(axis=1), count_fitting_labels(-np.sort(-probabilities, axis=1)))
    for row, p in zip(ours, probabilities, strict=True):
        assert p[row == 1].min() >= np.max(p[row == 0], initial=0)
    fixed = plain.predict(crossed.new).toarray()
    true = crossed.true.toarray()
    fixed_f1 = f1_score(true, fixed, average="samples", zero_division=0)
    assert f1_score(true, ours, average="samples") > fixed_f1


def test_scores_stay_those_of_the_model_alone(crossed, fitted, plain) -> None:
    assert_array_equal(fitted.decision_function(crossed.new), plain.decision_function(crossed.new))


def test_saved_and_pickled_with_their_second_stage(crossed, fitted, plain, tmp_path) -> None:
    joblib.dump(fitted, tmp_path / "fitted")
    loaded = save_and_load(fitted, tmp_path)
    assert loaded.rerank == SHARE
    mapped = joblib.load(tmp_path / "fitted", mmap_mode="r")
    for other in (loaded, mapped, pickle.loads(pickle.dumps(fitted))):
        assert (other.predict_proba(crossed.new) != fitted.predict_proba(crossed.new)).nnz == 0
        assert other.reranker_.evidence.get(SimilarTexts).panels[0].values.flags.writeable
    with pytest.raises(InputError, match=r"reranker.h5: belongs to another model"):
        plain.save(tmp_path / "model.h5")


def test_the_file_holds_the_same_bits_as_the_pipelines(crossed, tmp_path) -> None:
    dataset = prepare_dataset(tmp_path, crossed.X, crossed.Y)
    held_out = tmp_path / "held.h5"
    ovaflow("hold-out", dataset, f"--fraction={SHARE}", f"--output={held_out}")
    model = CommandTraining("one-vs-all", dataset, tmp_path / "all.run").train()
    held_out_model = CommandTraining("one-vs-all", held_out, tmp_path / "held.run").train()
    predictions = tmp_path / "predictions.h5"
    ovaflow(
        "predict",
        held_out_model,
        f"--dataset={held_out}",
        "--top-k=50",
        f"--output={predictions}",
    )
    reranker = model.with_name("reranker.h5")
    ovaflow(
        "rerank",
        model,
        f"--dataset={dataset}",
        f"--held-out={held_out}",
        f"--predictions={predictions}",
        f"--output={reranker}",
    )
    clone(CLASSIFIERS[0]).fit(crossed.X, crossed.Y).save(tmp_path / "model.h5")
    ours = read_model_bytes(tmp_path / "reranker.h5")
    theirs = read_model_bytes(reranker)
    assert "trees/thresholds" in theirs
    assert ours == theirs


def test_probabilities_of_classes_sum_to_one(crossed) -> None:
    names = np.array(["a", "b", "c"])
    y = names[np.asarray(crossed.Y.argmax(axis=1)) % 3]
    true = names[np.asarray(crossed.true.argmax(axis=1)) % 3]
    model = OneVsAllClassifier(rerank=SHARE).fit(crossed.X, y)
    probabilities = model.predict_proba(crossed.new)
    assert_array_equal(model.predict(crossed.new), model.classes_[probabilities.argmax(axis=1)])
    assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    labels, theirs = model.predict_topk(crossed.new, 3)
    theirs = np.take_along_axis(theirs, np.argsort(labels, axis=1), axis=1)
    assert_allclose(probabilities, theirs / theirs.sum(axis=1, keepdims=True), rtol=1e-6)
    # better than the shares of the classes, which are the same for every instance
    shares = np.tile(np.unique(y, return_counts=True)[1] / len(y), (len(true), 1))
    for loss in (log_loss, brier_score_loss):
        assert loss(true, probabilities) < loss(true, shares)


def test_names_of_labels_are_evidence_where_there_are_any(crossed, fitted) -> None:
    def make_name_features(names) -> sp.csr_array:
        return sp.eye_array(len(names), crossed.X.shape[1], dtype=np.float32, format="csr")

    model = OneVsAllClassifier(rerank=SHARE)
    model.fit(crossed.X, crossed.Y, label_features=make_name_features)
    evidence = model.reranker_.evidence
    assert evidence.get(NameInText).names.names.indices.tolist() == list(range(20))
    assert evidence.get(SimilarTexts).labels.n_rows == 1300
    assert fitted.reranker_.evidence.get(NameInText).names.names.data.size == 0


def test_without_a_second_stage_there_are_no_probabilities(crossed) -> None:
    plain = OneVsAllClassifier()
    assert not hasattr(plain, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba") as error:
        plain.fit(crossed.X, crossed.Y).predict_proba(crossed.new)
    assert "set rerank=0.2" in str(error.value.__cause__)
    with pytest.raises(NotFittedError):
        OneVsAllClassifier(rerank=0.2).predict_proba(crossed.new)
    with pytest.warns(UserWarning, match="not used: 1.. instances were held out, it needs 200"):
        few = OneVsAllClassifier(rerank=0.1).fit(crossed.X, crossed.Y)
    with pytest.raises(AttributeError) as error:
        few.predict_proba(crossed.new)
    assert "it needs 200" in str(error.value.__cause__)
    theirs = plain.predict(crossed.new)
    assert (few.predict(crossed.new) != theirs).nnz == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rerank": 1}, "rerank: found 1, expected a number of at least 0 and below 1"),
        (
            {"rerank": 0.4, "initialization": "pretrained", "retrain": "new"},
            "rerank needs retrain='all'",
        ),
    ],
)
def test_illegal_shares_are_refused(crossed, settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        OneVsAllClassifier(**settings).fit(crossed.X, crossed.Y)
