"""Metrics of the folds of a cross-validation, joined."""

import numpy as np
from scipy.special import stdtrit

from ovaflow.evaluation.metric import is_metric
from ovaflow.evaluation.resampling import CONFIDENCE


def join_folds(folds):
    """What the folds' metrics of quality are on average: for each mean, deviation, interval and
    values.

    The interval is that of the mean of N independent values, by the t distribution with N - 1
    degrees of freedom.
    """
    # a fold of few instances may have no second stage, or no labels
    names = [name for name, value in folds[0].items() if is_metric(name) and value is not None]
    shared = [name for name in names if all(fold.get(name) is not None for fold in folds)]
    return {
        "folds": len(folds),
        "instances": [fold["instances"] for fold in folds],
        "metrics": {name: summarize_folds([fold[name] for fold in folds]) for name in shared},
    }


def summarize_folds(values):
    """Mean, standard deviation, and 95 % interval of the mean: mean +- t s / sqrt(N)."""
    mean = float(np.mean(values))
    deviation = float(np.std(values, ddof=1))
    half = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)) * deviation / len(values) ** 0.5
    return {
        "mean": mean,
        "deviation": deviation,
        "interval": [mean - half, mean + half],
        "values": values,
    }
