"""The sections Size and Pruning: quality and size of models as weights are dropped."""

from pathlib import Path

import numpy as np

from ovaflow.report.drawing import DASHED, FigureOfRuns, draw_all, line, logarithmic, series, side_by_side, styles_of
from ovaflow.report.section import ReportSection
from ovaflow.report.sweeps import values_axis
from ovaflow.settings.paths import CHOSEN_PRUNE
from ovaflow.storage.texts import read_json


def drawable(points):
    """Points of a prune curve on a logarithmic axis of thresholds; none if only one is left."""
    positive = [point for point in points if point["prune"] > 0]
    return positive if len(positive) > 1 else []


def _read_pruning(run):
    return drawable(run.json("prune.json", "prune-curve").get("points", [])) or None


def show_pruning(anchor, results):
    return _figures(anchor, results, "pruning", PRUNING)


def _figures(anchor, results, key, figures):
    runs = [run for run in results.shown if run.read.get(key)]
    return {"runs": runs, "figures": draw_all(anchor, runs, figures)} if runs else None


def _read_choice_of_pruning(run):
    """What ``prune: auto`` compared, where the model is of that choice."""
    path = run.path / Path(CHOSEN_PRUNE).name
    choice = read_json(path, "prune") if path.exists() else {}
    return choice if choice and choice["chosen"] == run.model.parameters.get("prune") else None


def _paint_choice(axes, runs):
    for run in runs:
        choice = run.read["size"]
        x = [point["model_bytes"] / 1e6 for point in choice["points"]]
        chosen = [point["prune"] for point in choice["points"]].index(choice["chosen"])
        for name, style in ("nDCG@5", "solid"), ("PSP@5", DASHED):
            changes = [point["change"][name] for point in choice["points"]]
            y, errors = ([100 * change[part] for change in changes] for part in ("mean", "error"))
            line(axes, run, x, y, f"{run.name}, {name}", linestyle=style, marker=None)
            axes.errorbar(x, y, 2 * np.array(errors), color=series(run.series), linestyle="none", linewidth=1)
            axes.plot(x[chosen], y[chosen], "o", color=series(run.series), markersize=9)
    axes.set(xscale="log", xlabel="model without the held-out instances, MB", ylabel="change in points")
    logarithmic(axes.xaxis)


def _paint_precision(axes, runs):
    for run, factor in zip(runs, _factors(runs), strict=True):
        x = np.array([point["prune"] for point in run.read["pruning"]])
        for name, style in styles_of(run.read["pruning"]):
            y = [100 * point[name] for point in run.read["pruning"]]
            markers = {"markevery": 1} if name == "P@1" else {"marker": None}
            line(axes, run, x, y, f"{run.name}, {name}", drawn_at=factor * x, linestyle=style, **markers)
    _threshold_axis(axes, runs)
    axes.set(ylabel="P@k in %")
    axes.set_ylim(bottom=0)


def _paint_size(axes, runs):
    for run, factor in zip(runs, _factors(runs), strict=True):
        x = np.array([point["prune"] for point in run.read["pruning"]])
        y = [point["model_bytes"] / (1 << 20) for point in run.read["pruning"]]
        line(axes, run, x, y, drawn_at=factor * x, markevery=1)
    _threshold_axis(axes, runs)
    axes.set(yscale="log", ylabel="MiB")
    logarithmic(axes.yaxis)


def _factors(runs):
    """Factors that put runs with the same figures next to one another on a logarithmic axis."""
    return 1.05 ** side_by_side(len(runs), 1)


def _threshold_axis(axes, runs):
    thresholds = {point["prune"] for run in runs for point in run.read["pruning"]}
    values_axis(axes, "prune threshold", sorted(thresholds))


PRUNING = (
    FigureOfRuns(
        "precision",
        "Precision by prune threshold",
        "P@1 (solid), P@3 (dashed) and P@5 (dotted) of the model pruned further: where the lines are flat, smaller "
        "models are as good (DiSMEC, fig. 5). Measured by scores alone, on at most 20,000 test instances.",
        _paint_precision,
    ),
    FigureOfRuns("size", "Model size by prune threshold", "Size of the same models (DiSMEC, fig. 5).", _paint_size),
)

CHOICE_OF_PRUNING = (
    FigureOfRuns(
        "quality",
        "Quality by size of the model",
        "What dropping more weights changes on held-out instances, by score alone: nDCG@5 (solid) and PSP@5 (dashed), "
        "with two standard errors. The dots are what prune: auto chose.",
        _paint_choice,
    ),
)
SIZE_SECTION = ReportSection(
    "size",
    "Size",
    lambda anchor, results: _figures(anchor, results, "size", CHOICE_OF_PRUNING),
    _read_choice_of_pruning,
)
PRUNING_SECTION = ReportSection("pruning", "Pruning", show_pruning, _read_pruning)
