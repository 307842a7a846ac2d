"""Tables as the page shows them: formatted cells, best figures marked."""

from dataclasses import dataclass, field, replace

from ovaflow.report import wording
from ovaflow.report.downloads import csv_of, link_to


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
    note : int, optional
        Number of its footnote.
    """

    text: str
    value: float | None = None
    best: bool = False
    note: int | None = None


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
    unit : str
        Of the figures behind the texts, for the CSV file.
    """

    title: str
    group: str = ""
    hint: str = ""
    words: bool = False
    named: bool = False
    unit: str = ""


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
    kind : str
        ``"theirs"`` for what was not measured here, ``"total"`` for a sum.
    """

    name: str
    cells: list
    series: int | None = None
    hint: str = ""
    differs: bool = False
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    corner : str
        Heading of the row names.
    columns : list of Column
    rows : list of Row
    title : str
        What it shows, for those who do not see it, and for the file that it can be saved as.
    """

    corner: str
    columns: list
    rows: list = field(default_factory=list)
    title: str = ""

    @property
    def csv(self):
        """Link to the table as a CSV file, figures in full."""
        headings = [
            " ".join(filter(None, (each.group, each.title, each.unit and f"[{each.unit}]"))) for each in self.columns
        ]
        hinted = any(row.hint for row in self.rows)
        columns = [self.corner, *(["of"] if hinted else []), *headings]
        return link_to(csv_of(columns, [self._line(row, hinted) for row in self.rows]))

    @staticmethod
    def _line(row, hinted):
        cells = [
            None if cell.text == wording.MISSING else cell.text if cell.value is None else cell.value
            for cell in row.cells
        ]
        return [row.name, *([row.hint] if hinted else []), *cells]

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
