"""The section of the report on trees of instances."""

from functools import partial
from typing import Any

import numpy as np

from ovaflow.report import wording
from ovaflow.report.gather import DatasetResults
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, make_runs_table
from ovaflow.results.run import Run


def _statistics(run: Run) -> dict[str, np.ndarray]:
    """Return statistics of a run's trees by name, one number per tree; empty for other methods."""
    if run.training is None:
        return {}
    return run.training.trees


def _compute_mean(name: str, run: Run) -> float:
    return float(np.mean(_statistics(run)[name]))


def _count_trees(run: Run) -> int:
    return len(_statistics(run)["nodes"])


def _find_largest_leaf(run: Run) -> int:
    return int(_statistics(run)["largest_leaf"].max())


_MEAN_DEPTH = "mean depth of a training instance’s leaf"
_BALANCE = "H / log2(n / max leaf); 1 is perfect"
_PER_TREE = "per tree"

COLUMNS = (
    Column("trees", _count_trees, wording.count),
    Column("leaves", partial(_compute_mean, "leaves"), wording.decimal, _PER_TREE),
    Column("depth", partial(_compute_mean, "depth"), wording.decimal, _PER_TREE, "deepest leaf"),
    Column("H", partial(_compute_mean, "mean_depth"), wording.decimal, _PER_TREE, _MEAN_DEPTH),
    Column("balance", partial(_compute_mean, "balance"), wording.decimal, _PER_TREE, _BALANCE),
    Column(
        "weights",
        partial(_compute_mean, "nonzeros"),
        wording.count,
        _PER_TREE,
        "of the separators",
    ),
    Column("time", partial(_compute_mean, "seconds"), wording.duration, _PER_TREE),
    Column(
        "labels",
        partial(_compute_mean, "labels_per_leaf"),
        wording.decimal,
        "per leaf",
        "whose scores are kept",
    ),
    Column("largest", _find_largest_leaf, wording.count, "leaf", "instances"),
)
"""Columns of the table of forests."""


def show(results: DatasetResults) -> dict[str, Any] | None:
    """Return the data of the section; None if no run has trees."""
    forests = [run for run in results.runs if _statistics(run)]
    if not forests:
        return None
    return {"table": make_runs_table("Trees of instances", forests, COLUMNS)}


_TEMPLATE = """
{{ table(it.table) }}
<p class="note">H is the mean number of splits between the root and a training instance’s leaf;
balance is H divided by its value in a perfectly balanced tree with leaves of the largest allowed
size. A node that cannot be split stays a leaf, however large it is: such leaves make balance fall
below 1.</p>
"""

SECTION = ReportSection("trees", "Trees of instances", show, _TEMPLATE, folded=True)
