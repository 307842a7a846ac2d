"""The section on rare and frequent labels: which are found and which missed, from analysis.json."""

from functools import partial
from operator import itemgetter

import numpy as np

from ovaflow.report import wording
from ovaflow.report.drawing import draw, line, side_by_side
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_table, table_of_runs


def range_words(group):
    """``1–5``, ``1`` or, without an upper end, ``over 100``."""
    low, high = group["from"], group["to"]
    if high is None:
        return f"over {low - 1:,}"
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _hits_of(name):
    return lambda group: group["hits"] / group[name] if group[name] else None


MEASURES = {
    "recall@{k}": _hits_of("true"),
    "precision@{k}": _hits_of("predicted"),
    "part of P@{k}": itemgetter("precision"),
    "part of PSP@{k}": itemgetter("psp"),
}
"""Figures of a group of labels, by heading."""


_PARTS = "What hits on labels of each decile contribute to {metric}; together they make up the run’s {metric}."
_XLABELS = {"deciles": "decile of the labels, rarest first", "bins": "training positives of the label"}
# key, title, caption, groups and heading of the measure
FIGURES = (
    (
        "decile-1",
        "Recall by decile",
        "Share of the true labels of each decile that was predicted. It falls to the left: rare labels are found less "
        "often.",
        "deciles",
        "recall@{k}",
    ),
    ("decile-2", "Parts of P@{k} by decile", _PARTS.format(metric="P@{k}"), "deciles", "part of P@{k}"),
    (
        "decile-3",
        "Parts of PSP@{k} by decile",
        _PARTS.format(metric="PSP@{k}") + " Hits on rare labels count more here.",
        "deciles",
        "part of PSP@{k}",
    ),
    (
        "recall",
        "Recall by training positives",
        "Recall by the number of training positives: how many examples a label needs to be found.",
        "bins",
        "recall@{k}",
    ),
)


def show(anchor, results):
    runs = [run for run in results.runs if run.analysis and run.analysis["groups"]]
    if not runs:
        return None
    analysis = runs[0].analysis
    k, shown = analysis["k"], [run for run in runs if run.series is not None]
    deciles = []
    for heading, measure in MEASURES.items():
        deciles.append(results_table(f"{heading.format(k=k)} by decile", runs, "deciles", {heading: measure}))
    return {
        "runs": shown,
        "k": k,
        "sizes": sizes_table(analysis["groups"], "group"),
        "groups": results_table("Head, torso and tail", runs, "groups", MEASURES),
        "decile_sizes": sizes_table(analysis["deciles"], "decile"),
        "deciles": deciles,
        "figures": [_draw(anchor, figure, shown, k) for figure in FIGURES] if shown else [],
    }


def sizes_table(groups, corner):
    tests, one_digit = "true in the test set", partial(wording.percent, digits=1)

    def share_of(name):
        total = sum(group[name] for group in groups)
        return lambda group: group[name] / total if total else None

    columns = [
        Column("training positives", range_words),
        Column("number", itemgetter("labels"), wording.count, "labels"),
        Column("share, %", share_of("labels"), one_digit, "labels", unit="fraction"),
        Column("number", itemgetter("true"), wording.count, tests, "pairs of a test instance and a label"),
        Column("share, %", share_of("true"), one_digit, tests, unit="fraction"),
    ]
    return make_table(f"Labels by {corner}", corner, columns, groups, lambda group, cells: Row(group["name"], cells))


def results_table(title, runs, name, measures):
    """Results of each run in the groups of its analysis with this name."""
    analysis = runs[0].analysis
    columns = []
    for heading, measure in measures.items():
        heading = heading.format(k=analysis["k"])
        for place, group in enumerate(analysis[name]):
            value, hint = _value_in(name, place, measure), f"{range_words(group)} training positives"
            columns.append(Column(group["name"], value, wording.percent, heading, hint, "fraction"))
    return table_of_runs(title, runs, columns)


def _value_in(name, place, measure):
    return lambda run: measure(run.analysis[name][place])


def _draw(anchor, figure, runs, k):
    key, title, caption, groups, heading = figure
    title, caption = title.format(k=k), caption.format(k=k)
    return draw(f"{anchor}.{key}", title, caption, _paint, runs, groups, heading, k)


def _paint(axes, runs, groups, heading, k):
    names = [group.get("name") or range_words(group) for group in runs[0].analysis[groups]]
    # runs with the same figures stay visible next to one another
    shifts = side_by_side(len(runs), min(0.16, 0.6 / len(runs)))
    for run, shift in zip(runs, shifts, strict=True):
        values = [MEASURES[heading](group) for group in run.analysis[groups]]
        places = [place for place, value in enumerate(values) if value is not None]
        drawn = {"drawn_at": np.array(places) + shift, "linewidth": 1.3, "markevery": 1}
        line(axes, run, [names[place] for place in places], [100 * values[place] for place in places], **drawn)
    ylabel = f"{heading.format(k=k)} in %"
    axes.set(xlabel=_XLABELS[groups], ylabel=ylabel, xticks=range(len(names)))
    if sum(map(len, names)) > 24:
        axes.set_xticklabels(names, rotation=32, ha="right")
    else:
        axes.set_xticklabels(names)
    axes.grid(axis="x", visible=False)
    highest = max((line.get_ydata().max(initial=0) for line in axes.lines), default=0)
    axes.set_ylim(0, None if highest else 1)


SECTION = ReportSection("frequency", "Rare and frequent labels", show)
