"""The metrics of ``annif eval``: all predicted labels count as assigned, at k the first k.

Averages are scikit-learn's, with 0 for 0 / 0; instances without labels have an NDCG of 1.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from ovaflow.evaluation.ranking import find_hits

_AVERAGES = {"doc avg": "samples", "subj avg": "macro", "weighted subj avg": "weighted", "microavg": "micro"}


def annif_metrics(ids, Y):
    """Metrics by Annif's names, of predictions as in :mod:`ovaflow.evaluation.ranking`."""
    true, predicted = Y.to_scipy() > 0, indicator(ids, Y)
    metrics = {}
    for name, average in _AVERAGES.items():
        values = averages(true, predicted, average)
        for measure, value in zip(("Precision", "Recall", "F1 score"), values, strict=True):
            metrics[f"{measure} ({name})"] = float(value)
    hits = find_hits(ids, Y)
    metrics["F1@5"] = float(averages(true, indicator(ids[:, :5], Y), "samples")[2])
    metrics["NDCG"] = _ndcg(hits, Y)
    for k in (5, 10):
        metrics[f"NDCG@{k}"] = _ndcg(hits[:, :k], Y, k)
    for k in (1, 3, 5):
        metrics[f"Precision@{k}"] = float(averages(true, indicator(ids[:, :k], Y), "samples")[0])
    true_positives, assigned = int(hits.sum()), int((ids >= 0).sum())
    return metrics | {
        "True positives": true_positives,
        "False positives": assigned - true_positives,
        "False negatives": len(Y.indices) - true_positives,
        "Documents evaluated": Y.n_rows,
    }


def indicator(ids, Y):
    """Predictions as an indicator, bool (n, l)."""
    assigned = ids >= 0
    indptr = np.concatenate([[0], np.cumsum(assigned.sum(axis=1))])
    ones, shape = np.ones(indptr[-1], bool), (Y.n_rows, Y.n_columns)
    return sp.csr_array((ones, ids[assigned], indptr), shape=shape)


def averages(true, assigned, average):
    """Precision, recall and F1 by scikit-learn's averages; None: of each label."""
    # loading scikit-learn takes a second
    from sklearn.metrics import precision_recall_fscore_support

    with warnings.catch_warnings():
        # scikit-learn warns whenever it divides by zero
        warnings.simplefilter("ignore")
        return precision_recall_fscore_support(true, assigned, average=average)[:3]


def _ndcg(hits, Y, k=None):
    """Mean of DCG / ideal DCG; without k, the ideal has all labels of the instance."""
    counts = np.diff(Y.indptr)
    discounts = 1 / np.log2(np.arange(2, 2 + max(hits.shape[1], counts.max(initial=0))))
    ideal = np.concatenate([[0], np.cumsum(discounts)])[counts if k is None else np.minimum(counts, k)]
    reached = hits @ discounts[: hits.shape[1]]
    return float(np.where(ideal > 0, reached / np.where(ideal > 0, ideal, 1), 1).mean())
