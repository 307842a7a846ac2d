"""Sampling of the candidates that trees are fitted to.

Most candidates are clearly wrong: a tenth of these stands for all.
"""

from dataclasses import replace

import numpy as np
import scipy

from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.boosted_trees import fit_trees
from ovaflow.reranking.cross_fitting import FEW_TEXTS
from ovaflow.reranking.held_out_candidates import HeldOutCandidates

KEPT_PROBABILITY = 0.05
"""Probability from which all candidates are kept.

nDCG@5 of docstrings and tibkat is that of trees of all candidates, log loss at most 0.2 % larger
(0.4 % with 0.1); of 500 texts nDCG@5 loses 0.3 points.
"""

MIN_SHARE = 0.1
"""Least share of wrong candidates that is kept."""

MAX_VALUES = 254
"""Most distinct values of a column, of which scikit-learn's trees tell 255 apart: where there are
more it sorts weighted values, which takes longer than 200 trees.
"""

_COARSE_STEP = 4
"""Coarse trees are fitted to every fourth candidate."""


def sample_candidates(texts: HeldOutCandidates, threads: int) -> HeldOutCandidates:
    """Weigh the candidates that trees are fitted to; the weight of those left out is 0.

    A wrong candidate is kept with a share q that grows with its probability by coarse trees, and
    has the weight 1 / q: sums over the candidates stay what they are on average. All candidates are
    kept of fewer texts than :data:`FEW_TEXTS`.
    """
    if len(texts.ids) < FEW_TEXTS:
        return texts
    exists = texts.ids != NO_LABEL
    rows = _round_columns(texts.rows)
    values = texts.evidence_values.copy()
    values[exists] = rows
    weights = np.zeros(texts.ids.shape)
    weights[exists] = _weigh_rows(rows, texts.row_hits, threads)
    return replace(texts, evidence_values=values, weights=weights)


def _weigh_rows(rows: np.ndarray, hits: np.ndarray, threads: int) -> np.ndarray:
    """Draw rows (m, c), and compute their weights: float64 (m,)."""
    some = slice(None, None, _COARSE_STEP)
    trees = fit_trees(rows[some], hits[some], threads=threads, n_trees=10, leaves=16, rate=0.3)
    probabilities = scipy.special.expit(trees.compute_log_odds(rows))
    shares = np.clip(probabilities / KEPT_PROBABILITY, MIN_SHARE, 1)
    shares[hits] = 1
    is_kept = np.random.default_rng(0).random(len(rows)) < shares
    return is_kept / shares


def _round_columns(rows: np.ndarray) -> np.ndarray:
    """Round each column to the nearest of its quantiles: float32 (m, c)."""
    rounded = np.empty_like(rows)
    for column, values in enumerate(rows.T):
        quantiles = np.unique(values)
        if len(quantiles) > MAX_VALUES:
            shares = np.linspace(0, 1, MAX_VALUES)
            quantiles = np.unique(np.quantile(values, shares, method="nearest"))
        borders = (quantiles[1:].astype(float) + quantiles[:-1]) / 2
        rounded[:, column] = quantiles[np.searchsorted(borders, values)]
    return rounded
