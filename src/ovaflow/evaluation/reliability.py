"""How far the probabilities of a second stage can be trusted, and how many labels to suggest, on
the test instances.
"""

import numpy as np

from ovaflow.evaluation.ranking import average_answer_figures, ratio
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.expected_quality import measure_sure_records

N_CALIBRATION_BINS = 15
"""Of equal width, as in Guo et al. 2017."""

ASSIGNED_PROBABILITY = 0.5
"""Least probability of labels that one would assign; nine of ten candidates are below 0.1, where
errors are small.
"""

PROBABILITY_LEVELS = (ASSIGNED_PROBABILITY, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Least probabilities of labels that might be assigned without a person."""

PRECISION_LEVELS = (0.7, 0.8, 0.9, 0.95)
"""Expected precisions of records that might go without a look."""

MAX_ANSWER_LENGTH = 10
"""Most labels of a text for which F1 is shown."""


def measure_reliability(measured, reranker):
    """What probabilities of all candidates say, beside what is right, and F1 as more labels are
    suggested.
    """
    fitted = {"reranker": reranker.checksum, "fitted": reranker.parameters}
    if reranker.unused:
        return fitted
    hits = measured.hits
    all_ = measured.candidates.ids != NO_LABEL
    probabilities = np.where(all_, measured.values, 0).astype(np.float64)
    likely = probabilities >= ASSIGNED_PROBABILITY
    return fitted | {
        "probabilities": measure_calibration(probabilities[all_], hits[all_]),
        "likely": measure_calibration(probabilities[likely], hits[likely])
        if likely.any()
        else None,
        "suggested": measure_answer_lengths(probabilities, hits, measured.candidates.positives),
        "automatic": measure_assigned_labels(
            probabilities, hits, len(measured.candidates.Y.indices)
        ),
        "sure": measure_sure_records(PRECISION_LEVELS, probabilities, hits),
    }


def measure_answer_lengths(probabilities, hits, positives):
    """Precision, recall and F1, means over texts, of the first 1, 2, ... labels, and of as many as
    fit.
    """
    most = min(MAX_ANSWER_LENGTH, hits.shape[1])
    ways = [(str(m), np.full(len(hits), m)) for m in range(1, most + 1)]
    return [
        {"name": name} | average_answer_figures(hits, amounts, positives)
        for name, amounts in [*ways, ("fit", count_fitting_labels(probabilities))]
    ]


def measure_assigned_labels(probabilities, hits, positives):
    """How good labels of at least each of :data:`LEVELS` are, assigned without a person."""
    rows = []
    for level in PROBABILITY_LEVELS:
        chosen = probabilities >= np.float32(level)
        amount = int(chosen.sum())
        right = int((hits & chosen).sum())
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


def measure_calibration(probabilities, hits):
    """Log loss, Brier score and expected calibration error (mean gap of probability and hit rate by
    bin) of m pairs.
    """
    place = np.minimum(
        (probabilities * N_CALIBRATION_BINS).astype(np.int64), N_CALIBRATION_BINS - 1
    )
    amounts = np.bincount(place, minlength=N_CALIBRATION_BINS)
    sums = [np.bincount(place, values, N_CALIBRATION_BINS) for values in (probabilities, hits)]
    means = [
        np.divide(total, amounts, out=np.zeros(N_CALIBRATION_BINS), where=amounts > 0)
        for total in sums
    ]
    clipped = np.clip(probabilities, 1e-12, 1 - 1e-12)
    return {
        "log_loss": float(-np.mean(np.where(hits, np.log(clipped), np.log1p(-clipped)))),
        "brier": float(np.mean((probabilities - hits) ** 2)),
        "ece": float(np.abs(sums[0] - sums[1]).sum() / max(len(hits), 1)),
        "bins": [
            {
                "probability": float(means[0][b]),
                "hits": float(means[1][b]),
                "predictions": int(amounts[b]),
            }
            for b in np.flatnonzero(amounts)
        ],
    }
