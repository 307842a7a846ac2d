"""The section Size: quality and size of models as weights are dropped."""

from pathlib import Path

import numpy as np

from ovaflow.report.drawing import DASHED, FigureOfRuns, draw_all, line, logarithmic, series
from ovaflow.report.section import ReportSection
from ovaflow.settings.paths import CHOSEN_PRUNE
from ovaflow.storage.texts import read_json


def _show(anchor, results):
    runs = [run for run in results.shown if run.read.get("size")]
    return {"runs": runs, "figures": draw_all(anchor, runs, CHOICE_OF_PRUNING)} if runs else None


def _read(run):
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


CHOICE_OF_PRUNING = (
    FigureOfRuns(
        "quality",
        "Quality by size of the model",
        "What dropping more weights changes on held-out instances, by score alone: nDCG@5 (solid) and PSP@5 (dashed), "
        "with two standard errors. The dots are what prune: auto chose.",
        _paint_choice,
    ),
)
SIZE_SECTION = ReportSection("size", "Size", _show, _read)
