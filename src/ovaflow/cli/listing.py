"""Rows that a subcommand lists, on the terminal or in a file, and printed tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console
from rich.measure import Measurement

from ovaflow.console.errors import StrPath
from ovaflow.report import wording
from ovaflow.report.tables import Cell, Column, Row, Table, make_table
from ovaflow.storage.tables import StoredColumn, write_table

UNFITTED_TABLE_WIDTH = 1000
"""Characters of a table that is not fitted to the terminal."""


@dataclass(frozen=True)
class Listing:
    """Rows about records, dictionaries by the names of the stored columns."""

    title: str
    stored: Sequence[StoredColumn]  # columns of the file
    shown: Sequence[Column]  # columns of the terminal, after the record
    rows: Sequence[dict[str, Any]]
    name_length: int = 60  # characters of a record's name on the terminal

    def show(self) -> None:
        """Print the rows, and an empty line."""
        print_table(make_table(self.title, "record", self.shown, self.rows, self._make_row))
        click.echo()

    def _make_row(self, row: dict[str, Any], cells: list[Cell]) -> Row:
        return Row(wording.plain(row["record"], self.name_length), cells)

    def write(self, path: StrPath) -> None:
        """Write all rows, as Parquet or CSV by the name."""
        write_table(path, self.stored, self.rows)


def print_table(table: Table, *, whole: bool = False) -> None:
    """Print a table as wide as the terminal, or ``whole``, on lines as long as it needs."""
    console = Console(highlight=False)
    shown = table.terminal
    if whole:
        # the terminal breaks the lines, and no column is left out
        needed = Measurement.get(
            console, console.options.update(max_width=UNFITTED_TABLE_WIDTH), shown
        )
        console.width = max(console.width, needed.maximum)
    console.print(shown)
