"""The section on quality: columns of metrics, and counts of assigned labels."""

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from rich.console import Console
from sklearn.metrics import coverage_error

from ovaflow.report.gather import gather_results
from ovaflow.report.quality import count_assigned_labels, make_metric_columns, show_quality
from ovaflow.report.tables import Table
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


def read_first_row(table: Table) -> dict[str, tuple[float, float | None]]:
    """Read the figures of the first row on a terminal, and half of their intervals, by column."""
    file = io.StringIO()
    Console(file=file, width=2000).print(table.terminal)
    row = file.getvalue().splitlines()[2]
    texts = re.findall(r"(\S+?)(?: ±(\S+))?(?:\s+|$)", row)[1:]
    figures = {}
    for column, (value, spread) in zip(table.columns, texts, strict=True):
        figures[column.title] = (float(value), float(spread) if spread else None)
    return figures


def test_intervals_have_the_unit_of_their_metrics(runs) -> None:
    [results] = gather_results(runs)
    ours = read_first_row(show_quality(results)["all"])
    ranked = results.runs[0].measured.candidates
    hits = ranked.hits[ranked.hits.any(axis=1)].astype(int)
    scores = -np.arange(hits.shape[1], dtype=float)
    theirs = [coverage_error(row[None], scores[None]) for row in hits]
    bootstrap = scipy.stats.bootstrap([theirs], np.mean, method="percentile", rng=1)
    low, high = bootstrap.confidence_interval
    value, spread = ours["coverage-error"]
    assert value == pytest.approx(np.mean(theirs), abs=0.01)
    assert spread == pytest.approx((high - low) / 2, rel=0.15)
    # a share p of n instances
    value, spread = ours["P@1"]
    p = value / 100
    assert spread == pytest.approx(100 * 1.96 * np.sqrt(p * (1 - p) / len(ranked.ids)), rel=0.15)


def test_assigned_labels_against_an_indicator() -> None:
    random = np.random.default_rng(0)
    # 1 to 6 are the labels that models know, 7 is in the data, 8 and 9 were left out of it
    assigned = (random.random((200, 10)) < 0.15) & (np.arange(10) > 0)
    Y = from_scipy(assigned[:, :8] * 1.0)
    known = np.isin(np.arange(8), range(1, 7))
    counts = {"test_labels_unknown_in_train": assigned[:, 8:].sum()}
    dataset = SimpleNamespace(test=SimpleNamespace(Y=Y), parameters={"source": {"counts": counts}})
    ours = count_assigned_labels(dataset, known)
    possible = assigned[:, 1:7].any(axis=1)
    assert (ours.instances, ours.labels) == (200, assigned.sum())
    assert (ours.unknown, ours.unseen) == (assigned[:, 7:].sum(), assigned[:, 7].sum())
    assert ours.without_known_label == (~possible).sum()
