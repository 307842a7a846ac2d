"""Figures of results by training frequency of the labels."""

from functools import partial

import numpy as np

from ovaflow.report import drawing


def draw(anchor, runs, k):
    """Draw recall, and the parts of P@k and PSP@k, by decile, and recall by training positives.

    Parameters
    ----------
    anchor : str
    runs : sequence of Run
        With an analysis.
    k : int

    Returns
    -------
    list of (Drawing, str)
        Figures and their captions.
    """
    deciles = [
        ("recall", f"recall@{k}", "recall by decile", RECALL),
        ("part_of_precision", f"part of P@{k}", f"parts of P@{k} by decile", PARTS.format(metric=f"P@{k}")),
        ("part_of_psp", f"part of PSP@{k}", f"parts of PSP@{k} by decile", PARTS.format(metric=f"PSP@{k}") + PSP),
    ]
    drawn = [
        (
            _draw(
                f"{anchor}.decile-{place}", title.capitalize() if place == 1 else title[0].upper() + title[1:], paint
            ),
            caption,
        )
        for place, (attribute, label, title, caption) in enumerate(deciles, 1)
        for paint in [
            partial(_paint, runs, "deciles", attribute, f"{label} in %", "decile of the labels, rarest first")
        ]
    ]
    by_positives = partial(_paint, runs, "bins", "recall", f"recall@{k} in %", "training positives of the label")
    return [*drawn, (_draw(f"{anchor}.recall", "Recall by training positives", by_positives), POSITIVES)]


RECALL = (
    "Of the true labels of each decile, the share that was predicted. It falls to the left: rare labels are found less."
)
PARTS = "What the hits on labels of each decile add to {metric}; together they are the run’s {metric}."
PSP = " Hits on rare labels count more here."
POSITIVES = "Recall by the number of training positives: how many examples a label needs to be found."


def _draw(name, title, paint):
    return drawing.draw(name, title, paint)


def _paint(runs, groups, attribute, ylabel, xlabel, axes):
    for run, shift in zip(runs, shifts(len(runs)), strict=True):
        values = [getattr(group, attribute) for group in getattr(run.analysis, groups)]
        known = [place for place, value in enumerate(values) if value is not None]
        percent = [100 * values[place] for place in known]
        drawing.line(axes, run, [place + shift for place in known], percent, keep=False, linewidth=1.3, markevery=1)
        axes.keep(run.name, x=[_name(group) for group in _at(run, groups, known)], y=percent)
    titles = [_name(group) for group in getattr(runs[0].analysis, groups)]
    axes.set(xlabel=xlabel, ylabel=ylabel, xticks=range(len(titles)))
    crowded = sum(map(len, titles)) > 24
    axes.set_xticklabels(titles, rotation=32 if crowded else 0, ha="right" if crowded else "center")
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, None if any(line.get_ydata().any() for line in axes.lines if len(line.get_ydata())) else 1)


def _at(run, groups, places):
    return [getattr(run.analysis, groups)[place] for place in places]


def _name(group):
    return group.name or group.range


def shifts(n_runs):
    """Sideways shifts, so that runs with the same figures stay visible beside one another.

    Parameters
    ----------
    n_runs : int

    Returns
    -------
    ndarray of float64, shape (n_runs,)
    """
    step = min(0.16, 0.6 / max(n_runs, 1))
    return step * (np.arange(n_runs) - (n_runs - 1) / 2)
