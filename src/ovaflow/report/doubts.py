"""The section Training labels to check, from doubts.csv."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Cell, Column, Row, make_table
from ovaflow.reranking.evidence.similar_texts import N_NEAREST

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run

MAX_SHOWN_ROWS = 10
"""Rows of doubts.csv on the page."""

MAX_RECORD_NAME_CHARACTERS = 40
"""Characters of a record's name that are shown."""


def read_doubts(run: Run) -> dict[str, Any] | None:
    """Read the worst rows of doubts.csv of a run, and count the rows of each kind.

    None without the file.
    """
    path = run.folder / "doubts.csv"
    if not path.exists():
        return None
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kinds = Counter(row["kind"] for row in rows)
    return {"worst": rows[:MAX_SHOWN_ROWS], "kinds": dict(kinds)}


def show_doubts(results: DatasetResults) -> dict[str, Any] | None:
    """Show the labels to check by the best run; None without any, or without examples."""
    doubts = results.best.read(read_doubts)
    if not (doubts and doubts["worst"] and results.request.settings.examples):
        return None
    title = "Training labels to check"
    table = make_table(title, "record", COLUMNS, doubts["worst"], _make_row)
    return {"run": results.best, "table": table}


def _make_row(entry: dict[str, str], cells: list[Cell]) -> Row:
    return Row(wording.plain(entry["record"], MAX_RECORD_NAME_CHARACTERS), cells)


def _make_text_column(title: str, name: str, limit: int) -> Column:
    return Column(title, lambda entry: wording.plain(entry[name], limit))


def _make_number_column(
    title: str, name: str, text: Callable[[float], str], **options: Any
) -> Column:
    return Column(title, lambda entry: float(entry[name]), text, **options)


def _format_probability(probability: float) -> str:
    return f"{100 * probability:.0f} %"


def _format_neighbours(amount: float) -> str:
    return f"{amount:.0f}/{N_NEAREST}"


_LABEL_COLUMN = _make_text_column("label", "label", 80)
_KIND_COLUMN = _make_text_column("seems", "kind", 10)
_OTHER_COLUMNS = (
    _make_number_column("probable", "probability", _format_probability, unit="fraction"),
    _make_number_column(
        "similar",
        "similar",
        _format_neighbours,
        hint=f"of the {N_NEAREST} most similar records, those that have the label",
    ),
    _make_text_column("words", "words", 40),
)

COLUMNS_WITHOUT_KIND = (_LABEL_COLUMN, *_OTHER_COLUMNS)
COLUMNS = (_LABEL_COLUMN, _KIND_COLUMN, *_OTHER_COLUMNS)


SECTION = ReportSection("doubts", "Training labels to check", show_doubts, folded=True)
