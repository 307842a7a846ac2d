"""Reliability of the probabilities of a second stage, and the best number of labels, on the test
instances.
"""

from typing import Any

import numpy as np

from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.ranking import average_answer_metrics, ratio
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.expected_quality import measure_sure_records
from ovaflow.reranking.reranker_file import Reranker

N_CALIBRATION_BINS = 15
"""Number of bins of equal width, as in Guo et al. 2017."""

ASSIGNED_PROBABILITY = 0.5
"""Least probability of labels that one would assign; nine of ten candidates are below 0.1, where
errors are small.
"""

PROBABILITY_LEVELS = (ASSIGNED_PROBABILITY, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Least probabilities of labels that might be assigned without a person."""

PRECISION_LEVELS = (0.7, 0.8, 0.9, 0.95)
"""Expected precisions of records that might be accepted without a person."""

MAX_ANSWER_LENGTH = 10
"""Most labels of a text for which F1 is shown."""


def measure_reliability(measured: EvaluatedPredictions, reranker: Reranker) -> dict[str, Any]:
    """Measure the probabilities of all candidates, and F1 by the number of labels of an answer."""
    fitted = {"reranker": reranker.checksum, "fitted": reranker.parameters}
    if reranker.unused:
        return fitted
    hits = measured.hits
    exists = measured.candidates.ids != NO_LABEL
    probabilities = np.where(exists, measured.values, 0).astype(np.float64)
    is_likely = probabilities >= ASSIGNED_PROBABILITY
    likely = None
    if is_likely.any():
        likely = measure_calibration(probabilities[is_likely], hits[is_likely])
    n_true = len(measured.candidates.Y.indices)
    return fitted | {
        "probabilities": measure_calibration(probabilities[exists], hits[exists]),
        "likely": likely,
        "suggested": measure_answer_lengths(probabilities, hits, measured.candidates.positives),
        "automatic": measure_assigned_labels(probabilities, hits, n_true),
        "sure": measure_sure_records(PRECISION_LEVELS, probabilities, hits),
    }


def measure_answer_lengths(
    probabilities: np.ndarray, hits: np.ndarray, positives: np.ndarray
) -> list[dict[str, Any]]:
    """Measure answers of the first 1, 2, ... labels, and of the labels that fit.

    Parameters
    ----------
    probabilities : float64 (n, k)
        Of candidates, by falling value.
    hits : bool (n, k)
    positives : int (n,)
        Number of true labels.

    Returns
    -------
    list of dict
        Name, precision, recall, F1 and number of labels, means over texts.
    """
    lengths = {}
    for m in range(1, min(MAX_ANSWER_LENGTH, hits.shape[1]) + 1):
        lengths[str(m)] = np.full(len(hits), m)
    lengths["fit"] = count_fitting_labels(probabilities)
    rows = []
    for name, lengths_of_answers in lengths.items():
        metrics = average_answer_metrics(hits, lengths_of_answers, positives)
        rows.append({"name": name} | metrics)
    return rows


def measure_assigned_labels(
    probabilities: np.ndarray, hits: np.ndarray, n_true: int
) -> list[dict[str, Any]]:
    """Measure labels that are assigned without a person, at each of :data:`PROBABILITY_LEVELS`.

    ``probabilities`` and ``hits`` are (n, k); ``n_true`` is the number of true labels, candidates
    or not.
    """
    rows = []
    for level in PROBABILITY_LEVELS:
        is_assigned = probabilities >= np.float32(level)
        n_assigned = int(is_assigned.sum())
        n_right = int((hits & is_assigned).sum())
        expected = None
        precision = None
        if n_assigned:
            expected = float(probabilities[is_assigned].mean())
            precision = n_right / n_assigned
        rows.append(
            {
                "probability": level,
                "predictions": n_assigned,
                "expected": expected,
                "precision": precision,
                "recall": ratio(n_right, n_true),
                "instances": ratio(is_assigned.any(axis=1).sum(), len(is_assigned)),
                "labels": ratio(n_assigned, len(is_assigned)),
            }
        )
    return rows


def measure_calibration(probabilities: np.ndarray, hits: np.ndarray) -> dict[str, Any]:
    """Compute log loss, Brier score and expected calibration error of m labels.

    The latter is the mean gap between probability and hit rate, by bin.
    """
    bins = (probabilities * N_CALIBRATION_BINS).astype(np.int64)
    bins = np.minimum(bins, N_CALIBRATION_BINS - 1)
    counts = np.bincount(bins, minlength=N_CALIBRATION_BINS)
    expected = np.bincount(bins, probabilities, N_CALIBRATION_BINS)
    right = np.bincount(bins, hits, N_CALIBRATION_BINS)
    clipped = np.clip(probabilities, 1e-12, 1 - 1e-12)
    entries = []
    for b in np.flatnonzero(counts):
        entries.append(
            {
                "probability": float(expected[b] / counts[b]),
                "hits": float(right[b] / counts[b]),
                "predictions": int(counts[b]),
            }
        )
    return {
        "log_loss": float(-np.mean(np.where(hits, np.log(clipped), np.log1p(-clipped)))),
        "brier": float(np.mean((probabilities - hits) ** 2)),
        "ece": float(np.abs(expected - right).sum() / max(len(hits), 1)),
        "bins": entries,
    }
