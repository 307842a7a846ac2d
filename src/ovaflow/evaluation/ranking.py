"""Quality of ranked labels, as the scripts of the XMC repository define it.

A metric is a function of :class:`Ranked` labels and a cut-off k, at most K. It returns what each
instance adds to two sums whose ratio is the metric, as arrays (n,), or the metric itself, a float
that is 0 where nothing can be averaged.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import scipy

from ovaflow.model.ranked_labels import compute_dcg, compute_discounts, compute_ideal_dcg, find_hits
from ovaflow.sparse.csr import CSR, select_rows

InstanceSums = tuple[np.ndarray, np.ndarray]
"""Gains and best possible gains of each instance, (n,) each: the metric is the ratio of their sums.
"""


@dataclass(frozen=True)
class Ranked:
    """Labels that are ranked for n instances, and the true ones."""

    ids: np.ndarray  # int (n, K), best first, -1 where there is none
    Y: CSR  # true labels (n, l)
    # float64 (l,): 1 / p of each label; None where no metric needs it
    inverse_propensity: np.ndarray | None = None
    # int64 (n,): how many of the first labels are the answer
    answer_lengths: np.ndarray | None = None

    @cached_property
    def hits(self) -> np.ndarray:
        """Ranked labels that are true: bool (n, K)."""
        return find_hits(self.ids, self.Y)

    @cached_property
    def positives(self) -> np.ndarray:
        """Number of true labels of each instance: int64 (n,)."""
        return np.diff(self.Y.indptr)

    @property
    def label_gains(self) -> np.ndarray:
        """Gain 1 / p of a hit on each label, for metrics by propensity: float64 (l,)."""
        assert self.inverse_propensity is not None
        return self.inverse_propensity

    @property
    def max_predicted(self) -> int:
        """Most labels of an instance that can be predicted."""
        return min(self.ids.shape[1], self.Y.n_columns)

    def take(self, rows: np.ndarray) -> Self:
        """Select some of the instances, without an answer."""
        return replace(self, ids=self.ids[rows], Y=select_rows(self.Y, rows), answer_lengths=None)

    def first(self, k: int) -> np.ndarray:
        """Mark the first k ranked labels: bool (1, K)."""
        return (np.arange(self.ids.shape[1]) < k)[None, :]

    def count_labels(self, counted: np.ndarray) -> "LabelCounts":
        """Count each label among the marked ones, bool (n, K), and among the true ones."""
        predicted = counted & (self.ids >= 0)
        n_labels = self.Y.n_columns
        return LabelCounts(
            true=np.bincount(self.Y.indices, minlength=n_labels),
            predicted=np.bincount(self.ids[predicted], minlength=n_labels),
            right=np.bincount(self.ids[predicted & self.hits], minlength=n_labels),
        )


class LabelCounts(NamedTuple):
    """Number of instances by label: int64 (l,) each."""

    true: np.ndarray
    predicted: np.ndarray
    right: np.ndarray


def precision(ranked: Ranked, k: int) -> InstanceSums:
    """Compute P@k = hits / (n k) over all instances.

    Instances without labels count as misses, as do missing predictions.
    """
    return ranked.hits[:, :k].sum(axis=1), np.full(len(ranked.ids), k)


def recall(ranked: Ranked, k: int) -> InstanceSums:
    """Compute the mean of hits / labels over the instances with labels."""
    return _mean_where_positive(ranked.hits[:, :k].sum(axis=1), ranked.positives)


def ndcg(ranked: Ranked, k: int) -> InstanceSums:
    """Compute the mean of DCG / ideal DCG over the instances with labels.

    DCG is the sum over hits at r of 1 / log2(r + 1). The scripts of the XMC repository also count
    instances without labels, which have no ideal DCG, as 0.
    """
    dcg = compute_dcg(ranked.hits, k)
    return _mean_where_positive(dcg, compute_ideal_dcg(ranked.positives, k))


def propensity_scored_precision(ranked: Ranked, k: int) -> InstanceSums:
    """Compute the sum of 1/p of the hits, relative to the largest sum that k predictions reach."""
    gains = _gains_of_hits(ranked, k).sum(axis=1)
    return gains, find_best_gains(ranked.Y, ranked.label_gains, k).sum(axis=1)


def propensity_scored_ndcg(ranked: Ranked, k: int) -> float:
    """Compute PSnDCG@k.

    It is like PSP@k, with gains divided by log2(r + 1) and by the instance's perfect, unweighted
    DCG@k.
    """
    ideal = compute_ideal_dcg(ranked.positives, k)
    has_label = ideal > 0
    discounts = compute_discounts(k)
    ideal = ideal[has_label]
    gains = _gains_of_hits(ranked, k)[has_label]
    best_gains = find_best_gains(ranked.Y, ranked.label_gains, k)[has_label]
    reached = gains @ discounts / ideal
    best = best_gains @ discounts / ideal
    return ratio(reached.sum(), best.sum())


def coverage(ranked: Ranked, k: int) -> float:
    """Compute the share of the labels with test positives that are a hit at least once."""
    hit_labels = ranked.ids[:, :k][ranked.hits[:, :k]]
    return ratio(len(np.unique(hit_labels)), len(np.unique(ranked.Y.indices)))


def macro_f1(ranked: Ranked, k: int) -> float:
    """Compute the mean of 2 right / (predicted + true) over the labels with test positives."""
    counts = ranked.count_labels(ranked.first(k))
    has_positives = counts.true > 0
    f1 = 2 * counts.right[has_positives] / (counts.predicted + counts.true)[has_positives]
    return ratio(f1.sum(), len(f1))


def micro_f1(ranked: Ranked, k: int) -> float:
    """Compute 2 right / (predicted + true) over all pairs of an instance and a label."""
    counts = ranked.count_labels(ranked.first(k))
    return ratio(2 * counts.right.sum(), counts.predicted.sum() + counts.true.sum())


def label_ranking_average_precision(ranked: Ranked, k: int) -> InstanceSums:
    """Compute the mean over the instances with a hit of the mean precision at each hit."""
    hits = ranked.hits
    places = np.arange(1, hits.shape[1] + 1)
    precisions = np.where(hits, hits.cumsum(axis=1) / places, 0).sum(axis=1)
    return _mean_where_positive(precisions, hits.sum(axis=1))


def coverage_error(ranked: Ranked, k: int) -> InstanceSums:
    """Compute the mean over the instances with a hit of the place of the last one."""
    last = ranked.hits.shape[1] - ranked.hits[:, ::-1].argmax(axis=1)
    has_hit = np.asarray(ranked.hits.any(axis=1))
    places: np.ndarray = np.where(has_hit, last, 0)
    return places.astype(np.float64), has_hit.astype(np.float64)


def make_answer_metric(name: str) -> Callable[[Ranked, int], InstanceSums]:
    """Make a metric of answers from one of those of :func:`compute_answer_metrics`."""

    def metric(ranked: Ranked, k: int) -> InstanceSums:
        assert ranked.answer_lengths is not None
        metrics = compute_answer_metrics(ranked.hits, ranked.answer_lengths, ranked.positives)
        return metrics[name], np.ones(len(ranked.ids))

    return metric


def compute_answer_metrics(
    hits: np.ndarray, lengths: np.ndarray, positives: np.ndarray
) -> dict[str, np.ndarray]:
    """Compute precision, recall, F1 and length of the answer to each instance.

    An empty answer has precision 0.

    Parameters
    ----------
    hits : bool (n, K)
        Ranked labels that are true.
    lengths : int (n,)
        How many of the first labels are the answer.
    positives : int (n,)
        Number of true labels.

    Returns
    -------
    dict
        Figures P, R, F1 and labels: float64 (n,) each.
    """
    is_answer = np.arange(hits.shape[1]) < lengths[:, None]
    right = np.where(is_answer, hits, False).sum(axis=1)
    return {
        "P": right / np.maximum(lengths, 1),
        "R": right / np.maximum(positives, 1),
        "F1": 2 * right / np.maximum(lengths + positives, 1),
        "labels": lengths.astype(np.float64),
    }


def average_answer_metrics(
    hits: np.ndarray, lengths: np.ndarray, positives: np.ndarray
) -> dict[str, float]:
    """Average the metrics of :func:`compute_answer_metrics` over instances."""
    metrics = compute_answer_metrics(hits, lengths, positives)
    return {name: float(np.mean(values)) for name, values in metrics.items()}


def precision_of_hits(hits: np.ndarray, k: int) -> float:
    """Compute P@k of hits (n, K)."""
    return ratio(hits[:, :k].sum(), len(hits) * k)


def make_indicator_matrix(ids: np.ndarray, Y: CSR) -> "scipy.sparse.csr_array":
    """Make the indicator matrix of predictions (n, K), of the shape of Y: bool (n, l)."""
    assigned = ids >= 0
    indptr = np.concatenate([[0], np.cumsum(assigned.sum(axis=1))])
    ones = np.ones(indptr[-1], bool)
    return scipy.sparse.csr_array((ones, ids[assigned], indptr), shape=(Y.n_rows, Y.n_columns))


def _mean_where_positive(parts: np.ndarray, wholes: np.ndarray) -> InstanceSums:
    """Divide parts by wholes; only instances whose whole is above 0 count."""
    counts = wholes > 0
    shares = np.divide(parts, wholes, out=np.zeros(len(parts)), where=counts)
    return shares, counts.astype(np.float64)


def _gains_of_hits(ranked: Ranked, k: int) -> np.ndarray:
    """Look up 1/p of the hits among the first k labels, 0 for other labels: float64 (n, k)."""
    hits = ranked.hits[:, :k]
    return np.where(hits, ranked.label_gains[ranked.ids[:, :k]], 0.0)


def find_best_gains(Y: CSR, inverse_propensity: np.ndarray, k: int) -> np.ndarray:
    """Find the k largest 1/p of each instance's labels, best first: float64 (n, k).

    They are 0 where an instance has fewer labels.
    """
    rows = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    gains = inverse_propensity[Y.indices]
    order = np.lexsort((-gains, rows))
    places = np.arange(len(rows)) - Y.indptr[rows]
    best = np.zeros((Y.n_rows, k))
    kept = places < k
    best[rows[kept], places[kept]] = gains[order][kept]
    return best


def ratio(part: float, whole: float) -> float:
    """Divide, with 0 for a part of nothing."""
    if not whole:
        return 0.0
    return float(part / whole)
