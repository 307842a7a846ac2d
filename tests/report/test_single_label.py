"""The section on one label for each instance."""

from types import SimpleNamespace

import numpy as np
from sklearn.metrics import confusion_matrix

from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.metrics import compute_ranking_metrics
from ovaflow.evaluation.single_label import single_label_metrics
from ovaflow.prediction.predictions import PredictedLabels
from ovaflow.report.single_label import (
    MAX_DRAWN_LABELS,
    MAX_LISTED_PAIRS,
    read_confusion,
    show_single_label,
)
from ovaflow.sparse.csr import from_scipy

N_LABELS = 12


def make_run(labels: np.ndarray, first: np.ndarray, n_labels: int = N_LABELS) -> SimpleNamespace:
    """Make a run of instances with one label each, given the labels predicted first."""
    Y = from_scipy(np.eye(n_labels, dtype=np.float32)[labels])
    split = SimpleNamespace(Y=Y)
    names = [f"class {label}" for label in range(n_labels)]
    dataset = SimpleNamespace(
        train=split,
        test=split,
        label_name=names.__getitem__,
        counts=np.arange(n_labels),
        n_labels=n_labels,
    )
    predictions = PredictedLabels(
        first[:, None].astype(np.int32), np.ones((len(first), 1), np.float32)
    )
    measured = EvaluatedPredictions.from_predictions(predictions, Y)
    run = SimpleNamespace(
        dataset=dataset,
        measured=measured,
        name="msi",
        summary="",
        series=0,
        samples={},
        has_test_labels=True,
    )
    run.metrics = compute_ranking_metrics(
        predictions.ids, Y, np.ones(n_labels)
    ) | single_label_metrics(measured, dataset)
    run.read = lambda reader: reader(run)
    return run


def test_confused_labels_are_listed_and_drawn() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(N_LABELS, size=400)
    first = np.where(
        rng.random(400) < 0.6, labels, np.minimum(labels + rng.integers(1, 3, 400), N_LABELS - 1)
    )
    run = make_run(labels, first)
    content = show_single_label(SimpleNamespace(shown_runs=[run], best=run, anchor="made"))
    theirs = confusion_matrix(labels, first)
    number = {f"class {label}": label for label in range(N_LABELS)}
    for row in content["pairs"].rows:
        predicted, times, share = row.cells
        true = number[row.name]
        other = number[predicted.text]
        assert times.value == theirs[true, other]
        assert share.value == theirs[true, other] / theirs[true].sum()
        assert true != other
    listed = [row.cells[1].value for row in content["pairs"].rows]
    assert len(listed) == MAX_LISTED_PAIRS
    confused = theirs.copy()
    np.fill_diagonal(confused, 0)
    assert listed == sorted(confused.ravel().tolist(), reverse=True)[: len(listed)]
    drawn = content["figure"].rows
    for true, other, times in drawn:
        assert theirs[number[true], number[other]] == times
    assert 2 <= len({true for true, *_ in drawn}) <= MAX_DRAWN_LABELS


def test_only_where_no_instance_has_several_labels() -> None:
    run = make_run(np.arange(3), np.arange(3))
    run.dataset.test = SimpleNamespace(Y=from_scipy(np.ones((3, N_LABELS), np.float32)))
    assert read_confusion(run) is None
    assert show_single_label(SimpleNamespace(shown_runs=[SimpleNamespace(read={}.get)])) is None
