"""The section of the report on trees of instances."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ovaflow.report import wording
from ovaflow.report.drawing import FigureOfRuns, draw_all, line, styles_of
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, table_of_runs


def _statistics(run):
    return run.read["trees"]["statistics"]


def _mean(title, name, text, group, hint=""):
    return Column(title, lambda run: float(np.mean(_statistics(run)[name])), text, group, hint)


COLUMNS = (
    Column("trees", lambda run: len(_statistics(run)["nodes"]), wording.count),
    _mean("leaves", "leaves", wording.decimal, "per tree"),
    _mean("depth", "depth", wording.decimal, "per tree", "deepest leaf"),
    _mean("H", "mean_depth", wording.decimal, "per tree", "mean depth of a training instance’s leaf"),
    _mean("balance", "balance", wording.decimal, "per tree", "H / log2(n / max leaf); 1 is perfect"),
    _mean("weights", "nonzeros", wording.count, "per tree", "of the separators"),
    _mean("time", "seconds", wording.duration, "per tree"),
    _mean("labels", "labels_per_leaf", wording.decimal, "per leaf", "whose scores are kept"),
    Column("largest", lambda run: int(_statistics(run)["largest_leaf"].max()), wording.count, "leaf", "instances"),
)


def read(run):
    """Statistics of the trees, arrays of one number for each, and points of trees.json: number of trees and metrics."""
    if run.training is None or not run.training.trees:
        return None
    curve = run.json("trees.json", "tree-curve").get("points", [])
    return {"statistics": run.training.trees, "curve": curve}


def show(anchor, results):
    forests = [run for run in results.runs if "trees" in run.read]
    if not forests:
        return None
    shown = [run for run in forests if run.read["trees"]["curve"] and run.series is not None]
    table = table_of_runs("Trees of instances", forests, COLUMNS)
    return {"table": table, "runs": shown, "figures": draw_all(anchor, shown, BY_TREES)}


def _paint_quality(axes, runs):
    for run in runs:
        trees = [point["trees"] for point in run.read["trees"]["curve"]]
        for metric, style in styles_of(run.read["trees"]["curve"]):
            values = [100 * point[metric] for point in run.read["trees"]["curve"]]
            markers = {} if style == "solid" or len(values) == 1 else {"marker": None}
            line(axes, run, trees, values, f"{run.name}, {metric}", linestyle=style, **markers)
    axes.set(xlabel="trees", ylabel="P@k in %", xlim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))


BY_TREES = (
    FigureOfRuns(
        "by-trees",
        "P@1, P@3 and P@5 by number of trees",
        "P@1 (solid), P@3 (dashed) and P@5 (dotted) of the first trees (FastXML, fig. 1). Where the curve is flat, "
        "fewer trees are enough.",
        _paint_quality,
    ),
)

_TEMPLATE = """
{{ table(it.table) }}
{% for drawing in it.figures %}
<div class="columns wide">
  {{ chart(drawing, it.runs) }}
  <div>
    <p class="note">H is the mean number of splits between the root and a training instance’s leaf; balance is H divided
    by its value in a perfectly balanced tree with leaves of the largest allowed size. A node that cannot be split stays
    a leaf, however large it is: such leaves make balance fall below 1.</p>
  </div>
</div>
{% endfor %}
"""

SECTION = ReportSection("trees", "Trees of instances", show, read, _TEMPLATE)
