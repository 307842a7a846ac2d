"""Quality of trees on held-out texts that they have not seen: it decides their number and order."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from ovaflow.model.ranked_labels import compute_dcg, compute_ideal_dcg
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.boosted_trees import BoostedTrees, fit_trees
from ovaflow.reranking.held_out_candidates import HeldOutCandidates

TreeFitter = Callable[..., BoostedTrees]
"""Fits trees to :class:`TrainingRows`, and with ``n_trees`` as many."""

N_FOLDS = 4
"""Number of folds of the held-out texts; each checks trees that are fitted to the others."""

ENOUGH_CHECKED_TEXTS = 1000
"""Folds are checked until they have as many texts; of fewer held-out texts all are checked.

The number of trees that a fold of 70 texts asks for varies by 30, and if that is too many, labels
of 50 % or more are 3 points too sure.
"""

TREE_STEP = 10
"""Difference between two numbers of trees that are compared."""


FEW_TEXTS = 1000
"""Number of held-out texts below which trees have the settings for few texts."""

SETTINGS_FOR_FEW_TEXTS = {"leaves": 8, "n_trees": 600, "rate": 0.05}
"""Smaller trees, but more of them: nDCG@5 rises by 0.1 to 1 points for 300 to 900 texts, and
probabilities come closer; for 3,500 texts it falls by 0.3 points.
"""


class CrossFit(NamedTuple):
    """Checked texts, and the probabilities by trees that were fitted to all but their fold."""

    places: np.ndarray  # (m,); places of the checked texts among all
    texts: HeldOutCandidates  # the checked texts
    probabilities: np.ndarray  # float64 (m, k) of their candidates; 0 where there is none
    n_trees: int  # number of trees with the least log loss
    trees: list[BoostedTrees]  # for each checked fold this number, fitted to all other texts

    def select(self, texts: np.ndarray) -> "CrossFit":
        """Select some of the checked texts."""
        return self._replace(
            places=self.places[texts],
            texts=self.texts.select(texts),
            probabilities=self.probabilities[texts],
        )

    def predict(self, evidence_values: np.ndarray) -> np.ndarray:
        """Predict the probabilities of the candidates by other evidence (m, k, c): (m, k)."""
        probabilities = np.zeros(self.texts.ids.shape)
        folds = self.places % N_FOLDS
        for fold, trees in enumerate(self.trees):
            is_in_fold = folds == fold
            probabilities[is_in_fold] = trees.compute_probabilities(
                evidence_values[is_in_fold], self.texts.ids[is_in_fold]
            )
        return probabilities

    @property
    def ranked(self) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities by falling value, and whether their candidates are true: (m, k) each.

        Ties keep the order of the scores.
        """
        order = np.argsort(-self.probabilities.astype(np.float32), axis=1, kind="stable")
        probabilities = np.take_along_axis(self.probabilities, order, axis=1)
        hits = np.take_along_axis(self.texts.hits, order, axis=1)
        return probabilities, hits

    @property
    def ndcg(self) -> np.ndarray:
        """nDCG@5 of each text with a label, by score and by probability: float64 (2, texts)."""
        _, hits = self.ranked
        by_score = compute_ndcg(self.texts.hits, self.texts.positives)
        by_probability = compute_ndcg(hits, self.texts.positives)
        return np.array([by_score, by_probability])

    @property
    def log_loss(self) -> float:
        """Log loss of the candidates."""
        exists = self.texts.ids != NO_LABEL
        return compute_log_loss(self.texts.hits[exists], self.probabilities[exists])


def make_tree_fitter(texts: HeldOutCandidates, threads: int) -> TreeFitter:
    """Make the function that fits trees with the settings for this number of texts."""
    settings: dict[str, Any] = {}
    if len(texts.ids) < FEW_TEXTS:
        settings = SETTINGS_FOR_FEW_TEXTS
    return partial(fit_trees, threads=threads, **settings)


def cross_fit(texts: HeldOutCandidates, fit: TreeFitter, n_checked: int | None = None) -> CrossFit:
    """Fit trees to all texts but a fold, and predict this fold, for several folds.

    Parameters
    ----------
    texts : HeldOutCandidates
    fit : callable
        Fits as many trees as there may be.
    n_checked : int, optional
        Number of folds that are checked, by default :func:`count_checked_folds`.
    """
    folds = np.arange(len(texts.ids)) % N_FOLDS
    if n_checked is None:
        n_checked = count_checked_folds(len(texts.ids))
    places_of_folds = [np.flatnonzero(folds == fold) for fold in range(n_checked)]
    trees_of_folds = []
    probabilities_of_folds = []
    for fold, places in enumerate(places_of_folds):
        others = texts.select(folds != fold)
        trees = fit(*others.training_rows)
        trees_of_folds.append(trees)
        probabilities_of_folds.append(_predict_in_steps(trees, texts.select(places).rows))
    by_step = np.hstack(probabilities_of_folds)
    places = np.concatenate(places_of_folds)
    checked = texts.select(places)
    losses = [compute_log_loss(checked.row_hits, probabilities) for probabilities in by_step]
    best = int(np.argmin(losses))
    n_trees = TREE_STEP * (best + 1)
    probabilities = np.zeros(checked.ids.shape)
    probabilities[checked.ids != NO_LABEL] = by_step[best]
    return CrossFit(
        places=places,
        texts=checked,
        probabilities=probabilities,
        n_trees=n_trees,
        trees=[trees.select(0, n_trees) for trees in trees_of_folds],
    )


def count_checked_folds(n: int) -> int:
    """Count the folds of n texts that are checked."""
    return int(np.clip(np.ceil(N_FOLDS * ENOUGH_CHECKED_TEXTS / max(n, 1)), 1, N_FOLDS))


def _predict_in_steps(trees: BoostedTrees, rows: np.ndarray) -> np.ndarray:
    """Predict probabilities of rows by the first 10, 20, ... trees: float64 (steps, n)."""
    log_odds = []
    for start in range(0, len(trees.roots), TREE_STEP):
        log_odds.append(trees.select(start, start + TREE_STEP).compute_log_odds(rows))
    return scipy.special.expit(np.cumsum(log_odds, axis=0))


def compute_log_loss(hits: np.ndarray, probabilities: np.ndarray) -> float:
    """Compute the mean log loss of candidates (m,)."""
    # loading scikit-learn takes a second
    from sklearn.metrics import log_loss

    return float(log_loss(hits, probabilities, labels=[False, True]))


def compute_ndcg(hits: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Compute nDCG@5 of each text that has a label: float64 (texts,).

    Parameters
    ----------
    hits : bool (n, k)
        Whether the candidates, the best first, are true.
    positives : int (n,)
        Number of true labels of each text.
    """
    ideal = compute_ideal_dcg(positives, 5)
    has_label = ideal > 0
    return compute_dcg(hits[has_label], 5) / ideal[has_label]
