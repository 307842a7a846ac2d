"""The labels that make the macro-F1 of all texts large, rather than each text's own order
(Schultheis et al. 2023).
"""

import numpy as np

from ovaflow.model.top_k import NO_LABEL

_ROUNDS = 8
_SMOOTHING = 2.0
"""Texts added to both sides of each label; on tibkat 1 to 5 gain between 7.0 and 7.7 points."""


def choose_labels_for_macro_f1(ids, probabilities, k):
    """k candidates of each text by probability, ids and probabilities (n, k): the first by gains of
    their labels.

    Expected macro-F1 is the mean of 2 t / m over labels, with t the sum of the probabilities with
    which a label is predicted, and m its predictions and expected positives. A further prediction
    adds about 2 p / m - 2 t / m^2.
    """
    known = ids != NO_LABEL
    labels = np.maximum(ids, 0)
    p = np.where(known, probabilities, 0).astype(np.float64)
    size = int(labels.max(initial=0)) + 1
    positives = _sums(labels, p, size) + _SMOOTHING
    best = -1.0
    chosen = None
    slope = np.ones(size)
    offset = np.zeros(size)
    for _ in range(_ROUNDS):
        gains = np.where(known, slope[labels] * p + offset[labels], -np.inf)
        places = np.argsort(-gains, axis=1, kind="stable")[:, :k]
        predicted = np.take_along_axis(labels, places, axis=1)
        is_known = np.take_along_axis(known, places, axis=1)
        t = _sums(predicted, np.take_along_axis(p, places, axis=1), size)
        m = positives + _sums(predicted, is_known * 1.0, size)
        f1 = (t / m).sum()
        if f1 > best:
            best = f1
            chosen = places
        slope = 2 / m
        offset = -2 * t / m**2
    # candidates are by probability: so are the chosen ones
    chosen = np.sort(chosen, axis=1)
    return np.take_along_axis(ids, chosen, axis=1), np.take_along_axis(
        probabilities, chosen, axis=1
    )


def _sums(labels, values, size):
    return np.bincount(labels.ravel(), values.ravel(), size)
