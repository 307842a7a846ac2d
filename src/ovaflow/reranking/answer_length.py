"""How many labels a text deserves."""

import numpy as np

FIRST_LABELS = 5
"""Labels of each text that count as predicted where no probabilities say how many fit."""


def count_fitting_labels(probabilities):
    """Number of labels of the largest expected F1, int64 (n,), for probabilities (n, k) by falling
    value, then -inf.

    The first m have an expected F1 of about 2 (p_1 + ... + p_m) / (m + p_1 + p_2 + ...).
    """
    expected = np.cumsum(np.maximum(probabilities, 0), axis=1, dtype=np.float64)
    amounts = np.arange(1, probabilities.shape[1] + 1)
    f1 = 2 * expected / (amounts + expected[:, -1:])
    return np.where(expected[:, -1] > 0, f1.argmax(axis=1) + 1, 0)


def mark_predicted_labels(ids, scores, probabilistic):
    """Which labels (n, k), by falling score, count as predicted: those that fit, or else the first
    ones; bool.
    """
    amounts = count_fitting_labels(scores)[:, None] if probabilistic else FIRST_LABELS
    return (ids >= 0) & (np.arange(ids.shape[1]) < amounts)


def keep_fitting_probabilities(probabilities):
    """Probabilities of the labels that fit, -inf for all others."""
    inside = np.arange(probabilities.shape[1]) < count_fitting_labels(probabilities)[:, None]
    return np.where(inside, probabilities, -np.inf)
