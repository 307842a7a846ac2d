"""The section on rare and frequent labels: who is found, who is missed."""

from dataclasses import dataclass

from ovaflow.report import frequency_figures, wording
from ovaflow.report.tables import Column, Row, Table, figure, mark_columns, named_rows


@dataclass(frozen=True)
class Measure:
    """What is told of a group of labels.

    Attributes
    ----------
    name : str
        With ``{k}``.
    attribute : str
        Of a :class:`ovaflow.report.analysis.Group`.
    hint : str
    """

    name: str
    attribute: str
    hint: str


MEASURES = (
    Measure("recall@{k}", "recall", "of the group’s true labels, the share that was predicted"),
    Measure("precision@{k}", "precision", "of the group’s labels that were predicted, the share that is true"),
    Measure("part of P@{k}", "part_of_precision", "what the group’s hits add to P@k"),
    Measure("part of PSP@{k}", "part_of_psp", "what the group’s hits add to PSP@k"),
)


def show(anchor, section):
    """Tables and figures of the section.

    Parameters
    ----------
    anchor : str
        Of the dataset, for names that are unique on the page.
    section : Section

    Returns
    -------
    dict or None
        None leaves the section out.
    """
    runs = [run for run in section.runs if run.analysis is not None and run.analysis.groups]
    if not runs:
        return None
    shown, k = [run for run in runs if run.series is not None], runs[0].analysis.k
    return {
        "runs": shown,
        "k": k,
        "sizes": sizes_table(runs[0].analysis.groups),
        "groups": results_table(runs, "groups", MEASURES),
        "decile_sizes": sizes_table(runs[0].analysis.deciles, "decile"),
        "deciles": [results_table(runs, "deciles", [measure]) for measure in MEASURES],
        "figures": frequency_figures.draw(anchor, shown, k) if shown else [],
    }


def sizes_table(groups, corner="group"):
    """How many labels each group has, and how often they occur.

    Parameters
    ----------
    groups : list of Group
    corner : str

    Returns
    -------
    Table
    """
    columns = [
        Column("training positives", words=True),
        Column("number", "labels"),
        Column("share, %", "labels", unit="fraction"),
        Column("number", "true in the test set", "labels of test instances, counted once each"),
        Column("share, %", "true in the test set", unit="fraction"),
    ]
    labels, true = (sum(getattr(group, name) for group in groups) for name in ("labels", "true"))
    rows = [
        Row(
            group.name,
            [
                figure_of_words(group.range),
                figure(group.labels, wording.count),
                figure(group.labels / labels if labels else None, lambda share: wording.percent(share, 1)),
                figure(group.true, wording.count),
                figure(group.true / true if true else None, lambda share: wording.percent(share, 1)),
            ],
        )
        for group in groups
    ]
    return Table(corner, columns, rows, f"Labels by {corner}")


def figure_of_words(text):
    """Cell that sorts by the first number in it, not by its letters.

    Parameters
    ----------
    text : str

    Returns
    -------
    Cell
    """
    first = "".join(letter for letter in text.replace(",", "").split("–")[0] if letter.isdigit())
    cell = figure(int(first) if first else None, wording.count)
    return type(cell)(text, cell.value)


def results_table(runs, name, measures):
    """Results of the runs in each group, runs below one another.

    Parameters
    ----------
    runs : sequence of Run
        With an analysis.
    name : str
        ``"groups"`` or ``"deciles"``.
    measures : sequence of Measure

    Returns
    -------
    Table
    """
    groups, k = getattr(runs[0].analysis, name), runs[0].analysis.k
    columns = [
        Column(group.name, measure.name.format(k=k), f"{group.range} training positives", unit="fraction")
        for measure in measures
        for group in groups
    ]
    rows = [
        [
            figure(getattr(group, measure.attribute), wording.percent)
            for measure in measures
            for group in getattr(run.analysis, name)
        ]
        for run in runs
    ]
    title = f"{measures[0].name.format(k=k)} by decile" if name == "deciles" else "Head, torso and tail"
    return Table("run", columns, named_rows(runs, mark_columns(rows)), title)
