"""Figures of runs that grow trees."""

from matplotlib.ticker import MaxNLocator

from ovaflow.report.drawing import figure, line

METRICS = ("P@1", "P@3", "P@5")
"""Drawn against the number of trees."""

_STYLES = ("solid", (0, (5, 2)), (0, (1.5, 1.5)))


@figure("P@1, P@3 and P@5 by number of trees")
def quality_by_trees(axes, runs):
    """P@1, P@3 and P@5 of each run against the number of trees (FastXML, fig. 1)."""
    for run in runs:
        amounts = [point["trees"] for point in run.trees.curve]
        for metric, style in zip(METRICS, _STYLES, strict=True):
            values = [100 * point[metric] for point in run.trees.curve]
            marked = style == "solid" or len(values) == 1
            unmarked = {} if marked else {"marker": None}
            line(axes, run, amounts, values, f"{run.name}, {metric}", linestyle=style, **unmarked)
    axes.set(xlabel="trees", ylabel="P@k in %", xlim=(0, None))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
