"""Tables of right labels by probability, for the report and for ``ovaflow evaluate``."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from ovaflow.report import wording
from ovaflow.report.tables import Cell, Column, Row, Table, make_table


def make_automatic_table(title: str, rows: Sequence[dict[str, Any]]) -> Table:
    """Make the table of labels of at least some probability.

    ``rows`` are those of :func:`ovaflow.evaluation.reliability.measure_assigned_labels`.
    """

    def make_row(entry: dict[str, Any], cells: list[Cell]) -> Row:
        return Row(f"at least {100 * entry['probability']:g} %", cells)

    return make_table(title, "probability", AUTOMATIC_COLUMNS, rows, make_row)


def make_sure_table(title: str, rows: Sequence[dict[str, Any]]) -> Table:
    """Make the table of records of at least some expected precision.

    ``rows`` are those of :func:`ovaflow.reranking.expected_quality.measure_sure_records`.
    """

    def make_row(entry: dict[str, Any], cells: list[Cell]) -> Row:
        return Row(f"at least {100 * entry['level']:g} %", cells)

    return make_table(title, "expected precision", SURE_COLUMNS, rows, make_row)


def _fraction(title: str, name: str, group: str, hint: str = "") -> Column:
    """Make the column of a fraction."""
    return Column(title, itemgetter(name), wording.short_percent, group, hint, "fraction")


AUTOMATIC_COLUMNS = (
    Column("labels", itemgetter("predictions"), wording.count, hint="of all test instances"),
    _fraction("right", "precision", "labels, %"),
    _fraction("expected", "expected", "labels, %", "mean of their probabilities"),
    _fraction("found", "recall", "labels, %", "recall"),
    _fraction("with a label", "instances", "test instances, %", "that get at least one label"),
    Column("labels each", itemgetter("labels"), wording.decimal),
)

SURE_COLUMNS = (
    Column("records", itemgetter("records"), wording.count),
    _fraction("of all", "instances", "records, %", "test instances"),
    Column("labels", itemgetter("labels"), wording.count),
    _fraction("right", "right", "labels, %"),
    _fraction("expected", "expected", "labels, %", "mean of their probabilities"),
)
