"""Annif's metrics, against the plainest way to count them; tests/serving/test_real_annif.py asks Annif itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.evaluation.labelled_file import annif_metrics
from ovaflow.sparse.csr import from_scipy

L = 8
AXES = {"doc avg": 1, "subj avg": 0, "microavg": None}
ROWS = st.lists(
    st.tuples(st.permutations(range(L)), st.integers(0, 7), st.sets(st.integers(0, L - 1))), min_size=1, max_size=6
)


def precision_recall_f1(assigned, true, axis):
    """Means over an axis of indicators (n, L), with 0 for 0 / 0."""
    hits, a, t = (each.sum(axis=axis) for each in (assigned & true, assigned, true))
    return [np.mean(part / np.maximum(whole, 1)) for part, whole in ((hits, a), (hits, t), (2 * hits, a + t))]


def ndcg(ids, true, k):
    gains, values = 1 / np.log2(np.arange(2, L + 2)), []
    for row, known in zip(ids, true, strict=True):
        reached = sum(gain for gain, label in zip(gains, row[:k], strict=False) if label >= 0 and known[label])
        values.append(reached / gains[: min(known.sum(), k)].sum() if known.any() else 1)
    return np.mean(values)


@given(ROWS)
def test_same_figures_as_by_counting(rows):
    ids = np.array([[*order[:n], *[-1] * (L - n)] for order, n, _ in rows])
    true = np.array([[label in known for label in range(L)] for *_, known in rows])
    ours = annif_metrics(ids, from_scipy(true.astype(np.float32)))

    def first(k):
        return np.array([[label in row[:k] for label in range(L)] for row in ids.tolist()])

    theirs = {"NDCG": ndcg(ids, true, L)} | {f"NDCG@{k}": ndcg(ids, true, k) for k in (5, 10)}
    for name, axis in AXES.items():
        for measure, value in zip(
            ("Precision", "Recall", "F1 score"), precision_recall_f1(first(L), true, axis), strict=True
        ):
            theirs[f"{measure} ({name})"] = value
    theirs |= {f"Precision@{k}": precision_recall_f1(first(k), true, 1)[0] for k in (1, 3, 5)}
    theirs["F1@5"] = precision_recall_f1(first(5), true, 1)[2]
    hits, assigned = (first(L) & true).sum(), first(L).sum()
    theirs |= {"True positives": hits, "False positives": assigned - hits, "False negatives": true.sum() - hits}
    theirs["Documents evaluated"] = len(rows)
    assert {name: ours[name] for name in theirs} == pytest.approx(theirs)
    weighted = [f"{measure} (weighted subj avg)" for measure in ("Precision", "Recall", "F1 score")]
    assert set(ours) - set(theirs) == set(weighted)
    # by definition, recall weighted by true labels is that of all pairs
    assert ours[weighted[1]] == pytest.approx(ours["Recall (microavg)"])
