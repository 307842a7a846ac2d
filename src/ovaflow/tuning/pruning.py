"""Choice of the size below which weights are dropped: ``prune: auto``."""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ovaflow.console.errors import StrPath
from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.evaluation.metric import compute_instance_scores
from ovaflow.evaluation.pruned_models import measure_pruned, sample_test_instances
from ovaflow.evaluation.ranking import Ranked
from ovaflow.evaluation.resampling import MeanDifference
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.settings.train import DEFAULT_THRESHOLD, STORED_THRESHOLD
from ovaflow.storage.texts import read_json

PRUNE_KIND = "prune"
"""Kind of the file with the choice."""

MEASURED_THRESHOLDS = (STORED_THRESHOLD, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)
"""Sizes of weights at which the loss is measured."""

GUARDED_METRICS = ("nDCG@5", "PSP@5")
"""Metrics that may hardly fall."""

_MAX_LOSS = 0.001
"""What the first stage may lose of a metric: a tenth of a point."""

_SURE_STANDARD_ERRORS = 2
"""Standard errors by which the loss may be larger than measured."""

_DECIMALS = 3
"""Decimals of the threshold."""


def resolve_threshold(
    prune: float | Literal["auto"], dataset: Dataset, choice: StrPath | None = None
) -> float:
    """Find the size below which weights are dropped.

    ``choice`` is the file of the choice for ``auto``, if there is one.
    """
    if prune != "auto":
        return prune
    if choice is not None:
        return read_json(choice, PRUNE_KIND)["chosen"]
    # where instances have other lengths than 1, weights that matter may all be small
    if dataset.parameters.get("normalize"):
        return DEFAULT_THRESHOLD
    return STORED_THRESHOLD


class _MeasuredModel(NamedTuple):
    """A model that is pruned at some threshold, on the test instances."""

    point: dict[str, Any]  # its threshold, size and quality
    scores: dict[str, np.ndarray]  # by metric: contributions of the instances (n,)

    def describe(self, unpruned: "_MeasuredModel") -> dict[str, Any]:
        """Describe it, with the changes of metrics."""
        changes = {}
        for metric, scores in self.scores.items():
            change = MeanDifference.from_scores(unpruned.scores[metric], scores)
            changes[metric] = change._asdict()
        return self.point | {"change": changes}


def choose_prune(
    model: OneVsAll, dataset: Dataset, a: float, b: float, threads: int = 1
) -> dict[str, Any]:
    """Choose the threshold up to which hardly anything is lost on the test instances; returns JSON.

    ``a`` and ``b`` are the parameters of propensities.
    """
    test = sample_test_instances(dataset)
    inverse_propensity = dataset.inverse_propensity(a, b)
    measured = _measure(model, MEASURED_THRESHOLDS, test, inverse_propensity, threads)
    unpruned = measured[0]
    chosen = MEASURED_THRESHOLDS[-1]
    for metric in GUARDED_METRICS:
        scores = np.array([pruned.scores[metric] for pruned in measured])
        chosen = min(chosen, find_threshold(scores))
    if chosen not in MEASURED_THRESHOLDS:
        measured += _measure(model, [chosen], test, inverse_propensity, threads)
        measured.sort(key=lambda pruned: pruned.point["prune"])
    points = [pruned.describe(unpruned) for pruned in measured]
    return {"chosen": chosen, "instances": test.X.n_rows, "points": points}


def find_threshold(scores: np.ndarray) -> float:
    """Find the threshold at which a metric surely loses no more than it may.

    The loss is taken to grow with the square of the threshold, in proportion to the mean loss at
    all measured thresholds, so that the choice does not depend on one of them.

    Parameters
    ----------
    scores : float64 (thresholds, n)
        Contributions of instances to the metric at each of :data:`MEASURED_THRESHOLDS`.
    """
    change = MeanDifference.from_scores(scores[0], scores.mean(axis=0))
    mean_loss = _SURE_STANDARD_ERRORS * change.error - change.mean
    largest = MEASURED_THRESHOLDS[-1]
    if mean_loss <= 0:
        return largest
    squares = np.square(MEASURED_THRESHOLDS)
    mean_growth = squares.mean() - squares[0]
    square = squares[0] + mean_growth * _MAX_LOSS / mean_loss
    return min(round(math.sqrt(square), _DECIMALS), largest)


def _measure(
    model: OneVsAll,
    thresholds: Sequence[float],
    test: Split,
    inverse_propensity: np.ndarray,
    threads: int,
) -> list[_MeasuredModel]:
    """Measure the model pruned at growing thresholds."""
    measured = []
    for point, ids in measure_pruned(model, thresholds, test, inverse_propensity, threads):
        ranked = Ranked(ids, test.Y, inverse_propensity)
        scores = {}
        for metric in GUARDED_METRICS:
            scores[metric] = compute_instance_scores(metric, ranked)
        measured.append(_MeasuredModel(point, scores))
    return measured
