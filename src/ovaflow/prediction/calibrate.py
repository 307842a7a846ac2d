"""Calibration of a model from the scores that a second model gives to held-out instances.

Scores of training instances say nothing: the model was fitted to them. The
second model is trained with the same settings on the instances that were not
held out. Only the best labels of each held-out instance are looked at, which
bounds memory by the number of instances: thresholds are chosen on all that the
predictions hold, sigmoids fitted to the first :data:`LIKELY`, since it is the
probabilities of predicted labels that have to be right.

F1 of a label at a threshold is 2 TP / (P + N): true predictions among the N
predicted, P true in all. A label with few held-out positives would get a
threshold from noise (Yang 2001: on docstrings micro-F1 fell by half), so its
curve is mixed with that of labels of similar frequency, worth
:data:`PRIOR_POSITIVES` held-out positives:

    F_j = 2 (TP_j + r t) / (P_j + r + N_j + r n),

t and n true and all predictions per positive of the group, in turn mixed with
those of all labels. Labels are compared at equal probabilities.
"""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.prediction.calibration import Calibration
from ovaflow.prediction.sigmoids import bent, fit_sigmoids, pairs_of

PRIOR_POSITIVES = 10.0
"""r. Measured on docstrings and kirjastonhoitaja: macro-F1 is highest from 10 to 30, micro-F1 rises with it."""

GRID = np.linspace(-7, 7, 281)
"""Log-odds that thresholds are chosen from."""

_BLOCK = 4096
"""Labels whose curves are in memory at a time."""

LIKELY = 10
"""Labels of an instance that sigmoids are fitted to. Measured, calibration error of the best 5 labels with 10, 20, 100:
docstrings 1.7, 2.5, 3.6 %, tibkat 3.0, 4.2, 5.8 %: many low scores bend the sigmoid away from where it is used."""


def choose_thresholds(labels, log_odds, hits, positives, counts):
    """Log-odds from which on labels are predicted, float64 (l,), and the one of the largest micro-F1 for all.

    Pairs are ordered by label.
    """
    places = np.searchsorted(GRID, log_odds, side="right") - 1
    groups = (2 * np.log2(np.maximum(counts, 1))).astype(np.int64)
    n_groups = int(groups.max(initial=0)) + 1
    of_groups = _curves(groups[labels], places, hits, n_groups)
    in_groups = np.bincount(groups, positives, n_groups)
    overall = [curves.sum(axis=0) / max(positives.sum(), 1) for curves in of_groups]
    prior = [
        (curves + PRIOR_POSITIVES * common) / (in_groups + PRIOR_POSITIVES)[:, None]
        for curves, common in zip(of_groups, overall, strict=True)
    ]
    ends = np.searchsorted(labels, np.arange(len(counts) + 1))
    chosen = np.empty(len(counts))
    for first in range(0, len(counts), _BLOCK):
        block = slice(first, min(first + _BLOCK, len(counts)))
        own = slice(ends[block.start], ends[block.stop])
        curves = _curves(labels[own] - first, places[own], hits[own], block.stop - first)
        mixed = [curve + PRIOR_POSITIVES * common[groups[block]] for curve, common in zip(curves, prior, strict=True)]
        best = _f1(*mixed, positives[block, None] + PRIOR_POSITIVES).argmax(axis=1)
        chosen[block] = GRID[best]
    return chosen, float(GRID[_f1(*overall, 1.0).argmax()])


def _curves(rows, places, hits, n_rows):
    """True and all predictions of each row at each threshold of the grid."""
    counted = places >= 0
    cells, shape = rows[counted] * len(GRID) + places[counted], (n_rows, len(GRID))
    weights = hits[counted], np.ones(len(cells))
    bins = [np.bincount(cells, weight, n_rows * len(GRID)).reshape(shape) for weight in weights]
    return [np.cumsum(each[:, ::-1], axis=1)[:, ::-1] for each in bins]


def _f1(true, predicted, positives):
    return 2 * true / (predicted + positives)


def calibrate(model, held_out, predictions, hits):
    """Fit sigmoids and thresholds to the held-out instances' best labels (n, k), predicted by a model without them."""
    if not hits[:, :LIKELY].any():
        raise InputError(
            "no label predicted for the held-out instances is true",
            path=held_out.path,
            remedy="hold out more instances, or look at how good the model is",
        )
    positives = np.bincount(held_out.test.Y.indices, minlength=held_out.n_labels)
    pairs, likely = (pairs_of(predictions.ids[:, :k], predictions.scores[:, :k], hits[:, :k]) for k in (None, LIKELY))
    sigmoids = fit_sigmoids(likely, held_out.counts)
    slope, intercept = sigmoids.lines(held_out.counts)
    log_odds = slope[pairs.labels] * pairs.scores + intercept[pairs.labels]
    chosen, common = choose_thresholds(pairs.labels, log_odds, pairs.hits, positives, model.counts)
    slope, intercept = sigmoids.lines(model.counts)
    thresholds = (chosen - intercept) / slope
    thresholds[~model.trained] = np.inf
    parameters = {
        **held_out.parameters["held_out"],
        "instances": held_out.test.X.n_rows,
        "best": predictions.ids.shape[1],
        "common": sigmoids.common.tolist(),
        "bend": sigmoids.bend.tolist(),
        "precisions": list(sigmoids.precisions),
        "common_log_odds": float(bent(common, sigmoids.bend)),
        "common_score": _common_score(pairs, positives.sum()),
    }
    inputs = {"model": model.checksum, "held_out": held_out.checksum, "held_out_model": predictions.inputs["model"]}
    return Calibration(slope, intercept, thresholds, parameters, inputs)


def require_parts_of_one(model, held_out, predictions):
    """Refuse a model, held-out instances and predictions that do not belong together."""
    if held_out.parameters.get("held_out", {}).get("of") != model.inputs.get("dataset"):
        raise InputError(
            f"was not held out of the dataset of {model.path}",
            path=held_out.path,
            remedy="give the held-out dataset and the model of one run",
        )
    if predictions.inputs.get("dataset") != held_out.checksum:
        raise InputError("the predictions are of other instances", path=held_out.path, remedy="predict again")


def _common_score(pairs, positives):
    """The one score from which on predicting every label makes micro-F1 largest."""
    order = np.argsort(-pairs.scores, kind="stable")
    f1 = 2 * np.cumsum(pairs.hits[order]) / (np.arange(1, len(order) + 1) + positives)
    return float(pairs.scores[order[f1.argmax()]])
