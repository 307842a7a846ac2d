"""Calibration of a model from the scores that a second model gives to held-out instances.

Scores of training instances tell nothing: the model was fitted to them. The
second model is trained with the same settings on the instances that were not
held out. Only the best labels of each held-out instance are looked at, which
bounds memory by the number of instances: thresholds are chosen on all that the
predictions hold, sigmoids fitted to the first :data:`LIKELY`, since it is the
probabilities of predicted labels that have to be right.
"""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.prediction.calibration import Calibration
from ovaflow.prediction.sigmoids import fit_sigmoids, pairs_of
from ovaflow.prediction.thresholds import choose_thresholds

LIKELY = 10
"""Labels of an instance that sigmoids are fitted to. Measured, calibration error of the best 5 labels with 10, 20, 100:
docstrings 1.7, 2.5, 3.6 %, tibkat 3.0, 4.2, 5.8 %: many low scores bend the sigmoid away from where it is used."""


def calibrate(model, held_out, predictions, hits):
    """Fit sigmoids and thresholds to the held-out instances' best labels (n, k), predicted by a model without them."""
    if not hits[:, :LIKELY].any():
        raise InputError(
            "no label predicted for the held-out instances is true",
            path=held_out.path,
            remedy="hold out more instances, or look at how good the model is",
        )
    counts = np.bincount(held_out.train.Y.indices, minlength=held_out.n_labels)
    positives = np.bincount(held_out.test.Y.indices, minlength=held_out.n_labels)
    pairs, likely = (pairs_of(predictions.ids[:, :k], predictions.scores[:, :k], hits[:, :k]) for k in (None, LIKELY))
    sigmoids = fit_sigmoids(likely, counts)
    slope, intercept = sigmoids.lines(counts)
    log_odds = slope[pairs.labels] * pairs.scores + intercept[pairs.labels]
    chosen = choose_thresholds(pairs.labels, log_odds, pairs.hits, positives, model.counts)
    slope, intercept = sigmoids.lines(model.counts)
    thresholds = (chosen.of_labels - intercept) / slope
    thresholds[~model.trained] = np.inf
    parameters = {
        **held_out.parameters["held_out"],
        "instances": held_out.test.X.n_rows,
        "best": predictions.ids.shape[1],
        "common": sigmoids.common.tolist(),
        "precisions": list(sigmoids.precisions),
        "common_log_odds": chosen.common,
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
