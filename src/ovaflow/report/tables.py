"""Tables: cells in words with the figures behind them, the best ones marked, and a CSV file."""

import csv
import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from numbers import Number
from operator import attrgetter
from typing import NamedTuple
from urllib.parse import quote

import rich.box
import rich.table
from rich.text import Text

from ovaflow.evaluation.resampling import interval, may_be_chance
from ovaflow.report import wording
from ovaflow.storage.writing import to_csv_cell

MAX_CSV_TEXT = 300  # characters of a text in a CSV file


@dataclass(frozen=True)
class Cell:
    text: str
    value: float | None = None  # the figure behind the text
    best: bool = False
    interval: tuple | None = None  # of the figure, by the bootstrap

    @property
    def spread(self):
        """Half of the interval in percentage points: ``0.9``; empty where there is none."""
        if self.interval is None:
            return ""
        low, high = self.interval
        return wording.percent((high - low) / 2, 1)


class Column(NamedTuple):
    """A column of a table: its heading, and how its cells come from what the rows are about."""

    title: str
    value: Callable  # figure or words for what a row is about
    text: Callable | None = None  # puts the figure into words
    group: str = ""  # adjacent columns of one group share a heading above
    hint: str = ""
    unit: str = ""  # in the CSV file
    samples: Callable = lambda item: (
        None
    )  # the figure on samples of the test instances: where it is best is marked
    bounds: Callable = lambda item: None  # its interval, where such samples are not at hand
    colour: str = ""  # on a terminal, of a text that stays on one line
    smaller_is_better: bool = False

    @property
    def words(self):
        return self.text is None

    @property
    def heading(self):
        unit = self.unit and f"[{self.unit}]"
        return " ".join(filter(None, (self.group, self.title, unit)))


@dataclass(frozen=True)
class Row:
    name: str
    cells: list
    series: int | None = None  # number of the run, for its colour
    hint: str = ""  # in small letters below the name
    kind: str = ""  # "total": a mean or spread of other rows


@dataclass(frozen=True)
class Table:
    """A table; its title names it for screen readers and the CSV file."""

    corner: str  # heading of the rows' names
    columns: list
    rows: list
    title: str

    @property
    def csv(self):
        """Link to the table as a CSV file."""
        return make_csv_link(*self.full_content)

    @property
    def full_content(self):
        """Names of columns and rows of figures in full, with the bounds of intervals, for a CSV
        file.
        """
        columns = [(self.corner, [row.name for row in self.rows])]
        if any(row.hint for row in self.rows):
            columns.append(("of", [row.hint for row in self.rows]))
        for place, column in enumerate(self.columns):
            cells = [row.cells[place] for row in self.rows]
            columns.append((column.heading, map(_figure_of, cells)))
            if any(cell.interval for cell in cells):
                bounds = zip(*(cell.interval or (None, None) for cell in cells), strict=True)
                columns += zip(
                    (f"{column.heading} low", f"{column.heading} high"), bounds, strict=True
                )
        names, values = zip(*columns, strict=True)
        return names, list(zip(*values, strict=True))

    @property
    def terminal(self):
        """The table for a terminal."""
        shown = rich.table.Table(
            box=rich.box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
        )
        rows = [_texts(row) for row in self.rows]
        for place, column in enumerate((Column(self.corner, None), *self.columns)):
            heads = [*filter(None, (column.group, wording.plain(column.title)))]
            widest = max((len(row[place]) for row in rows), default=0)
            # short figures, bars and names stay whole: what is too wide is folded, and nothing cut
            # off
            whole = widest <= 30 if place == 0 else max(map(len, heads), default=0) <= widest <= 12
            looks = {"style": column.colour, "justify": "left" if column.words else "right"}
            shown.add_column(Text("\n".join(heads)), overflow="fold", no_wrap=whole, **looks)
        for row in rows:
            shown.add_row(*map(Text, row))
        return shown

    @property
    def groups(self):
        """Headings that span columns, each with the number of columns; empty when there are none."""
        spans = [
            (name, len(list(columns)))
            for name, columns in groupby(self.columns, key=attrgetter("group"))
        ]
        return spans if any(name for name, _ in spans) else []


def _texts(row):
    figures = (f"{cell.text} ±{cell.spread}" if cell.interval else cell.text for cell in row.cells)
    return [wording.plain(text) for text in (row.name, *figures)]


def _figure_of(cell):
    if cell.text == wording.MISSING:
        return None
    return cell.text if cell.value is None else cell.value


def make_table(title, corner, columns, items, row_of):
    """One row per item; ``row_of`` makes it from the item and its cells."""
    cells = [_cells(column, items) for column in columns]
    rows = []
    for place, item in enumerate(items):
        rows.append(row_of(item, [column[place] for column in cells]))
    return Table(corner, list(columns), rows, title)


def make_runs_table(title, runs, columns):
    return make_table(
        title,
        "run",
        columns,
        runs,
        lambda run, cells: Row(run.name, cells, run.series, run.summary),
    )


def metric_getter(name):
    """Return a function of a run: its metric of this name."""
    return lambda run: run.metrics.get(name)


def samples_getter(name):
    """Return a function of a run: this metric on samples of the test instances."""
    return lambda run: run.samples.get(name)


def make_figures_table(title, corner, figures, runs):
    """Make a table with a row for each of ``figures``, which are columns of runs, and a column for
    each run.
    """
    columns = [Column(run.name, None, str) for run in runs]
    rows = []
    for figure in figures:
        values = [figure.value(run) for run in runs]
        if any(value is not None for value in values):
            cells = [Cell(figure.text(value), value) for value in values]
            rows.append(
                Row(" ".join(filter(None, (figure.group, figure.title))), cells, hint=figure.hint)
            )
    return Table(corner, columns, rows, title)


def _cells(column, items):
    values = [column.value(item) for item in items]
    if column.words:
        return [Cell(value) for value in values]
    sampled = [column.samples(item) for item in items]
    marked = find_surely_best(values, sampled, column.smaller_is_better)
    cells = []
    for place, item in enumerate(items):
        text = column.text(values[place])
        if text == wording.MISSING:
            cells.append(Cell(text))
            continue
        bounds = column.bounds(item) if sampled[place] is None else interval(sampled[place])
        cells.append(Cell(text, values[place], place in marked, interval=bounds))
    return cells


def find_surely_best(values, sampled, smaller_is_better=False):
    """Find the places of the best values, and of those whose difference from it may be chance; none
    where all are.

    ``sampled``: each value on the same samples of the test instances, or None where there are none.
    """
    if smaller_is_better:
        values = [None if value is None else -value for value in values]
        sampled = [None if each is None else -each for each in sampled]
    as_good = find_as_good_as_best(values, sampled)
    known = [place for place, samples in enumerate(sampled) if samples is not None]
    return as_good if len(as_good) < len(known) else []


def find_as_good_as_best(values, sampled):
    """Find the places of the best of the sampled values, and of those whose difference from it may
    be chance.
    """
    known = [place for place, samples in enumerate(sampled) if samples is not None]
    if not known:
        return []
    best = max(known, key=lambda place: values[place])
    return [
        place for place in known if place == best or may_be_chance(sampled[best], sampled[place])
    ]


def make_csv_link(columns, rows):
    """Data URL of a CSV file: percent-encoded, so harmless in an attribute."""
    return "data:text/csv;charset=utf-8," + quote(format_csv(columns, rows), safe=",")


def format_csv(columns, rows):
    """CSV of numbers in full and texts as on the page; formulas get an apostrophe."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    for row in (columns, *rows):
        table.writerow(map(_csv_cell, row))
    return file.getvalue()


def _csv_cell(value):
    if value is None or (isinstance(value, Number) and not math.isfinite(value)):
        return ""
    if isinstance(value, Number):
        return f"{value:.10g}" if value != int(value) else str(int(value))
    return to_csv_cell(wording.plain(str(value), MAX_CSV_TEXT))
