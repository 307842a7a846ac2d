"""Annif's metrics, against the plainest way to count them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.evaluation.labelled_file import annif_metrics
from ovaflow.sparse.csr import from_scipy

L = 8


def ratio(part, whole):
    return part / whole if whole else 0.0


def precision_recall_f1(pairs):
    """Of (hits, assigned, true) each: their means."""
    rows = [(ratio(h, a), ratio(h, t), ratio(2 * h, a + t)) for h, a, t in pairs]
    return np.mean(rows, axis=0)


def counts_of(assigned, true):
    return [(len(a & t), len(a), len(t)) for a, t in zip(assigned, true, strict=True)]


def ndcg(ranked, true, k):
    values = []
    for labels, known in zip(ranked, true, strict=True):
        gains = [1 / np.log2(place + 2) for place in range(L)]
        ideal = sum(gains[: min(len(known), k)])
        values.append(sum(gains[p] for p, label in enumerate(labels[:k]) if label in known) / ideal if known else 1)
    return np.mean(values)


ROWS = st.lists(
    st.tuples(st.permutations(range(L)), st.integers(0, 7), st.sets(st.integers(0, L - 1))), min_size=1, max_size=6
)


@given(ROWS)
def test_same_figures_as_by_counting(rows):
    ranked, true = [list(order[:n]) for order, n, _ in rows], [known for *_, known in rows]
    ids = np.array([labels + [-1] * (7 - len(labels)) for labels in ranked])
    Y = np.array([[float(label in known) for label in range(L)] for known in true])
    ours = annif_metrics(ids, from_scipy(sp.csr_array(Y)))
    documents = counts_of(map(set, ranked), true)
    by_label = [
        ({i for i, labels in enumerate(ranked) if j in labels}, {i for i, known in enumerate(true) if j in known})
        for j in range(L)
    ]
    subjects = counts_of(*zip(*by_label, strict=True))
    theirs = dict(
        zip(
            ("Precision (doc avg)", "Recall (doc avg)", "F1 score (doc avg)"),
            precision_recall_f1(documents),
            strict=True,
        )
    )
    subject_averages = "Precision (subj avg)", "Recall (subj avg)", "F1 score (subj avg)"
    theirs |= dict(zip(subject_averages, precision_recall_f1(subjects), strict=True))
    hits, assigned, known = np.sum(documents, axis=0)
    theirs |= {"Precision (microavg)": ratio(hits, assigned), "Recall (microavg)": ratio(hits, known)}
    theirs |= {"F1 score (microavg)": ratio(2 * hits, assigned + known)}
    weighted = [(t, ratio(h, t)) for h, _, t in subjects]
    theirs["Recall (weighted subj avg)"] = ratio(sum(t * r for t, r in weighted), known)
    for k in (1, 3, 5):
        cut = counts_of([set(labels[:k]) for labels in ranked], true)
        theirs[f"Precision@{k}"] = precision_recall_f1(cut)[0]
        if k == 5:
            theirs["F1@5"] = precision_recall_f1(cut)[2]
    theirs |= {f"NDCG{name}": ndcg(ranked, true, k) for name, k in (("", L), ("@5", 5), ("@10", 10))}
    theirs |= {"True positives": hits, "False positives": assigned - hits, "False negatives": known - hits}
    theirs["Documents evaluated"] = len(rows)
    assert {name: ours[name] for name in theirs} == pytest.approx(theirs)
    assert set(ours) - set(theirs) == {"Precision (weighted subj avg)", "F1 score (weighted subj avg)"}
