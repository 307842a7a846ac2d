"""The figure of quality by size of the model: what ``prune: auto`` compared."""

import numpy as np

from ovaflow.report.drawing import (
    DASHED,
    FigureOfRuns,
    draw_figures,
    draw_line,
    get_series_colour,
    label_logarithmic_axis,
)


def draw_pruning_choice(anchor, runs):
    """Draw quality by size of the runs of which ``prune: auto`` chose the size; None where there is
    none.
    """
    chosen = []
    for run in runs:
        # runs of one training compared the same
        if run.choice_of_pruning and run.same_training_run is None:
            chosen.append(run)
    drawings = draw_figures(anchor, chosen, [PRUNING_FIGURE])
    return {"runs": chosen, "drawing": drawings[0]} if drawings else None


def _paint(axes, runs) -> None:
    for run in runs:
        points = run.choice_of_pruning["points"]
        mebibytes = [point["model_bytes"] / (1 << 20) for point in points]
        chosen = [point["prune"] for point in points].index(run.choice_of_pruning["chosen"])
        for name, style in ("nDCG@5", "solid"), ("PSP@5", DASHED):
            changes = [point["change"][name] for point in points]
            means = [100 * change["mean"] for change in changes]
            errors = np.array([100 * change["error"] for change in changes])
            draw_line(
                axes, run, mebibytes, means, f"{run.name}, {name}", linestyle=style, marker=None
            )
            axes.errorbar(
                mebibytes,
                means,
                2 * errors,
                color=get_series_colour(run.series),
                linestyle="none",
                linewidth=1,
            )
            axes.plot(
                mebibytes[chosen],
                means[chosen],
                "o",
                color=get_series_colour(run.series),
                markersize=9,
            )
    axes.set(
        xscale="log", xlabel="model without the held-out instances, MiB", ylabel="change in points"
    )
    label_logarithmic_axis(axes.xaxis)


PRUNING_FIGURE = FigureOfRuns(
    "size",
    "Quality by size of the model",
    "What dropping more weights changes on held-out instances, by score alone: nDCG@5 (solid) and PSP@5 (dashed), "
    "with two standard errors. The dot is what prune: auto chose.",
    _paint,
)
