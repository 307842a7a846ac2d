"""How reliable probabilities are, and how good thresholds are, on the test instances."""

import numpy as np
from scipy.special import expit

from ovaflow.evaluation.ranking import f1, find_hits, ratio
from ovaflow.prediction.sigmoids import common_lines
from ovaflow.settings.models import HELD_OUT_TOP_K

BINS = 15
"""Of equal width, as in Guo et al. 2017."""

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Least probabilities of labels that might be assigned without a person."""


def calibration_curve(model, calibration, dataset, k, threads=1):
    """Compare probabilities of the best k labels with the truth, and ways to choose labels."""
    model.require_dataset(dataset)
    model.prepare()
    instances, amount = model.instances(dataset.test), max(k, HELD_OUT_TOP_K)
    ids, scores = model.top_k(instances, amount, threads, quiet=False)
    hits = find_hits(ids, dataset.test.Y)
    return {
        "calibration": calibration.checksum,
        "k": k,
        "probabilities": _probabilities(model, calibration, ids[:, :k], scores[:, :k], hits[:, :k]),
        "thresholds": _thresholds(calibration, ids, scores, hits, dataset.test.Y),
        "automatic": automatic(calibration.probabilities(ids, scores), hits, len(dataset.test.Y.indices)),
    }


def _probabilities(model, calibration, ids, scores, hits):
    predicted = ids >= 0
    labels, values, true = ids[predicted], scores[predicted].astype(np.float64), hits[predicted]
    slope, intercept = common_lines(calibration.parameters["common"], model.counts)
    ways = {
        "score as log-odds": expit(values),
        "one sigmoid": expit(slope[labels] * values + intercept[labels]),
        "a sigmoid per label": calibration.probabilities(labels, values).astype(np.float64),
    }
    return [{"name": name, **reliability(probabilities, true)} for name, probabilities in ways.items()]


def automatic(probabilities, hits, positives):
    """How good labels of at least each of :data:`LEVELS` are, assigned without a person."""
    rows = []
    for level in LEVELS:
        chosen = probabilities >= np.float32(level)
        amount, right = int(chosen.sum()), int((hits & chosen).sum())
        rows.append(
            {
                "probability": level,
                "predictions": amount,
                "expected": float(probabilities[chosen].mean()) if amount else None,
                "precision": right / amount if amount else None,
                "recall": ratio(right, positives),
                "instances": ratio(chosen.any(axis=1).sum(), len(chosen)),
                "labels": ratio(amount, len(chosen)),
            }
        )
    return rows


def reliability(probabilities, hits):
    """Log loss, Brier score and expected calibration error (mean gap of probability and hit rate by bin) of m pairs."""
    place = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    amounts = np.bincount(place, minlength=BINS)
    sums = [np.bincount(place, values, BINS) for values in (probabilities, hits)]
    means = [np.divide(total, amounts, out=np.zeros(BINS), where=amounts > 0) for total in sums]
    clipped = np.clip(probabilities, 1e-12, 1 - 1e-12)
    return {
        "log_loss": float(-np.mean(np.where(hits, np.log(clipped), np.log1p(-clipped)))),
        "brier": float(np.mean((probabilities - hits) ** 2)),
        "ece": float(np.abs(sums[0] - sums[1]).sum() / max(len(hits), 1)),
        "bins": [
            {"probability": float(means[0][b]), "hits": float(means[1][b]), "predictions": int(amounts[b])}
            for b in np.flatnonzero(amounts)
        ],
    }


def _thresholds(calibration, ids, scores, hits, Y):
    parameters = calibration.parameters
    common = expit(parameters["common_log_odds"])
    ways = {
        "score 0": scores >= 0,
        f"score {parameters['common_score']:.2f}".replace("-", "−"): scores >= parameters["common_score"],
        f"probability {100 * common:.0f} %": calibration.probabilities(ids, scores) >= common,
        "a threshold per label": calibration.chosen(ids, scores),
    }
    return [{"name": name, **_f1(ids, chosen & (ids >= 0), hits, Y)} for name, chosen in ways.items()]


def _f1(ids, chosen, hits, Y):
    macro, micro = f1(np.where(chosen, ids, -1), hits & chosen, Y, ids.shape[1])
    return {"macro-F1": macro, "micro-F1": micro, "predicted": float(chosen.sum() / max(len(ids), 1))}
