"""What trees are worth on held-out texts that they have not seen: how many serve, and whose order
is better.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.model.ranked_labels import compute_dcg, compute_ideal_dcg
from ovaflow.model.top_k import NO_LABEL
from ovaflow.reranking.boosted_trees import BoostedTrees, fit_trees
from ovaflow.reranking.held_out_candidates import HeldOutCandidates

N_PARTS = 4
"""Each fourth held-out text is a part, which checks what the others say."""

ENOUGH_CHECKED_TEXTS = 1000
"""Checked texts; as many parts are checked as have these, all of fewer than so many held-out texts.

The number of trees that a part of 70 texts asks for differs by 30, and their labels of 50 % or more
are 3 points too sure if it asks for too many.
"""

TREE_STEP = 10
"""Trees between two numbers of them that are compared."""


FEW_TEXTS = 1000
SETTINGS_FOR_FEW_TEXTS = {"leaves": 8, "n_trees": 600, "rate": 0.05}
"""Smaller trees, more of them, for few texts: with these nDCG@5 rises by 0.1 to 1 for 300 to 900
texts, and probabilities come closer; for 3,500 it falls by 0.3."""


class CrossFit(NamedTuple):
    """Checked texts, and what trees say of them that were fitted to all but their part."""

    places: np.ndarray  # of the checked texts among all
    texts: HeldOutCandidates  # these
    probabilities: np.ndarray  # float64 (n, k) of their candidates; 0 where there is none
    n_trees: int  # that have the least log loss
    trees: BoostedTrees  # so many, fitted to all but the first part

    @property
    def first_part(self):
        """The checked texts that :attr:`trees` have not seen."""
        return self.texts.part(self.places % N_PARTS == 0)

    @property
    def ranked(self):
        """Probabilities by falling value, and which of them are of true labels; ties keep the order
        of scores.
        """
        order = np.argsort(-self.probabilities.astype(np.float32), axis=1, kind="stable")
        return tuple(
            np.take_along_axis(each, order, axis=1)
            for each in (self.probabilities, self.texts.hits)
        )

    @property
    def ndcg(self):
        """nDCG@5 of each text with a label, by score and by probability: float64 (2, m)."""
        return np.array(
            [compute_ndcg(hits, self.texts.positives) for hits in (self.texts.hits, self.ranked[1])]
        )

    @property
    def log_loss(self):
        known = self.texts.ids != NO_LABEL
        return compute_log_loss(self.texts.hits[known], self.probabilities[known])


def make_tree_fitter(texts, threads):
    """How trees are fitted to so many texts: a function of rows, hits and their number."""
    return partial(
        fit_trees, threads=threads, **(SETTINGS_FOR_FEW_TEXTS if len(texts.ids) < FEW_TEXTS else {})
    )


def cross_fit(texts, fit, amount=None):
    """:class:`CrossFit` of held-out texts, of so many parts; ``fit`` gives the most trees for rows
    and hits.
    """
    parts = np.arange(len(texts.ids)) % N_PARTS
    amount = amount or count_checked_parts(len(texts.ids))
    places = [np.flatnonzero(parts == part) for part in range(amount)]
    fitted = []
    by_number = []
    for part, checked in enumerate(places):
        others = texts.part(parts != part)
        fitted.append(fit(others.rows, others.row_hits))
        by_number.append(_probabilities(fitted[part], texts.part(checked).rows))
    by_number = np.hstack(by_number)
    places = np.concatenate(places)
    checked = texts.part(places)
    best = int(np.argmin([compute_log_loss(checked.row_hits, each) for each in by_number]))
    n_trees = TREE_STEP * (best + 1)
    probabilities = np.zeros(checked.ids.shape)
    probabilities[checked.ids != NO_LABEL] = by_number[best]
    return CrossFit(places, checked, probabilities, n_trees, fitted[0].part(0, n_trees))


def count_checked_parts(n):
    """How many parts of n texts are checked."""
    return int(np.clip(np.ceil(N_PARTS * ENOUGH_CHECKED_TEXTS / max(n, 1)), 1, N_PARTS))


def _probabilities(trees, rows):
    """Probabilities of rows by the first 10, 20, ... trees: float64 (s, n)."""
    starts = range(0, len(trees.roots), TREE_STEP)
    log_odds = np.cumsum(
        [trees.part(start, start + TREE_STEP).log_odds(rows) for start in starts], axis=0
    )
    return scipy.special.expit(log_odds)


def compute_log_loss(hits, probabilities):
    # loading scikit-learn takes a second
    from sklearn.metrics import log_loss

    return float(log_loss(hits, probabilities, labels=[False, True]))


def compute_ndcg(hits, positives):
    """nDCG@5 of each text that has a label, for whether its candidates (n, k) are true."""
    ideal = compute_ideal_dcg(positives, 5)
    some = ideal > 0
    return compute_dcg(hits[some], 5) / ideal[some]
