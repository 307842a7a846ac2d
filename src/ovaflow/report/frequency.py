"""The section on rare and frequent labels: which are found and which are missed, from analysis.json."""

from functools import partial
from operator import itemgetter

from ovaflow.report import wording
from ovaflow.report.drawing import draw, line, side_by_side
from ovaflow.report.tables import Column, Row, make_table, table_of_runs


def range_words(group):
    """``1–5``, ``1`` or, without an upper end, ``over 100``."""
    low, high = group["from"], group["to"]
    if high is None:
        return f"over {low - 1:,}"
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _recall(group):
    return group["hits"] / group["true"] if group["true"] else None


def _precision(group):
    return group["hits"] / group["predicted"] if group["predicted"] else None


_part, _psp_part = itemgetter("precision"), itemgetter("psp")

MEASURES = {
    "recall@{k}": _recall,
    "precision@{k}": _precision,
    "part of P@{k}": _part,
    "part of PSP@{k}": _psp_part,
}
"""What is said of a group of labels."""

_PARTS = "What hits on labels of each decile contribute to {metric}; together they make up the run’s {metric}."
_DECILE = "decile of the labels, rarest first"
FIGURES = (
    (
        "decile-1",
        "Recall by decile",
        "Of the true labels of each decile, the share that was predicted. It falls to the left: rare labels are found "
        "less often.",
        ("deciles", _recall, "recall@{k} in %", _DECILE),
    ),
    (
        "decile-2",
        "Parts of P@{k} by decile",
        _PARTS.format(metric="P@{k}"),
        ("deciles", _part, "part of P@{k} in %", _DECILE),
    ),
    (
        "decile-3",
        "Parts of PSP@{k} by decile",
        _PARTS.format(metric="PSP@{k}") + " Hits on rare labels count more here.",
        ("deciles", _psp_part, "part of PSP@{k} in %", _DECILE),
    ),
    (
        "recall",
        "Recall by training positives",
        "Recall by the number of training positives: how many examples a label needs to be found.",
        ("bins", _recall, "recall@{k} in %", "training positives of the label"),
    ),
)
"""Key, title, caption, and what is drawn of which groups, with the names of the axes."""


def show(anchor, results):
    """Tables of the groups and deciles, and figures by decile and by training positives."""
    runs = [run for run in results.runs if run.analysis and run.analysis["groups"]]
    if not runs:
        return None
    shown, analysis = [run for run in runs if run.series is not None], runs[0].analysis
    k = analysis["k"]
    figures = [
        draw(f"{anchor}.{key}", title.format(k=k), caption.format(k=k), partial(_paint, shown, k, *drawn))
        for key, title, caption, drawn in FIGURES
        if shown
    ]
    return {
        "runs": shown,
        "k": k,
        "sizes": sizes_table(analysis["groups"], "group"),
        "groups": results_table("Head, torso and tail", runs, "groups", MEASURES),
        "decile_sizes": sizes_table(analysis["deciles"], "decile"),
        "deciles": [
            results_table(f"{heading.format(k=k)} by decile", runs, "deciles", {heading: measure})
            for heading, measure in MEASURES.items()
        ],
        "figures": figures,
    }


def sizes_table(groups, corner):
    """How many labels each group has, and how often they occur."""
    labels, true = (sum(group[name] for group in groups) for name in ("labels", "true"))
    tested, one_digit = "true in the test set", partial(wording.percent, digits=1)
    columns = [
        Column("training positives", range_words),
        Column("number", itemgetter("labels"), wording.count, "labels"),
        Column("share, %", lambda group: group["labels"] / labels, one_digit, "labels", unit="fraction"),
        Column("number", itemgetter("true"), wording.count, tested, "labels of test instances, counted once each"),
        Column("share, %", lambda group: group["true"] / true if true else None, one_digit, tested, unit="fraction"),
    ]
    return make_table(f"Labels by {corner}", corner, columns, groups, lambda group, cells: Row(group["name"], cells))


def results_table(title, runs, name, measures):
    """Results of the runs in each of the groups of a name, runs below one another."""
    first = runs[0].analysis

    def column(heading, measure, place, group):
        return Column(
            group["name"],
            lambda run: measure(run.analysis[name][place]),
            wording.percent,
            heading.format(k=first["k"]),
            f"{range_words(group)} training positives",
            "fraction",
            max,
        )

    columns = [
        column(*measure, place, group) for measure in measures.items() for place, group in enumerate(first[name])
    ]
    return table_of_runs(title, runs, columns)


def _paint(runs, k, name, measure, ylabel, xlabel, axes):
    titles = [group.get("name") or range_words(group) for group in runs[0].analysis[name]]
    # runs with the same figures stay visible next to one another
    shifts = side_by_side(len(runs), min(0.16, 0.6 / len(runs)))
    for run, shift in zip(runs, shifts, strict=True):
        values = [measure(group) for group in run.analysis[name]]
        known = [place for place, value in enumerate(values) if value is not None]
        percent = [100 * values[place] for place in known]
        line(axes, run, [place + shift for place in known], percent, keep=False, linewidth=1.3, markevery=1)
        axes.keep(run.name, x=[titles[place] for place in known], y=percent)
    axes.set(xlabel=xlabel, ylabel=ylabel.format(k=k), xticks=range(len(titles)))
    crowded = sum(map(len, titles)) > 24
    axes.set_xticklabels(titles, rotation=32 if crowded else 0, ha="right" if crowded else "center")
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, None if any(line.get_ydata().any() for line in axes.lines if len(line.get_ydata())) else 1)
