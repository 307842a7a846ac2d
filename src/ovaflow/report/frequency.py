"""The figure of recall by the number of training positives, from analysis.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ovaflow.report.drawing import RecordingAxes, draw_figure, draw_line, spread_runs

if TYPE_CHECKING:
    from ovaflow.results.run import Run

_MAX_LEVEL_LETTERS = 24  # of all labels of the x axis; longer ones are slanted


def draw_recall(anchor: str, runs: Sequence[Run]) -> dict[str, Any] | None:
    """Draw the share of true labels found by their number of training positives.

    None where no run has an analysis.
    """
    analysed = [run for run in runs if run.analysis.get("bins")]
    if not analysed:
        return None
    # runs may predict fewer than five labels
    cutoffs = sorted({run.analysis["k"] for run in analysed})
    k = " or ".join(str(cutoff) for cutoff in cutoffs)
    title = "Recall by training positives"
    caption = (
        f"Share of the true labels among the first {k} predictions, by the number of training "
        "positives: how many examples a label needs to be found."
    )
    drawing = draw_figure(f"{anchor}.recall", title, caption, _paint, analysed, k)
    return {"runs": analysed, "drawing": drawing}


def describe_range(group: dict[str, Any]) -> str:
    """Describe a range of numbers: ``1–5``, ``1`` or, without an upper end, ``over 100``."""
    low = group["from"]
    high = group["to"]
    if high is None:
        return f"over {low - 1:,}"
    if low == high:
        return f"{low:,}"
    return f"{low:,}–{high:,}"


def _paint(axes: RecordingAxes, runs: Sequence[Run], k: str) -> None:
    names = [describe_range(group) for group in runs[0].analysis["bins"]]
    # runs with the same values stay visible next to one another
    shifts = spread_runs(len(runs), min(0.16, 0.6 / len(runs)))
    for run, shift in zip(runs, shifts, strict=True):
        positions = []
        values = []
        for position, group in enumerate(run.analysis["bins"]):
            if group["true"]:
                positions.append(position)
                values.append(100 * group["hits"] / group["true"])
        x = [names[position] for position in positions]
        drawn_at = np.array(positions) + shift
        draw_line(axes, run, x, values, drawn_at=drawn_at, linewidth=1.3, markevery=1)
    axes.set(
        xlabel="training positives of the label",
        ylabel=f"recall@{k} in %",
        xticks=range(len(names)),
    )
    slanted: dict[str, Any] = {}
    if sum(len(name) for name in names) > _MAX_LEVEL_LETTERS:
        slanted = {"rotation": 32, "ha": "right"}
    axes.set_xticklabels(names, **slanted)
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, 103)
