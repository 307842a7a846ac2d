"""What the first words of a text say alone: there is its title, if it has one."""

import numpy as np

from ovaflow.features.beginnings import beginnings
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.suggestions import NO_SCORE
from ovaflow.settings.predict import CANDIDATES
from ovaflow.sparse.jit import strict_kernel

LENGTH = 12
"""Tokens; 5 or 25 rank tibkat no better."""


def columns_of_first_words(model, X, ids, threads=1):
    """Scores of candidates (n, k) for the first words of texts alone, X as the model takes them: float32 (n, k, 2).

    And how many of the best by score, which come first, have a higher one.
    """
    if X.places is not None:
        normalized = model.transform.get("normalize", False) and not model.takes_unscaled
        X, _ = beginnings(X, np.full(X.n_rows, LENGTH), normalized)
    scores = np.where(ids == NO_LABEL, NO_SCORE, model.score_each(X, np.maximum(ids, 0), threads))
    columns = np.empty((*ids.shape, 2), np.float32)
    columns[:, :, 0] = scores
    _count_higher(scores, min(CANDIDATES, ids.shape[1]), columns[:, :, 1])
    return columns


@strict_kernel
def _count_higher(scores, n, counts):
    """counts_ic = number of the first n candidates b with s_ib > s_ic."""
    for i in range(len(scores)):
        for c in range(scores.shape[1]):
            counts[i, c] = 0
            for b in range(n):
                counts[i, c] += scores[i, b] > scores[i, c]
