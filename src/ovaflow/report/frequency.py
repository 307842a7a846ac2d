"""The section on rare and frequent labels: which are found and which are missed, from analysis.json."""

from dataclasses import dataclass
from functools import partial

from ovaflow.report import wording
from ovaflow.report.drawing import draw, line, side_by_side
from ovaflow.report.tables import Cell, Column, Row, Table, cell, mark_columns, named_rows
from ovaflow.storage.texts import read_json


@dataclass(frozen=True)
class Group:
    """Labels with similar numbers of training positives."""

    name: str
    range: str  # numbers of training positives, in words
    fewest: int
    labels: int
    true: int  # (instance, label) pairs of the test set
    recall: float | None  # share of the true pairs that were predicted
    precision: float | None  # share of the predicted pairs that are true
    part_of_precision: float  # what the group's hits add to P@k
    part_of_psp: float  # and to PSP@k


@dataclass(frozen=True)
class Analysis:
    """Where a run is good and where it fails, of its best k predictions."""

    k: int
    groups: list  # head, torso and tail
    deciles: list  # of the labels by frequency
    bins: list  # finer
    wrong: list  # see ovaflow.evaluation.analysis
    missed: list
    confused: list


def read_analysis(path, model):
    """Read a run's analysis, None where there is none of the model with this checksum."""
    found = read_json(path, "analysis") if path.exists() else {}
    if found.get("model") != model:
        return None
    groups = [[_group(row) for row in found[name]] for name in ("groups", "deciles", "bins")]
    return Analysis(found["k"], *groups, found["wrong"], found["missed"], found["confused"])


def _group(row):
    return Group(
        row.get("name", ""),
        range_words(row["from"], row["to"]),
        row["from"],
        row["labels"],
        row["true"],
        row["hits"] / row["true"] if row["true"] else None,
        row["hits"] / row["predicted"] if row["predicted"] else None,
        row["precision"],
        row["psp"],
    )


def range_words(low, high):
    """``1–5``, ``1`` or, without an upper end, ``over 100``."""
    if high is None:
        return f"over {low - 1:,}"
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


MEASURES = (
    ("recall@{k}", "recall"),
    ("precision@{k}", "precision"),
    ("part of P@{k}", "part_of_precision"),
    ("part of PSP@{k}", "part_of_psp"),
)
"""What is said of a group of labels, and where it is kept."""

_PARTS = "What the hits on labels of each decile add to {metric}; together they are the run’s {metric}."
_DECILE = "decile of the labels, rarest first"
FIGURES = (
    (
        "decile-1",
        "Recall by decile",
        "Of the true labels of each decile, the share that was predicted. It falls to the left: rare labels are found "
        "less often.",
        ("deciles", "recall", "recall@{k} in %", _DECILE),
    ),
    (
        "decile-2",
        "Parts of P@{k} by decile",
        _PARTS.format(metric="P@{k}"),
        ("deciles", "part_of_precision", "part of P@{k} in %", _DECILE),
    ),
    (
        "decile-3",
        "Parts of PSP@{k} by decile",
        _PARTS.format(metric="PSP@{k}") + " Hits on rare labels count more here.",
        ("deciles", "part_of_psp", "part of PSP@{k} in %", _DECILE),
    ),
    (
        "recall",
        "Recall by training positives",
        "Recall by the number of training positives: how many examples a label needs to be found.",
        ("bins", "recall", "recall@{k} in %", "training positives of the label"),
    ),
)
"""Key, title, caption, and what is drawn of which groups: attribute and axes."""


def show(anchor, results):
    """Tables of the groups and deciles, and figures by decile and by training positives."""
    runs = [run for run in results.runs if run.analysis and run.analysis.groups]
    if not runs:
        return None
    shown, analysis = [run for run in runs if run.series is not None], runs[0].analysis
    figures = [
        draw(
            f"{anchor}.{key}",
            title.format(k=analysis.k),
            caption.format(k=analysis.k),
            partial(_paint, shown, *(word.format(k=analysis.k) for word in drawn)),
        )
        for key, title, caption, drawn in FIGURES
        if shown
    ]
    return {
        "runs": shown,
        "k": analysis.k,
        "sizes": sizes_table(analysis.groups, "group"),
        "groups": results_table("Head, torso and tail", runs, "groups", MEASURES),
        "decile_sizes": sizes_table(analysis.deciles, "decile"),
        "deciles": [
            results_table(f"{each[0].format(k=analysis.k)} by decile", runs, "deciles", [each]) for each in MEASURES
        ],
        "figures": figures,
    }


def sizes_table(groups, corner):
    """How many labels each group has, and how often they occur."""
    columns = [
        Column("training positives", words=True),
        Column("number", "labels"),
        Column("share, %", "labels", unit="fraction"),
        Column("number", "true in the test set", "labels of test instances, counted once each"),
        Column("share, %", "true in the test set", unit="fraction"),
    ]
    totals = {name: sum(getattr(group, name) for group in groups) for name in ("labels", "true")}
    rows = []
    for group in groups:
        cells = [Cell(group.range, group.fewest)]
        for name, total in totals.items():
            number = getattr(group, name)
            cells.append(cell(number, wording.count))
            cells.append(cell(number / total if total else None, partial(wording.percent, digits=1)))
        rows.append(Row(group.name, cells))
    return Table(corner, columns, rows, f"Labels by {corner}")


def results_table(title, runs, name, measures):
    """Results of the runs in each of the groups of a name, runs below one another."""
    columns = [
        Column(group.name, heading.format(k=runs[0].analysis.k), f"{group.range} training positives", unit="fraction")
        for heading, _ in measures
        for group in getattr(runs[0].analysis, name)
    ]
    rows = [
        [
            cell(getattr(group, attribute), wording.percent)
            for _, attribute in measures
            for group in getattr(run.analysis, name)
        ]
        for run in runs
    ]
    return Table("run", columns, named_rows(runs, mark_columns(rows)), title)


def _paint(runs, name, attribute, ylabel, xlabel, axes):
    titles = [group.name or group.range for group in getattr(runs[0].analysis, name)]
    # runs with the same figures stay visible next to one another
    shifts = side_by_side(len(runs), min(0.16, 0.6 / len(runs)))
    for run, shift in zip(runs, shifts, strict=True):
        values = [getattr(group, attribute) for group in getattr(run.analysis, name)]
        known = [place for place, value in enumerate(values) if value is not None]
        percent = [100 * values[place] for place in known]
        line(axes, run, [place + shift for place in known], percent, keep=False, linewidth=1.3, markevery=1)
        axes.keep(run.name, x=[titles[place] for place in known], y=percent)
    axes.set(xlabel=xlabel, ylabel=ylabel, xticks=range(len(titles)))
    crowded = sum(map(len, titles)) > 24
    axes.set_xticklabels(titles, rotation=32 if crowded else 0, ha="right" if crowded else "center")
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, None if any(line.get_ydata().any() for line in axes.lines if len(line.get_ydata())) else 1)
