"""Tables as the page shows them: formatted cells, best figures marked."""

import re
from dataclasses import dataclass, field, replace

from ovaflow.report import wording

FAMILIES = ("P", "nDCG", "PSP", "recall")
"""Metrics of the main table; the others follow in a second one."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : str
        What is shown.
    value : float, optional
        The figure behind the text.
    best : bool
        Nothing else in the comparison is better.
    """

    text: str
    value: float | None = None
    best: bool = False


@dataclass(frozen=True)
class Column:
    """A column's heading.

    Attributes
    ----------
    title : str
    group : str
        Neighbours of one group share a heading above.
    hint : str
        Explanation.
    words : bool
        Holds words, not numbers.
    named : bool
        The title is a name given by a user, of any length.
    """

    title: str
    group: str = ""
    hint: str = ""
    words: bool = False
    named: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes
    ----------
    name : str
    cells : list of Cell
    series : int, optional
        Number of the run, for its colour.
    hint : str
        Shown small beside the name.
    differs : bool
        Its cells are not all the same, and a reader should see it.
    """

    name: str
    cells: list
    series: int | None = None
    hint: str = ""
    differs: bool = False


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    corner : str
        Heading of the row names.
    columns : list of Column
    rows : list of Row
    """

    corner: str
    columns: list
    rows: list = field(default_factory=list)

    @property
    def groups(self):
        """Headings that span columns: list of (title, number of columns); empty when there are none."""
        spans = []
        for column in self.columns:
            if spans and column.group and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return spans if any(title for title, _ in spans) else []


def mark_best(cells, lowest=False):
    """Mark the best of some cells; what reads the same as the best is as good.

    Parameters
    ----------
    cells : list of Cell
    lowest : bool
        The lowest figure is the best.

    Returns
    -------
    list of Cell
        Unmarked when fewer than two hold a figure, or all read the same.
    """
    known = [cell for cell in cells if cell.value is not None]
    if len(known) < 2 or len({cell.text for cell in known}) == 1:
        return list(cells)
    winner = (min if lowest else max)(known, key=lambda cell: cell.value).text
    return [replace(cell, best=cell.value is not None and cell.text == winner) for cell in cells]


def mark_columns(rows, lowest=()):
    """Mark the best cell of each column.

    Parameters
    ----------
    rows : list of list of Cell
    lowest : sequence of bool, optional
        For each column, whether the lowest figure is the best.

    Returns
    -------
    list of list of Cell
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    lowest = lowest or [False] * len(columns)
    marked = [mark_best(column, low) for column, low in zip(columns, lowest, strict=True)]
    return [list(row) for row in zip(*marked, strict=True)] if marked else [[] for _ in rows]


def figure(value, words):
    """Cell of a figure.

    Parameters
    ----------
    value : float or None
    words : callable
        Turns the figure into text.

    Returns
    -------
    Cell
    """
    text = words(value)
    return Cell(text, None if text == wording.MISSING else value)


def metric_columns(metrics, families):
    """Names of metrics by family and k.

    Parameters
    ----------
    metrics : sequence of dict
        One metrics.json a run.
    families : sequence of str or None
        Which and in this order; None: all that are not in :data:`FAMILIES`.

    Returns
    -------
    list of (str, str, int)
        (name, family, k), such as ``("P@1", "P", 1)``.
    """
    found = {}
    for name in (name for run in metrics for name in run):
        match = re.fullmatch(r"(.+)@(\d+)", name)
        if match:
            found[name] = (name, match[1], int(match[2]))
    order = {family: place for place, family in enumerate(families or [entry[1] for entry in found.values()][::-1])}
    wanted = order if families else order.keys() - set(FAMILIES)
    return sorted((e for e in found.values() if e[1] in wanted), key=lambda e: (order[e[1]], e[1], e[2]))


def metric_table(runs, families=FAMILIES):
    """Metrics of the runs side by side, in percent.

    Parameters
    ----------
    runs : sequence of Run
    families : sequence of str or None
        See :func:`metric_columns`.

    Returns
    -------
    Table
    """
    names = metric_columns([run.metrics for run in runs], families)
    rows = mark_columns([[figure(run.metrics.get(name), wording.percent) for name, _, _ in names] for run in runs])
    return Table("run", [Column(f"@{k}", family) for _, family, k in names], named_rows(runs, rows))


def named_rows(runs, rows):
    """Rows that carry the runs' names and colours.

    Parameters
    ----------
    runs : sequence of Run
    rows : sequence of list of Cell

    Returns
    -------
    list of Row
    """
    return [Row(run.name, cells, run.series, run.summary) for run, cells in zip(runs, rows, strict=True)]


def _milliseconds(seconds):
    return wording.decimal(None if seconds is None else 1000 * seconds)


COSTS = (
    (Column("time", "training", "seconds times threads of the solver"), "train_seconds", wording.duration),
    (Column("ms / label", "training", "per trained label"), "seconds_per_label", _milliseconds),
    (Column("Newton", "steps / label"), "newton_per_label", wording.decimal),
    (Column("CG", "steps / label"), "cg_per_label", wording.decimal),
    (Column("peak memory", "training", "largest resident memory of a shard job"), "peak_rss_bytes", wording.size),
    (Column("weights", "model", "nonzero weights after pruning"), "nonzeros", wording.count),
    (Column("per label", "model", "nonzero weights per trained label"), "nonzeros_per_label", wording.count),
    (Column("size", "model", "bytes of the model file"), "model_bytes", wording.size),
    (Column("time", "prediction", "wall time for the whole test set"), "predict_seconds", wording.duration),
    (Column("ms / instance", "prediction"), "predict_seconds_per_instance", _milliseconds),
)
"""Heading, attribute of a run and wording of each column of :func:`cost_table`; less is better everywhere."""


def cost_table(runs):
    """What each run cost: time, steps, memory, model size.

    Parameters
    ----------
    runs : sequence of Run

    Returns
    -------
    Table
        Without the columns that no run recorded.
    """
    known = [cost for cost in COSTS if any(getattr(run, cost[1]) is not None for run in runs)]
    known.sort(key=lambda cost: ("training", "steps / label", "model", "prediction").index(cost[0].group))
    rows = [[figure(getattr(run, attribute), words) for _, attribute, words in known] for run in runs]
    return Table("run", [column for column, _, _ in known], named_rows(runs, mark_columns(rows, [True] * len(known))))


def group_table(runs, groups):
    """Recall and precision of each run among rare, middling and frequent labels.

    Parameters
    ----------
    runs : sequence of Run
    groups : list of Group
        Those of the dataset; each run's figures are in ``run.groups`` in the same order.

    Returns
    -------
    Table
    """
    columns = [Column("labels"), Column("test labels", hint="true labels of test instances, counted once each")]
    columns += [Column(run.name, f"recall@{run.k}", named=True) for run in runs if run.groups]
    columns += [Column(run.name, f"precision@{run.k}", named=True) for run in runs if run.groups]
    rows = []
    for place, group in enumerate(groups):
        ours = [run.groups[place] for run in runs if run.groups]
        cells = [figure(group.labels, wording.count), figure(group.true, wording.count)]
        cells += mark_best([figure(each.recall, wording.percent) for each in ours])
        cells += mark_best([figure(each.precision, wording.percent) for each in ours])
        rows.append(Row(group.name, cells, hint=f"{group.range} positives"))
    return Table("group", columns, rows)


def published_table(runs, published):
    """Our runs and published results of the same dataset name.

    Parameters
    ----------
    runs : sequence of Run
    published : sequence of Published

    Returns
    -------
    Table
    """
    names = ("P@1", "P@3", "P@5")
    columns = [*(Column(name) for name in names), Column("source", words=True), Column("note", words=True)]
    ours = [[figure(run.metrics.get(name), wording.percent) for name in names] for run in runs]
    theirs = [[figure(entry.metrics.get(name), wording.percent) for name in names] for entry in published]
    marked = mark_columns(ours + theirs)
    rows = [
        Row(run.name, [*cells, Cell("this report"), Cell(run.summary)], run.series)
        for run, cells in zip(runs, marked[: len(runs)], strict=True)
    ]
    rows += [
        Row(entry.method, [*cells, Cell(entry.source), Cell(entry.note)])
        for entry, cells in zip(published, marked[len(runs) :], strict=True)
    ]
    return Table("method", columns, rows)


def status_table(runs):
    """How many labels reached the solver's target in each run.

    Parameters
    ----------
    runs : sequence of Run
        Those with training statistics.

    Returns
    -------
    Table
    """
    columns = [
        Column("reached the target", "labels", "gradient norm at or below the stopping rule's bound"),
        Column("stopped above it", "labels", "the solver gave up before the stopping rule was met"),
        Column("no positives", "labels", "no classifier, never predicted"),
        Column("worst", "|g| / target", "largest ratio over the trained labels"),
        Column("halvings", "line search", "halved steps per label"),
    ]
    rows = []
    for run in runs:
        training = run.training
        counts = (training.reached, training.above, training.untrained)
        cells = [figure(number, wording.count) for number in counts]
        cells += [figure(training.worst_ratio, wording.decimal), figure(training.halvings_per_label, wording.decimal)]
        rows.append(cells)
    return Table("run", columns, named_rows(runs, rows))


def settings_table(runs):
    """Settings of the runs side by side; those that differ are marked.

    Parameters
    ----------
    runs : sequence of Run

    Returns
    -------
    Table
    """
    settings = [dict(run.parameters) for run in runs]
    rows = []
    for name in dict.fromkeys(name for each in settings for name in each):
        values = [each.get(name, wording.MISSING) for each in settings]
        rows.append(Row(name.replace("_", " "), [Cell(value) for value in values], differs=len(set(values)) > 1))
    return Table("setting", [Column(run.name, words=True, named=True) for run in runs], rows)


def resource_table(resources):
    """Resources of each step of the workflow.

    Parameters
    ----------
    resources : sequence of Resource

    Returns
    -------
    Table
    """
    columns = [Column("jobs"), Column("wall time", "sum"), Column("CPU time", "sum"), Column("longest", "one job")]
    columns += [
        Column("peak memory", "one job", "largest resident memory"),
        Column("read", "sum"),
        Column("written", "sum"),
    ]
    rows = [
        Row(
            each.step,
            [
                figure(each.jobs, wording.count),
                figure(each.wall_seconds, wording.duration),
                figure(each.cpu_seconds, wording.duration),
                figure(each.longest_seconds, wording.duration),
                figure(each.max_rss_bytes, wording.size),
                figure(each.read_bytes, wording.size),
                figure(each.written_bytes, wording.size),
            ],
            hint=each.run,
        )
        for each in resources
    ]
    return Table("step", columns, rows)
