"""Number of labels that an answer to a text should have."""

import numpy as np

FIRST_LABELS = 5
"""Labels of each text that count as predicted where no probabilities say how many fit."""


def count_fitting_labels(probabilities: np.ndarray) -> np.ndarray:
    """Count the labels of each text whose answer has the largest expected F1.

    The first m labels have an expected F1 of about 2 (p_1 + ... + p_m) / (m + p_1 + p_2 + ...).
    At least one label fits, however improbable it is, unless all probabilities are 0.

    Parameters
    ----------
    probabilities : float (n, k)
        Of the labels of each text, by falling value, then -inf.

    Returns
    -------
    int64 (n,)
    """
    expected = np.cumsum(np.maximum(probabilities, 0), axis=1, dtype=np.float64)
    lengths = np.arange(1, probabilities.shape[1] + 1)
    f1 = 2 * expected / (lengths + expected[:, -1:])
    return np.where(expected[:, -1] > 0, f1.argmax(axis=1) + 1, 0)


def mark_predicted_labels(
    ids: np.ndarray, scores: np.ndarray, *, probabilistic: bool
) -> np.ndarray:
    """Mark the labels (n, k), by falling score, that count as predicted: bool (n, k).

    These are the labels that fit if scores are probabilities, or else the first ones.
    """
    lengths = count_fitting_labels(scores)[:, None] if probabilistic else FIRST_LABELS
    return (ids >= 0) & (np.arange(ids.shape[1]) < lengths)


def keep_fitting_probabilities(probabilities: np.ndarray) -> np.ndarray:
    """Replace the probabilities (n, k) of labels that do not fit by -inf."""
    lengths = count_fitting_labels(probabilities)
    fits = np.arange(probabilities.shape[1]) < lengths[:, None]
    return np.where(fits, probabilities, -np.inf)
