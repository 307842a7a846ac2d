"""Tables: cells in words with the numbers behind them, the best ones marked, and a CSV file."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from numbers import Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import numpy as np
import rich.box
import rich.table
from rich.text import Text

from ovaflow.evaluation.resampling import interval, may_be_chance
from ovaflow.report import wording
from ovaflow.storage.writing import to_csv_cell

if TYPE_CHECKING:
    from ovaflow.results.run import Run

MAX_CSV_TEXT = 300  # characters of a text in a CSV file

# widths in characters up to which a column of a terminal is not broken into lines
_MAX_UNBROKEN_NAME = 30
_MAX_UNBROKEN_FIGURE = 12


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    value: Any = None  # the number behind the text
    best: bool = False
    interval: tuple[float, float] | None = None  # of the number, by the bootstrap


def _no_value(item: Any) -> None:
    """Return None: a column has no samples, or no bounds, of an item."""


class Column(NamedTuple):
    """A column of a table: its heading, and the functions that make its cells.

    The functions ``value``, ``samples`` and ``bounds`` take an item, which has a row of the table.
    """

    title: str
    value: Callable[[Any], Any] = _no_value  # number or words of an item
    text: Callable[[Any], str] | None = None  # formats the number; None: the values are words
    group: str = ""  # adjacent columns of one group share a heading above theirs
    hint: str = ""
    unit: str = ""  # in the CSV file
    # the number on samples of the test instances; with these, the best numbers are marked
    samples: Callable[[Any], np.ndarray | None] = _no_value
    # interval of the number, where its samples were not kept
    bounds: Callable[[Any], tuple[float, float] | None] = _no_value
    colour: str = ""  # on a terminal
    smaller_is_better: bool = False
    spread: Callable[[float], str] = wording.short_percent  # formats half of an interval

    @property
    def words(self) -> bool:
        """True where the values are words instead of numbers."""
        return self.text is None

    def format(self, value: Any) -> str:
        """Format a number, or return words."""
        if self.text is None:
            return value
        return self.text(value)

    def format_spread(self, bounds: tuple[float, float]) -> str:
        """Format half of an interval, in the unit of the numbers."""
        low, high = bounds
        return self.spread((high - low) / 2)

    @property
    def heading(self) -> str:
        """Group, title and unit."""
        parts = [self.group, self.title]
        if self.unit:
            parts.append(f"[{self.unit}]")
        return " ".join(part for part in parts if part)


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    name: str
    cells: Sequence[Cell]
    series: int | None = None  # number of the run, for its colour
    hint: str = ""  # in small letters below the name
    kind: str = ""  # "total": a mean or spread of other rows


@dataclass(frozen=True)
class Table:
    """A table; screen readers and the CSV file name it by its title."""

    corner: str  # heading of the rows' names
    columns: list[Column]
    rows: list[Row]
    title: str

    @property
    def csv(self) -> str:
        """Link to the table as a CSV file."""
        names, rows = self.full_content
        return make_csv_link(names, rows)

    @property
    def full_content(self) -> tuple[list[str], list[tuple]]:
        """Names of columns, and rows of unrounded numbers with the bounds of their intervals."""
        headings = []
        columns = []

        def add(heading: str, values: list) -> None:
            headings.append(heading)
            columns.append(values)

        add(self.corner, [row.name for row in self.rows])
        if any(row.hint for row in self.rows):
            add("of", [row.hint for row in self.rows])
        for number, column in enumerate(self.columns):
            cells = [row.cells[number] for row in self.rows]
            add(column.heading, [_get_full_value(cell) for cell in cells])
            if any(cell.interval for cell in cells):
                bounds = [cell.interval or (None, None) for cell in cells]
                add(f"{column.heading} low", [low for low, _ in bounds])
                add(f"{column.heading} high", [high for _, high in bounds])
        return headings, list(zip(*columns, strict=True))

    @property
    def terminal(self) -> rich.table.Table:
        """The table for a terminal.

        Short names and numbers stay on one line; what is too wide is broken into lines, never cut.
        """
        shown = rich.table.Table(
            box=rich.box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
        )
        rows = [self._format_for_terminal(row) for row in self.rows]
        columns = [Column(self.corner), *self.columns]
        for number, column in enumerate(columns):
            widest = max((len(row[number]) for row in rows), default=0)
            lines = [column.group] if column.group else []
            title = wording.plain(column.title)
            if title:
                lines.append(title)
            if number == 0:
                unbroken = widest <= _MAX_UNBROKEN_NAME
            else:
                longest_line = max((len(line) for line in lines), default=0)
                unbroken = longest_line <= widest <= _MAX_UNBROKEN_FIGURE
            shown.add_column(
                Text("\n".join(lines)),
                overflow="fold",
                no_wrap=unbroken,
                style=column.colour,
                justify="left" if column.words else "right",
            )
        for row in rows:
            shown.add_row(*[Text(text) for text in row])
        return shown

    def _format_for_terminal(self, row: Row) -> list[str]:
        texts = [wording.plain(row.name)]
        for column, cell in zip(self.columns, row.cells, strict=True):
            text = cell.text
            if cell.interval:
                text = f"{text} ±{column.format_spread(cell.interval)}"
            texts.append(wording.plain(text))
        return texts

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings above columns, with the numbers of their columns; empty without any heading."""
        spans = []
        for name, columns in groupby(self.columns, key=attrgetter("group")):
            spans.append((name, len(list(columns))))
        if any(name for name, _ in spans):
            return spans
        return []


def _get_full_value(cell: Cell) -> Any:
    if cell.text == wording.MISSING:
        return None
    if cell.value is None:
        return cell.text
    return cell.value


def make_table(
    title: str,
    corner: str,
    columns: Sequence[Column],
    items: Sequence[Any],
    make_row: Callable[[Any, list[Cell]], Row],
) -> Table:
    """Make a table with a row for each item.

    Parameters
    ----------
    title : str
        Name of the table.
    corner : str
        Heading of the rows' names.
    columns : sequence of Column
        The columns.
    items : sequence
        Runs, labels or others, of which the columns take their values.
    make_row : callable
        Makes the row of an item from the item and its cells.
    """
    cells_by_column = [_make_cells(column, items) for column in columns]
    rows = []
    for number, item in enumerate(items):
        rows.append(make_row(item, [cells[number] for cells in cells_by_column]))
    return Table(corner, list(columns), rows, title)


def make_runs_table(title: str, runs: Sequence[Run], columns: Sequence[Column]) -> Table:
    """Make a table with a row for each run."""
    return make_table(title, "run", columns, runs, _make_row_of_run)


def _make_row_of_run(run: Run, cells: list[Cell]) -> Row:
    return Row(run.name, cells, run.series, run.summary)


def metric_getter(name: str) -> Callable[[Run], Any]:
    """Return a function of a run: its metric of this name."""
    return lambda run: run.metrics.get(name)


def samples_getter(name: str) -> Callable[[Run], np.ndarray | None]:
    """Return a function of a run: its metric of this name on samples of the test instances."""
    return lambda run: run.samples.get(name)


def make_table_by_run(
    title: str, corner: str, measures: Sequence[Column], runs: Sequence[Run]
) -> Table:
    """Make a table with a column for each run, and a row for each measure that some run has."""
    columns = [Column(run.name, text=str) for run in runs]
    rows = []
    for measure in measures:
        values = [measure.value(run) for run in runs]
        if any(value is not None for value in values):
            name = f"{measure.group} {measure.title}" if measure.group else measure.title
            cells = [Cell(measure.format(value), value) for value in values]
            rows.append(Row(name, cells, hint=measure.hint))
    return Table(corner, columns, rows, title)


def _make_cells(column: Column, items: Sequence[Any]) -> list[Cell]:
    values = [column.value(item) for item in items]
    if column.words:
        return [Cell(value) for value in values]
    sampled = [column.samples(item) for item in items]
    marked = find_surely_best(values, sampled, smaller_is_better=column.smaller_is_better)
    cells = []
    for number, item in enumerate(items):
        text = column.format(values[number])
        if text == wording.MISSING:
            cells.append(Cell(text))
            continue
        bounds = column.bounds(item)
        samples = sampled[number]
        if samples is not None:
            bounds = interval(samples)
        cells.append(Cell(text, values[number], best=number in marked, interval=bounds))
    return cells


def find_surely_best(
    values: Sequence[Any],
    sampled: Sequence[np.ndarray | None],
    *,
    smaller_is_better: bool = False,
) -> list[int]:
    """Find the best value, and those whose difference from the best may be chance.

    Parameters
    ----------
    values : sequence of float or None
        A number of each run; None where it is missing.
    sampled : sequence of ndarray or None
        Each number on the same samples of the test instances; None without samples.
    smaller_is_better : bool
        True for numbers such as a loss.

    Returns
    -------
    list of int
        Their indices; empty where the differences of all may be chance.
    """
    if smaller_is_better:
        values = [None if value is None else -value for value in values]
        sampled = [None if samples is None else -samples for samples in sampled]
    as_good = find_as_good_as_best(values, sampled)
    n_sampled = sum(samples is not None for samples in sampled)
    if len(as_good) < n_sampled:
        return as_good
    return []


def find_as_good_as_best(values: Sequence[Any], sampled: Sequence[np.ndarray | None]) -> list[int]:
    """Find the indices of the largest value, and of those whose difference from it may be chance.

    Parameters are those of :func:`find_surely_best`; values without samples do not count.
    """
    with_samples = {}
    for index, samples in enumerate(sampled):
        if samples is not None:
            with_samples[index] = samples
    if not with_samples:
        return []
    best = max(with_samples, key=lambda index: values[index])
    as_good = []
    for index, samples in with_samples.items():
        if index == best or may_be_chance(with_samples[best], samples):
            as_good.append(index)
    return as_good


def make_csv_link(columns: Sequence[str], rows: Iterable[Sequence]) -> str:
    """Make a data URL of a CSV file: percent-encoded, so harmless in an attribute of HTML."""
    return "data:text/csv;charset=utf-8," + quote(format_csv(columns, rows), safe=",")


def format_csv(columns: Sequence[str], rows: Iterable[Sequence]) -> str:
    """Format a CSV file with unrounded numbers, and texts as on the page.

    Texts that a spreadsheet would read as formulas get an apostrophe.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    for row in (columns, *rows):
        writer.writerow([_format_csv_cell(value) for value in row])
    return file.getvalue()


def _format_csv_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Real):
        if not math.isfinite(value):
            return ""
        if value == math.trunc(value):
            return str(math.trunc(value))
        return f"{value:.10g}"
    return to_csv_cell(wording.plain(str(value), MAX_CSV_TEXT))
