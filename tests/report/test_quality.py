"""The section on quality: columns of metrics, and counts of assigned labels."""

from types import SimpleNamespace

import numpy as np

from ovaflow.report.quality import count_assigned_labels, make_metric_columns
from ovaflow.sparse.csr import from_scipy


def test_metric_columns_in_order() -> None:
    figures = {"recall@1": 0, "P@10": 0, "P@5": 0, "macro-F1@5": 0, "instances": 3}
    runs = [SimpleNamespace(metrics=figures), SimpleNamespace(metrics={"nDCG@1": 0})]
    columns = make_metric_columns(runs)
    assert [column.title for column in columns] == [
        "P@5",
        "P@10",
        "nDCG@1",
        "recall@1",
        "macro-F1@5",
    ]


def test_assigned_labels_against_an_indicator() -> None:
    random = np.random.default_rng(0)
    # 1 to 6 are the labels that models know, 7 is in the data, 8 and 9 were left out of it
    assigned = (random.random((200, 10)) < 0.15) & (np.arange(10) > 0)
    some = assigned.any(axis=1)
    Y = from_scipy(assigned[:, :8] * 1.0)
    known = np.isin(np.arange(8), range(1, 7))
    counts = {
        "test_labels_unknown_in_train": assigned[:, 8:].sum(),
        "test_with_unknown_labels_only": (some & ~assigned[:, :8].any(axis=1)).sum(),
    }
    dataset = SimpleNamespace(test=SimpleNamespace(Y=Y), parameters={"source": {"counts": counts}})
    ours = count_assigned_labels(dataset, known)
    possible = assigned[:, 1:7].any(axis=1)
    assert (ours.instances, ours.labels) == (200, assigned.sum())
    assert (ours.unknown, ours.unseen) == (assigned[:, 7:].sum(), assigned[:, 7].sum())
    assert (ours.without_known_label, ours.unlabelled) == ((~possible).sum(), (~some).sum())
