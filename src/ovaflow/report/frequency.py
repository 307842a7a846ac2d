"""The figure of recall by the number of training positives, from analysis.json."""

import numpy as np

from ovaflow.report.drawing import draw_figure, draw_line, spread_runs


def draw_recall(anchor, runs):
    """Draw the share of true labels found by their number of training positives; None where nothing
    was tested.
    """
    analysed = [run for run in runs if run.analysis.get("bins")]
    if not analysed:
        return None
    k = analysed[0].analysis["k"]
    caption = (
        f"Share of the true labels among the first {k} predictions, by the number of training positives: "
        "how many examples a label needs to be found."
    )
    drawing = draw_figure(
        f"{anchor}.recall", "Recall by training positives", caption, _paint, analysed, k
    )
    return {"runs": analysed, "drawing": drawing}


def describe_range(group):
    """Say a range of numbers: ``1–5``, ``1`` or, without an upper end, ``over 100``."""
    low = group["from"]
    high = group["to"]
    if high is None:
        return f"over {low - 1:,}"
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _paint(axes, runs, k) -> None:
    names = [describe_range(group) for group in runs[0].analysis["bins"]]
    # runs with the same figures stay visible next to one another
    shifts = spread_runs(len(runs), min(0.16, 0.6 / len(runs)))
    for run, shift in zip(runs, shifts, strict=True):
        places = []
        values = []
        for place, group in enumerate(run.analysis["bins"]):
            if group["true"]:
                places.append(place)
                values.append(100 * group["hits"] / group["true"])
        style = {"drawn_at": np.array(places) + shift, "linewidth": 1.3, "markevery": 1}
        draw_line(axes, run, [names[place] for place in places], values, **style)
    axes.set(
        xlabel="training positives of the label",
        ylabel=f"recall@{k} in %",
        xticks=range(len(names)),
    )
    slanted = {"rotation": 32, "ha": "right"} if sum(map(len, names)) > 24 else {}
    axes.set_xticklabels(names, **slanted)
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, 103)
