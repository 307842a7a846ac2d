"""Annif's metrics, against scikit-learn's; tests/serving/test_real_annif.py asks Annif itself."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from ovaflow.evaluation.labelled_file import compute_annif_metrics
from ovaflow.evaluation.ranking import Ranked
from ovaflow.sparse.csr import from_scipy

L = 8
AVERAGES = {
    "doc avg": "samples",
    "subj avg": "macro",
    "weighted subj avg": "weighted",
    "microavg": "micro",
}
ROWS = st.lists(
    st.tuples(st.permutations(range(L)), st.integers(0, 7), st.sets(st.integers(0, L - 1))),
    min_size=1,
    max_size=6,
)


def compute_sklearn_averages(assigned, true, average) -> tuple:
    """Precision, recall and F1, with 0 for 0 / 0."""
    return precision_recall_fscore_support(true, assigned, average=average, zero_division=0)[:3]


def compute_ndcg(ids, true, k) -> float:
    """The mean over all rows, 1 for those without labels."""
    some = true.any(axis=1)
    return naive.ranking_metrics(ids, true, np.ones(L), k)["nDCG"] * some.mean() + (~some).mean()


@given(ROWS)
def test_same_metrics_as_by_counting(rows) -> None:
    ids = np.full((len(rows), L), -1)
    for row, (order, n_predicted, _) in zip(ids, rows, strict=True):
        row[:n_predicted] = order[:n_predicted]
    true = naive.mark_labels([known for _, _, known in rows], L)
    ours = compute_annif_metrics(Ranked(ids, from_scipy(true.astype(np.float32))))

    def mark_first(k) -> np.ndarray:
        return naive.mark_labels(ids[:, :k], L)

    theirs = {"NDCG": compute_ndcg(ids, true, L)}
    for k in (5, 10):
        theirs[f"NDCG@{k}"] = compute_ndcg(ids, true, k)
    for name, average in AVERAGES.items():
        precision, recall, f1 = compute_sklearn_averages(mark_first(L), true, average)
        theirs[f"Precision ({name})"] = precision
        theirs[f"Recall ({name})"] = recall
        theirs[f"F1 score ({name})"] = f1
    for k in (1, 3, 5):
        precision, _, f1 = compute_sklearn_averages(mark_first(k), true, "samples")
        theirs[f"Precision@{k}"] = precision
    # of the last, the first five
    theirs["F1@5"] = f1
    hits = (mark_first(L) & true).sum()
    assigned = mark_first(L).sum()
    theirs |= {
        "True positives": hits,
        "False positives": assigned - hits,
        "False negatives": true.sum() - hits,
    }
    assert ours == pytest.approx(theirs | {"Documents evaluated": len(rows)})
