"""Data with one label for each instance: scikit-learn's metrics of classes are the oracle."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.single_label import (
    compute_confusion_matrix,
    has_one_label,
    single_label_metrics,
)
from ovaflow.prediction.predictions import PredictedLabels
from ovaflow.sparse.csr import from_scipy


def make_dataset(true, n_labels) -> SimpleNamespace:
    """A dataset whose test instances have these labels, -1 for none; label 0 is the rarest in
    training.
    """
    Y = np.zeros((len(true), n_labels), np.float32)
    labelled = np.flatnonzero(true >= 0)
    Y[labelled, true[labelled]] = 1
    split = SimpleNamespace(Y=from_scipy(Y))
    return SimpleNamespace(
        train=split, test=split, n_labels=n_labels, counts=np.arange(1, n_labels + 1)
    )


def make_predictions(scores, k) -> PredictedLabels:
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return PredictedLabels(ids.astype(np.int32), np.take_along_axis(scores, ids, axis=1))


@given(st.integers(2, 6), st.integers(1, 30), st.integers(1, 7), st.integers(0, 10**6))
def test_like_scikit_learn(n_labels, n, k, seed) -> None:
    rng = np.random.default_rng(seed)
    true = rng.integers(n_labels, size=n)
    scores = rng.normal(size=(n, n_labels))
    data = make_dataset(true, n_labels)
    answers = make_predictions(scores, k)
    measured = EvaluatedPredictions.from_predictions(answers, data.test.Y)
    ours = single_label_metrics(measured, data)
    first = answers.ids[:, 0]
    assert ours["accuracy"] == pytest.approx(metrics.accuracy_score(true, first))
    # labels that are only predicted have no recall
    theirs = metrics.recall_score(
        true, first, labels=np.unique(true), average="macro", zero_division=0
    )
    assert ours["balanced_accuracy"] == pytest.approx(theirs)
    theirs = metrics.confusion_matrix(true, first, labels=range(n_labels))
    np.testing.assert_array_equal(compute_confusion_matrix(measured.order).toarray(), theirs)
    two = n_labels == 2 and k > 1 and len(np.unique(true)) == 2
    assert ("roc_auc" in ours) == two
    if two:
        margins = scores[:, 0] - scores[:, 1]
        assert ours["roc_auc"] == pytest.approx(metrics.roc_auc_score(true == 0, margins))
        assert ours["average_precision"] == pytest.approx(
            metrics.average_precision_score(true == 0, margins)
        )


def test_one_label_or_none_are_two_classes() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(-1, 1, size=50)
    scores = rng.normal(size=(50, 1))
    data = make_dataset(true, 1)
    ours = single_label_metrics(
        EvaluatedPredictions.from_predictions(make_predictions(scores, 5), data.test.Y), data
    )
    assert ours["roc_auc"] == pytest.approx(metrics.roc_auc_score(true == 0, scores[:, 0]))
    assert ours["accuracy"] == 1


def test_only_where_no_instance_has_several_labels() -> None:
    data = make_dataset(np.array([0, -1, 1]), 2)
    assert has_one_label(data)
    without = make_dataset(np.array([-1]), 2)
    assert (
        single_label_metrics(
            EvaluatedPredictions.from_predictions(
                make_predictions(np.zeros((1, 2)), 2), without.test.Y
            ),
            without,
        )
        == {}
    )
    data.test = SimpleNamespace(Y=from_scipy(np.ones((1, 2), np.float32)))
    assert not has_one_label(data)
