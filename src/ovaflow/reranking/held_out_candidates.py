"""Held-out texts with their candidates, to which the second stage is fitted and by which it is checked."""

from typing import NamedTuple

import numpy as np

from ovaflow.model.top_k import NO_LABEL


class HeldOut(NamedTuple):
    """Held-out texts with their candidates."""

    columns: np.ndarray  # float32 (n, k, c); rows of evidence
    ids: np.ndarray  # int32 (n, k)
    hits: np.ndarray  # bool (n, k); which candidates are true
    positives: np.ndarray  # (n,); true labels of each text

    def part(self, texts):
        return HeldOut(*(array[texts] for array in self))

    def first(self, k):
        """The first k candidates of each text."""
        return HeldOut(self.columns[:, :k], self.ids[:, :k], self.hits[:, :k], self.positives)

    @property
    def candidates(self):
        """Rows of the candidates that there are, and whether they are true."""
        known = self.ids != NO_LABEL
        return self.columns[known], self.hits[known]


def spread(n, most):
    """Numbers of at most so many of n instances, evenly spread."""
    amount = min(n, most)
    return np.arange(amount) * n // max(amount, 1)
