"""Tables: cells in words with the figures behind them, the best ones marked, and all of it as CSV inside the page."""

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

from ovaflow.report import wording

LONGEST = 300  # characters of a text in a CSV file
FORMULA = ("=", "+", "-", "@")  # beginnings of a text that spreadsheets take for a formula


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    value: float | None = None  # the figure behind the text
    best: bool = False
    note: int | None = None  # number of its footnote


class Column(NamedTuple):
    """A column of a table: its heading, and how its cells come from what the rows are about."""

    title: str
    value: Callable  # of what a row is about: a figure, or words
    text: Callable | None = None  # puts the figure into words
    group: str = ""  # neighbours of one group share a heading above
    hint: str = ""
    unit: str = ""  # of the figures in the CSV file
    best: Callable | None = None  # max or min, where the best cell is marked

    @property
    def words(self):
        """Whether the column holds words, not numbers."""
        return self.text is None


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    name: str
    cells: list
    series: int | None = None  # number of the run, for its colour
    hint: str = ""  # in small letters below the name
    kind: str = ""  # "theirs": measured by others, "total": a sum


@dataclass(frozen=True)
class Table:
    """A table; its title names it for screen readers and the CSV file."""

    corner: str  # heading of the rows' names
    columns: list
    rows: list
    title: str

    @property
    def csv(self):
        """Link to the table as a CSV file, figures in full."""
        headings = [" ".join(filter(None, (c.group, c.title, c.unit and f"[{c.unit}]"))) for c in self.columns]
        hinted = any(row.hint for row in self.rows)
        lines = [
            [row.name, *([row.hint] if hinted else []), *(_figure_of(each) for each in row.cells)] for row in self.rows
        ]
        return csv_link([self.corner, *(["of"] if hinted else []), *headings], lines)

    @property
    def groups(self):
        """Headings that span columns, each with the number of columns; empty when there are none."""
        spans = [(name, len(list(columns))) for name, columns in groupby(self.columns, key=attrgetter("group"))]
        return spans if any(name for name, _ in spans) else []


def _figure_of(each):
    if each.text == wording.MISSING:
        return None
    return each.text if each.value is None else each.value


def make_table(title, corner, columns, items, row_of):
    """One row per item; ``row_of`` makes it from the item and its cells."""
    made = [_cells(column, items) for column in columns]
    rows = [row_of(item, [cells[place] for cells in made]) for place, item in enumerate(items)]
    return Table(corner, list(columns), rows, title)


def table_of_runs(title, runs, columns):
    """One row per run."""
    return make_table(title, "run", columns, runs, lambda run, cells: Row(run.name, cells, run.series, run.summary))


def metric(name):
    """Function of a run: its metric of this name."""
    return lambda run: run.metrics.get(name)


def _cells(column, items):
    values = [column.value(item) for item in items]
    if column.words:
        return [Cell(value) for value in values]
    texts = [column.text(value) for value in values]
    known = {value: text for value, text in zip(values, texts, strict=True) if text != wording.MISSING}
    # all that read the same are as good; where all do, none is best
    winner = known[column.best(known)] if column.best and len(set(known.values())) > 1 else None
    return [
        Cell(text, None if text == wording.MISSING else value, best=text == winner)
        for value, text in zip(values, texts, strict=True)
    ]


def csv_link(columns, rows):
    """Address that holds a CSV file: percent-encoded, so harmless in an attribute."""
    return "data:text/csv;charset=utf-8," + quote(csv_of(columns, rows), safe=",")


def csv_of(columns, rows):
    """CSV of numbers in full and texts as the page shows them; one that a spreadsheet would run gets an apostrophe."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerows([[_csv_cell(value) for value in row] for row in (columns, *rows)])
    return written.getvalue()


def _csv_cell(value):
    if value is None or (isinstance(value, Number) and not math.isfinite(value)):
        return ""
    if isinstance(value, Number):
        return f"{value:.10g}" if value != int(value) else str(int(value))
    text = wording.plain(str(value), LONGEST)
    return f"'{text}" if text.startswith(FORMULA) else text
