"""Choice of the size below which weights are dropped at no cost: ``prune: auto``."""

from typing import Any, Literal

import numpy as np

from ovaflow.console.errors import StrPath
from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.metric import compute_instance_scores
from ovaflow.evaluation.pruned_models import measure_pruned, sample_test_instances
from ovaflow.evaluation.ranking import Ranked
from ovaflow.evaluation.resampling import MeanDifference
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.settings.train import DEFAULT_THRESHOLD, STORED_THRESHOLD
from ovaflow.sparse.csr import CSR
from ovaflow.storage.texts import read_json

PRUNE_KIND = "prune"
"""Kind of the file with the choice."""

CANDIDATE_THRESHOLDS = (STORED_THRESHOLD, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)
"""Sizes of weights that are compared."""

GUARDED_METRICS = ("nDCG@5", "PSP@5")
"""Metrics that may not fall."""

_MAX_LOSS = 0.001
"""A metric that is lower by at most a tenth of a point has not fallen."""

_SURE_STANDARD_ERRORS = 2
"""Standard errors by which the loss must surely be no larger."""


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


def choose_prune(
    model: OneVsAll, dataset: Dataset, a: float, b: float, threads: int = 1
) -> dict[str, Any]:
    """Choose the largest threshold up to which nothing is lost on the test instances; returns JSON.

    ``a`` and ``b`` are the parameters of propensities.
    """
    test = sample_test_instances(dataset)
    inverse_propensity = dataset.inverse_propensity(a, b)
    points = []
    unpruned_scores = None
    chosen = CANDIDATE_THRESHOLDS[0]
    is_harmless = True
    measured = measure_pruned(model, CANDIDATE_THRESHOLDS, test, inverse_propensity, threads)
    for point, ids in measured:
        scores = _compute_scores(ids, test.Y, inverse_propensity)
        if unpruned_scores is None:
            unpruned_scores = scores
        changes = {}
        for metric in GUARDED_METRICS:
            change = MeanDifference.from_scores(unpruned_scores[metric], scores[metric])
            changes[metric] = change._asdict()
            lowest = change.mean - _SURE_STANDARD_ERRORS * change.error
            is_harmless = is_harmless and lowest >= -_MAX_LOSS
        points.append(point | {"change": changes})
        if is_harmless:
            chosen = point["prune"]
    return {"chosen": chosen, "instances": test.X.n_rows, "points": points}


def _compute_scores(
    ids: np.ndarray, Y: CSR, inverse_propensity: np.ndarray
) -> dict[str, np.ndarray]:
    """Compute the contributions of instances to each metric: (n,), whose means are the metrics."""
    ranked = Ranked(ids, Y, inverse_propensity)
    return {metric: compute_instance_scores(metric, ranked) for metric in GUARDED_METRICS}
