"""Head and tail: where hits and labels fall when labels are grouped by training frequency."""

import numpy as np

from ovaflow.evaluation.ranking import best_gains

STARTS = (0, 1, 2, 5, 10, 50, 100, 1000)
"""Smallest number of training positives of each group, 0 first."""


def frequency_groups(ids, hits, Y, counts, k, starts=STARTS, inverse=None):
    """Results by group of labels with similar counts; precision and psp add up to P@k and PSP@k."""
    group = np.searchsorted(starts, counts, "right") - 1
    first, hit = ids[:, :k], hits[:, :k]
    found = np.zeros(len(counts), bool)
    found[first[hit]] = True
    tested = np.bincount(Y.indices, minlength=len(counts))
    columns = {
        "labels": np.ones(len(counts)),
        "train": counts,
        "test": tested,
        "predicted": np.bincount(first[first >= 0], minlength=len(counts)),
        "hits": np.bincount(first[hit], minlength=len(counts)),
        "tested": tested > 0,
        "found": found,
    }
    if inverse is not None:
        columns["gains"] = columns["hits"] * inverse
    sums = {name: np.bincount(group, values, len(starts)) for name, values in columns.items()}
    rows = [_row(g, sums, first.size, starts) for g in range(len(starts)) if sums["labels"][g]]
    if inverse is None:
        return rows
    best = float(best_gains(Y, inverse, k).sum())
    gains = sums["gains"][sums["labels"] > 0].tolist()
    return [row | {"psp": gain / best if best else 0.0} for row, gain in zip(rows, gains, strict=True)]


def _row(g, sums, n_places, starts):
    def share(part, whole):
        return float(part / whole) if whole else 0.0

    last = g + 1 == len(starts)
    return {
        "from": starts[g],
        "to": None if last else starts[g + 1] - 1,
        "labels": int(sums["labels"][g]),
        "true": int(sums["test"][g]),
        "predicted": int(sums["predicted"][g]),
        "hits": int(sums["hits"][g]),
        "train_share": share(sums["train"][g], sums["train"].sum()),
        "test_share": share(sums["test"][g], sums["test"].sum()),
        "predicted_share": share(sums["predicted"][g], sums["predicted"].sum()),
        "recall": share(sums["hits"][g], sums["test"][g]),
        "precision": share(sums["hits"][g], n_places),
        "coverage": share(sums["found"][g], sums["tested"][g]),
    }
