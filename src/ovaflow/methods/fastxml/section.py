"""The section of the report on trees of instances."""

import numpy as np

from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, make_runs_table


def _statistics(run):
    """Return statistics of the trees of a run, arrays of one number for each; empty for other
    methods.
    """
    return run.training.trees if run.training is not None else {}


def _mean(title, name, text, group, hint=""):
    return Column(title, lambda run: float(np.mean(_statistics(run)[name])), text, group, hint)


COLUMNS = (
    Column("trees", lambda run: len(_statistics(run)["nodes"]), wording.count),
    _mean("leaves", "leaves", wording.decimal, "per tree"),
    _mean("depth", "depth", wording.decimal, "per tree", "deepest leaf"),
    _mean(
        "H", "mean_depth", wording.decimal, "per tree", "mean depth of a training instance’s leaf"
    ),
    _mean(
        "balance", "balance", wording.decimal, "per tree", "H / log2(n / max leaf); 1 is perfect"
    ),
    _mean("weights", "nonzeros", wording.count, "per tree", "of the separators"),
    _mean("time", "seconds", wording.duration, "per tree"),
    _mean("labels", "labels_per_leaf", wording.decimal, "per leaf", "whose scores are kept"),
    Column(
        "largest",
        lambda run: int(_statistics(run)["largest_leaf"].max()),
        wording.count,
        "leaf",
        "instances",
    ),
)


def show(anchor, results):
    forests = [run for run in results.runs if _statistics(run)]
    if not forests:
        return None
    return {"table": make_runs_table("Trees of instances", forests, COLUMNS)}


_TEMPLATE = """
{{ table(it.table) }}
<p class="note">H is the mean number of splits between the root and a training instance’s leaf; balance is H divided
by its value in a perfectly balanced tree with leaves of the largest allowed size. A node that cannot be split stays
a leaf, however large it is: such leaves make balance fall below 1.</p>
"""

SECTION = ReportSection("trees", "Trees of instances", show, _TEMPLATE, folded=True)
