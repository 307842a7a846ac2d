"""How good ranked labels are, as the scripts of the XMC repository define it.

Functions of :class:`Ranked` labels and a place k, at most K, give what each instance adds to two
sums, whose ratio is the metric, as arrays (n,); or the metric itself, a float that is 0 where
nothing can be averaged.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse

from ovaflow.model.ranked_labels import compute_dcg, compute_discounts, compute_ideal_dcg, find_hits
from ovaflow.sparse.csr import CSR, select_rows


@dataclass(frozen=True)
class Ranked:
    """Labels that are ranked for n instances, and the true ones."""

    ids: np.ndarray  # int (n, K), best first, -1 where there is none
    Y: CSR  # true labels (n, l)
    inverse: np.ndarray | None = (
        None  # float64 (l,): 1 / p of each label; None where no metric asks for it
    )
    amounts: np.ndarray | None = None  # int64 (n,): how many of the first labels are the answer

    @cached_property
    def hits(self) -> np.ndarray:
        """Which of the ranked labels are true: bool (n, K)."""
        return find_hits(self.ids, self.Y)

    @cached_property
    def positives(self) -> np.ndarray:
        """Number of true labels of each instance: int64 (n,)."""
        return np.diff(self.Y.indptr)

    @property
    def most(self) -> int:
        """How many labels of an instance can be predicted."""
        return min(self.ids.shape[1], self.Y.n_columns)

    def take(self, rows: np.ndarray) -> Self:
        """Some of the instances, without an answer."""
        return replace(self, ids=self.ids[rows], Y=select_rows(self.Y, rows), amounts=None)

    def first(self, k: int) -> np.ndarray:
        """Which ranked labels are among the first k: bool (1, K)."""
        return (np.arange(self.ids.shape[1]) < k)[None, :]

    def count_labels(self, counted: np.ndarray) -> "LabelCounts":
        """Tally each label among the counted ones: bool (n, K)."""
        found = counted & (self.ids >= 0)
        n_labels = self.Y.n_columns
        return LabelCounts(
            np.bincount(self.Y.indices, minlength=n_labels),
            np.bincount(self.ids[found], minlength=n_labels),
            np.bincount(self.ids[found & self.hits], minlength=n_labels),
        )


class LabelCounts(NamedTuple):
    """Instances by label: int64 (l,)."""

    true: np.ndarray
    predicted: np.ndarray
    right: np.ndarray


def precision(ranked, k):
    """P@k = hits / (n k), over all instances: those without labels count as misses, as do missing
    predictions.
    """
    return ranked.hits[:, :k].sum(axis=1), np.full(len(ranked.ids), k)


def recall(ranked, k):
    """Mean over the instances with labels of hits / labels."""
    return _mean_of_some(ranked.hits[:, :k].sum(axis=1), ranked.positives)


def ndcg(ranked, k):
    """Mean over the instances with labels of DCG / ideal DCG; DCG = sum over hits at r of 1 /
    log2(r + 1).
    """
    # the scripts of the XMC repository count instances without labels, which have no ideal nDCG, as
    # 0
    return _mean_of_some(compute_dcg(ranked.hits, k), compute_ideal_dcg(ranked.positives, k))


def propensity_scored_precision(ranked, k):
    """The hits' 1/p, beside the largest sum that k predictions reach."""
    return _gains(ranked, k).sum(axis=1), find_best_gains(ranked.Y, ranked.inverse, k).sum(axis=1)


def propensity_scored_ndcg(ranked, k):
    """PSnDCG@k: like PSP@k, with gains divided by log2(r + 1) and by the instance's perfect,
    unweighted DCG@k.
    """
    ideal = compute_ideal_dcg(ranked.positives, k)
    some = ideal > 0
    reached = _gains(ranked, k)[some] @ compute_discounts(k) / ideal[some]
    best = find_best_gains(ranked.Y, ranked.inverse, k)[some] @ compute_discounts(k) / ideal[some]
    return ratio(reached.sum(), best.sum())


def coverage(ranked, k):
    """Share of the labels with test positives that are a hit at least once."""
    first = ranked.ids[:, :k][ranked.hits[:, :k]]
    return ratio(len(np.unique(first)), len(np.unique(ranked.Y.indices)))


def macro_f1(ranked, k):
    """Mean of 2 right / (predicted + true) over the labels with test positives."""
    true, predicted, right = ranked.count_labels(ranked.first(k))
    some = true > 0
    of_labels = 2 * right[some] / (predicted + true)[some]
    return ratio(of_labels.sum(), len(of_labels))


def micro_f1(ranked, k):
    """2 right / (predicted + true) over all decisions."""
    true, predicted, right = ranked.count_labels(ranked.first(k))
    return ratio(2 * right.sum(), predicted.sum() + true.sum())


def label_ranking_average_precision(ranked, k):
    """Mean over the instances with a hit of the mean of hits up to r / r over the hits at r."""
    hits = ranked.hits
    places = np.arange(1, hits.shape[1] + 1)
    precisions = np.where(hits, hits.cumsum(axis=1) / places, 0).sum(axis=1)
    return _mean_of_some(precisions, hits.sum(axis=1))


def coverage_error(ranked, k):
    """Mean over the instances with a hit of the place of the last one."""
    last = ranked.hits.shape[1] - ranked.hits[:, ::-1].argmax(axis=1)
    some = ranked.hits.any(axis=1)
    return np.where(some, last, 0).astype(np.float64), some.astype(np.float64)


def make_answer_metric(name):
    """One of the figures of :func:`answer_of_each`, as a function of ranked labels."""
    return lambda ranked, k: (
        compute_answer_figures(ranked.hits, ranked.amounts, ranked.positives)[name],
        _ones(ranked),
    )


def compute_answer_figures(hits, amounts, positives):
    """Precision, recall and F1 of the first labels of each instance, and how many these are:
    float64 (n,) by name.

    An empty answer has precision 0.
    """
    right = np.where(np.arange(hits.shape[1]) < amounts[:, None], hits, False).sum(axis=1)
    return {
        "P": right / np.maximum(amounts, 1),
        "R": right / np.maximum(positives, 1),
        "F1": 2 * right / np.maximum(amounts + positives, 1),
        "labels": amounts.astype(np.float64),
    }


def average_answer_figures(hits, amounts, positives):
    """Their means over instances."""
    each = compute_answer_figures(hits, amounts, positives)
    return {name: float(np.mean(values)) for name, values in each.items()}


def precision_of_hits(hits, k):
    """P@k of hits (n, K)."""
    return ratio(hits[:, :k].sum(), len(hits) * k)


def make_indicator_matrix(ids, Y):
    """Predictions as an indicator, bool (n, l)."""
    assigned = ids >= 0
    indptr = np.concatenate([[0], np.cumsum(assigned.sum(axis=1))])
    ones = np.ones(indptr[-1], bool)
    shape = (Y.n_rows, Y.n_columns)
    return scipy.sparse.csr_array((ones, ids[assigned], indptr), shape=shape)


def _ones(ranked):
    return np.ones(len(ranked.ids))


def _mean_of_some(parts, wholes):
    """Shares of each instance, and which instances count: those whose whole is above 0."""
    some = wholes > 0
    return np.divide(parts, wholes, out=np.zeros(len(parts)), where=some), some.astype(np.float64)


def _gains(ranked, k):
    return np.where(ranked.hits[:, :k], ranked.inverse[ranked.ids[:, :k]], 0.0)


def find_best_gains(Y, inverse, k):
    """The k largest 1/p of each instance's labels in descending order, 0 where it has fewer:
    float64 (n, k).
    """
    rows = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    weights = inverse[Y.indices]
    order = np.lexsort((-weights, rows))
    places = np.arange(len(rows)) - Y.indptr[rows]
    best = np.zeros((Y.n_rows, k))
    kept = places < k
    best[rows[kept], places[kept]] = weights[order][kept]
    return best


def ratio(part, whole):
    return float(part / whole) if whole else 0.0
