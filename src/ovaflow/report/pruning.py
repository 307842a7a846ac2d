"""The section Pruning: quality and size of a model at larger thresholds, from prune.json."""

import numpy as np

from ovaflow.report import drawing
from ovaflow.report.drawing import STYLES, FigureOfRuns, draw_all, line


def drawable(points):
    """Points of a prune curve on a logarithmic axis of thresholds; none if only one is left."""
    positive = [point for point in points if point["prune"] > 0]
    return positive if len(positive) > 1 else []


def show(anchor, results):
    """Figures of models pruned further."""
    runs = [run for run in results.shown if run.pruning]
    return {"runs": runs, "figures": draw_all(anchor, runs, FIGURES)} if runs else None


def _paint_precision(axes, runs):
    for run, factor in zip(runs, _factors(runs), strict=True):
        for metric, style in STYLES.items():
            points = [(point["prune"], 100 * point[metric]) for point in run.pruning if metric in point]
            x, y = np.array(points).reshape(-1, 2).T
            markers = {"markevery": 1} if metric == "P@1" else {"marker": None}
            line(axes, run, factor * x, y, keep=False, linestyle=style, **markers)
            axes.keep(f"{run.name}, {metric}", x=x, y=y)
    _threshold_axis(axes, runs)
    axes.set(ylabel="P@k in %")
    axes.set_ylim(bottom=0)


def _paint_size(axes, runs):
    for run, factor in zip(runs, _factors(runs), strict=True):
        x = np.array([point["prune"] for point in run.pruning])
        y = [point["model_bytes"] / (1 << 20) for point in run.pruning]
        line(axes, run, factor * x, y, keep=False, markevery=1)
        axes.keep(run.name, x=x, y=y)
    _threshold_axis(axes, runs)
    axes.set(yscale="log", ylabel="MiB")
    drawing.logarithmic(axes.yaxis)


def _factors(runs):
    """Factors that put runs with the same figures next to one another on a logarithmic axis."""
    return 1.05 ** drawing.side_by_side(len(runs), 1)


def _threshold_axis(axes, runs):
    thresholds = {point["prune"] for run in runs for point in run.pruning}
    drawing.values_axis(axes, "prune threshold", sorted(thresholds))


FIGURES = (
    FigureOfRuns(
        "precision",
        "Precision by prune threshold",
        "P@1 (solid), P@3 (dashed) and P@5 (dotted) of the model pruned further: where the lines are flat, smaller "
        "models are as good (DiSMEC, fig. 5). Measured on at most 20,000 test instances.",
        _paint_precision,
    ),
    FigureOfRuns("size", "Model size by prune threshold", "Size of the same models (DiSMEC, fig. 5).", _paint_size),
)
