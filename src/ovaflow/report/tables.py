"""Tables: cells in words with the figures behind them, the best ones marked, and all of it as CSV inside the page."""

import csv
import io
import math
from dataclasses import dataclass, replace
from numbers import Number
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


@dataclass(frozen=True)
class Column:
    """The heading of a column."""

    title: str
    group: str = ""  # neighbours of one group share a heading above
    hint: str = ""
    words: bool = False  # holds words, not numbers
    named: bool = False  # the title is a name that a user chose, of any length
    unit: str = ""  # of the figures in the CSV file


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    name: str
    cells: list
    series: int | None = None  # number of the run, for its colour
    hint: str = ""  # in small letters below the name
    kind: str = ""  # "theirs": measured by others, "total": a sum, "differs": cells that are not all the same


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
        spans = []
        for column in self.columns:
            if spans and column.group and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return spans if any(title for title, _ in spans) else []


def _figure_of(each):
    if each.text == wording.MISSING:
        return None
    return each.text if each.value is None else each.value


def cell(value, words):
    """Cell of a figure; ``words`` turns it into text."""
    text = words(value)
    return Cell(text, None if text == wording.MISSING else value)


def mark_best(cells, lowest=False):
    """Mark the best of some cells, and all that read the same; none where fewer than two differ."""
    known = [each for each in cells if each.value is not None]
    if len({each.text for each in known}) < 2:
        return list(cells)
    winner = (min if lowest else max)(known, key=lambda each: each.value).text
    return [replace(each, best=each.value is not None and each.text == winner) for each in cells]


def mark_columns(rows, lowest=None):
    """Mark the best cell of each column; ``lowest`` says for each whether that is the lowest."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    marked = [mark_best(*each) for each in zip(columns, lowest or [False] * len(columns), strict=True)]
    return [list(row) for row in zip(*marked, strict=True)] if marked else [[] for _ in rows]


def table_of_runs(title, runs, columns, lowest=None):
    """One row per run; ``columns`` are triples of a heading, a function of the run, and words for what it returns.

    The best of each column is marked where ``lowest`` says what is best: the lowest figure, or the highest.
    """
    rows = [[cell(value(run), words) for _, value, words in columns] for run in runs]
    if lowest is not None:
        rows = mark_columns(rows, [lowest] * len(columns))
    return Table("run", [column for column, _, _ in columns], named_rows(runs, rows), title)


def named_rows(runs, rows):
    """Rows with the names and colours of runs."""
    return [Row(run.name, cells, run.series, run.summary) for run, cells in zip(runs, rows, strict=True)]


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
