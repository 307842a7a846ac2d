"""Thresholds of labels: the least probability at which each is assigned, tuned on held-out texts.

A label that few held-out texts have cannot be tuned by itself. So each label is tuned as if it had been seen with
:data:`PSEUDO_POSITIVES` more positives, which do at each threshold what those of all labels together do: one without
held-out positives has the common threshold, one with hundreds its own.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.model.top_k import NO_LABEL

LEVELS = np.arange(1, 100, dtype=np.float32) / np.float32(100)
"""Thresholds that are compared; finer ones would only fit the held-out texts better."""

PSEUDO_POSITIVES = 100.0
"""Held-out positives for which a label's own weigh as much as those of all."""

NEVER = 1.01
"""Threshold of what no probability reaches."""

_BLOCK = 4096


class Counts(NamedTuple):
    """What assigning labels from each level on makes of held-out texts: float64 (l, 99), and (l, 1)."""

    right: np.ndarray
    assigned: np.ndarray
    positives: np.ndarray

    @property
    def pooled(self):
        """The same of all labels together."""
        return Counts(*(each.sum(axis=0, keepdims=True) for each in self))

    @property
    def f1(self):
        return _ratio(2 * self.right, self.assigned + self.positives)

    @property
    def precision(self):
        return _ratio(self.right, self.assigned)


def count_by_level(ids, probabilities, hits, positives):
    """Counts of labels by candidates (n, k), whether they are true, and how many texts have each label (l,)."""
    known = ids != NO_LABEL
    labels, p, right = ids[known], probabilities[known].astype(np.float32), hits[known]
    # the number of levels that a probability reaches
    reached = np.searchsorted(LEVELS, p, side="right")
    shape = len(positives), len(LEVELS) + 1
    places = np.ravel_multi_index((labels, reached), shape)
    amounts = (np.bincount(places, values, np.prod(shape)).reshape(shape) for values in (right, np.ones(len(right))))
    right, assigned = (np.cumsum(each[:, :0:-1], axis=1)[:, ::-1] for each in amounts)
    return Counts(right, assigned, np.asarray(positives, np.float64)[:, None])


def tune_thresholds(counts, wanted=None, pseudo=PSEUDO_POSITIVES):
    """The threshold of each label, float32 (l,), for the largest F1, or the most labels of a wanted precision."""
    pooled = counts.pooled
    share = pseudo / max(pooled.positives.item(), 1.0)
    smoothed = Counts(*(own + share * all_ for own, all_ in zip(counts, pooled, strict=True)))
    if wanted is None:
        return LEVELS[smoothed.f1.argmax(axis=1)]
    enough = smoothed.precision >= wanted
    return np.where(enough.any(axis=1), LEVELS[enough.argmax(axis=1)], np.float32(NEVER))


def _ratio(part, whole):
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
