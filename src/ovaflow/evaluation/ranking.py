"""Ranking metrics at k, as the scripts of the XMC repository define them.

`ids` are predictions, int of shape (n, K), best first and -1 where there is
none; `hits` is bool of the same shape (:func:`find_hits`); `Y` holds the true
labels, a CSR of ones with n rows; k is at most K. Every metric is a float in
[0, 1], and 0 where nothing can be averaged.
"""

import numpy as np
import scipy.sparse


def find_hits(ids, Y):
    """Which predictions are true: bool (n, K)."""
    rows = np.arange(Y.n_rows, dtype=np.int64)
    true = np.repeat(rows, np.diff(Y.indptr)) * Y.n_columns + Y.indices
    return np.isin(rows[:, None] * Y.n_columns + ids, true) & (ids >= 0)


def precision(hits, k):
    """P@k = hits / (n k), over all instances: those without labels count as misses, as do missing predictions."""
    return ratio(hits[:, :k].sum(), len(hits) * k)


def indicator(ids, Y):
    """Predictions as an indicator, bool (n, l)."""
    assigned = ids >= 0
    indptr = np.concatenate([[0], np.cumsum(assigned.sum(axis=1))])
    ones, shape = np.ones(indptr[-1], bool), (Y.n_rows, Y.n_columns)
    return scipy.sparse.csr_array((ones, ids[assigned], indptr), shape=shape)


def contributions(metric, ids, hits, Y, inverse):
    """What each instance adds to the two sums whose ratio is P, nDCG, PSP or recall at k: two arrays (n,)."""
    name, _, place = metric.partition("@")
    k = int(place)
    if name == "P":
        return hits[:, :k].mean(axis=1), np.ones(len(hits))
    if name == "PSP":
        # the hits' 1/p, beside the largest sum that k predictions reach
        return _gains(ids, hits, inverse, k).sum(axis=1), best_gains(Y, inverse, k).sum(axis=1)
    if name == "nDCG":
        # DCG = sum over hits at r of 1 / log2(r + 1)
        reached, reachable = hits[:, :k] @ _discounts(k)[: hits.shape[1]], _ideal_dcg(Y, k)
    else:
        reached, reachable = hits[:, :k].sum(axis=1), np.diff(Y.indptr)
    some = reachable > 0
    return np.divide(reached, reachable, out=np.zeros(len(hits)), where=some), some.astype(np.float64)


def ratio_of_sums(metric, ids, hits, Y, inverse):
    """P, nDCG, PSP or recall at k: nDCG and recall are means over the instances with labels."""
    # the scripts of the XMC repository count instances without labels, which have no ideal nDCG, as 0
    gains, best = contributions(metric, ids, hits, Y, inverse)
    return ratio(gains.sum(), best.sum())


def propensity_scored_ndcg(ids, hits, Y, inverse, k):
    """PSnDCG@k: like PSP@k, with gains divided by log2(r + 1) and by the instance's perfect, unweighted DCG@k."""
    ideal = _ideal_dcg(Y, k)
    some = ideal > 0
    reached = _gains(ids, hits, inverse, k)[some] @ _discounts(k) / ideal[some]
    best = best_gains(Y, inverse, k)[some] @ _discounts(k) / ideal[some]
    return ratio(reached.sum(), best.sum())


def coverage(ids, hits, Y, k):
    """Share of the labels with test positives that are a hit at least once."""
    return ratio(len(np.unique(ids[:, :k][hits[:, :k]])), len(np.unique(Y.indices)))


def f1(ids, hits, Y, k):
    """(macro, micro) F1 of the first k labels; macro: mean 2 tp / (predicted + positives) where positives > 0."""
    first, hit = ids[:, :k], hits[:, :k]
    true = np.bincount(first[hit], minlength=Y.n_columns)
    predicted = np.bincount(first[first >= 0], minlength=Y.n_columns)
    positives = np.bincount(Y.indices, minlength=Y.n_columns)
    some = positives > 0
    of_labels = 2 * true[some] / (predicted + positives)[some]
    return ratio(of_labels.sum(), len(of_labels)), ratio(2 * true.sum(), predicted.sum() + positives.sum())


def quality_of_answers(hits, amounts, positives):
    """Precision, recall and F1, means over texts, of the first labels of each text; an empty answer has precision 0."""
    each = answer_of_each(hits, amounts, positives)
    return {name: float(np.mean(values)) for name, values in each.items()}


def answer_of_each(hits, amounts, positives):
    """Precision, recall and F1 of the first labels of each text, and how many these are: arrays (n,) by name."""
    right = np.where(np.arange(hits.shape[1]) < amounts[:, None], hits, False).sum(axis=1)
    return {
        "P": right / np.maximum(amounts, 1),
        "R": right / np.maximum(positives, 1),
        "F1": 2 * right / np.maximum(amounts + positives, 1),
        "labels": amounts,
    }


def _discounts(k):
    return 1 / np.log2(np.arange(2, k + 2))


def _ideal_dcg(Y, k):
    reached = np.concatenate([[0.0], np.cumsum(_discounts(k))])
    return reached[np.minimum(np.diff(Y.indptr), k)]


def _gains(ids, hits, inverse, k):
    return np.where(hits[:, :k], inverse[ids[:, :k]], 0.0)


def best_gains(Y, inverse, k):
    """The k largest 1/p of each instance's labels in descending order, 0 where it has fewer: float64 (n, k)."""
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
