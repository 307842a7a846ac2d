"""Metrics of a cross-validation: means over its folds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from ovaflow.evaluation.metric import is_metric
from ovaflow.evaluation.resampling import CONFIDENCE


def join_folds(folds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Average the folds' metrics of quality.

    Each has the entries of :func:`summarize_folds`.
    """
    # a fold of few instances may have no second stage, or no labels
    metrics = {}
    for name in folds[0]:
        if is_metric(name) and all(fold.get(name) is not None for fold in folds):
            metrics[name] = summarize_folds([fold[name] for fold in folds])
    return {
        "folds": len(folds),
        "instances": [fold["instances"] for fold in folds],
        "metrics": metrics,
    }


def summarize_folds(values: list[float]) -> dict[str, Any]:
    """Compute mean, standard deviation, and 95 % interval of the mean: mean +- t s / sqrt(N).

    The interval is that of the mean of N independent values, by the t distribution with N - 1
    degrees of freedom.
    """
    mean = float(np.mean(values))
    deviation = float(np.std(values, ddof=1))
    t = float(scipy.special.stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
    half = t * deviation / len(values) ** 0.5
    return {
        "mean": mean,
        "deviation": deviation,
        "interval": [mean - half, mean + half],
        "values": values,
    }
