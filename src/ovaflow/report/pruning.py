"""The figure of quality by size of the model: the points that ``prune: auto`` compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ovaflow.report.drawing import (
    DASHED,
    FigureOfRuns,
    RecordingAxes,
    draw_figures,
    draw_line,
    get_series_colour,
    label_logarithmic_axis,
)

if TYPE_CHECKING:
    from ovaflow.results.run import Run

_METRIC_STYLES = {"nDCG@5": "solid", "PSP@5": DASHED}


def draw_pruning_choice(anchor: str, runs: Sequence[Run]) -> dict[str, Any] | None:
    """Draw quality by size of the runs whose size ``prune: auto`` chose; None without such runs."""
    chosen = []
    for run in runs:
        # runs of the same training compared the same
        if run.choice_of_pruning and run.same_training_run is None:
            chosen.append(run)
    if not chosen:
        return None
    [drawing] = draw_figures(anchor, chosen, [PRUNING_FIGURE])
    return {"runs": chosen, "drawing": drawing}


def _paint(axes: RecordingAxes, runs: Sequence[Run]) -> None:
    for run in runs:
        _paint_run(axes, run)
    axes.set(
        xscale="log", xlabel="model without the held-out instances, MiB", ylabel="change in points"
    )
    label_logarithmic_axis(axes.xaxis)


def _paint_run(axes: RecordingAxes, run: Run) -> None:
    # figures show only runs with a number
    assert run.series is not None
    points = run.choice_of_pruning["points"]
    mebibytes = [point["model_bytes"] / (1 << 20) for point in points]
    chosen = [point["prune"] for point in points].index(run.choice_of_pruning["chosen"])
    colour = get_series_colour(run.series)
    for metric, style in _METRIC_STYLES.items():
        changes = [point["change"][metric] for point in points]
        means = [100 * change["mean"] for change in changes]
        errors = np.array([100 * change["error"] for change in changes])
        name = f"{run.name}, {metric}"
        draw_line(axes, run, mebibytes, means, name, linestyle=style, marker=None)
        axes.errorbar(mebibytes, means, 2 * errors, color=colour, linestyle="none", linewidth=1)
        axes.plot(mebibytes[chosen], means[chosen], "o", color=colour, markersize=9)


PRUNING_FIGURE = FigureOfRuns(
    "size",
    "Quality by size of the model",
    "Change by dropping more weights, on held-out instances and by score alone: nDCG@5 (solid) and "
    "PSP@5 (dashed), with two standard errors. The dot is what prune: auto chose.",
    _paint,
)
