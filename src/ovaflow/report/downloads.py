"""Figures and tables as CSV files inside the page: links that ask nobody for anything."""

import csv
import io
import math
from numbers import Number
from urllib.parse import quote

from ovaflow.report import wording

LONGEST = 300
"""Characters of a text."""

FORMULA = ("=", "+", "-", "@")
"""Beginnings of a text that spreadsheets take for a formula."""


def csv_of(columns, rows):
    """Write a table as CSV.

    Parameters
    ----------
    columns : sequence of str
    rows : sequence of sequence
        Numbers, texts, or None for an empty cell.

    Returns
    -------
    str
        Numbers in full, texts as the page shows them; one that a spreadsheet would run begins with an apostrophe.
    """
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerows([[_cell(value) for value in row] for row in (columns, *rows)])
    return written.getvalue()


def _cell(value):
    if value is None or (isinstance(value, Number) and not math.isfinite(value)):
        return ""
    if isinstance(value, Number):
        return f"{value:.10g}" if value != int(value) else str(int(value))
    text = wording.plain(str(value), LONGEST)
    return f"'{text}" if text.startswith(FORMULA) else text


def link_to(text):
    """Address that holds a CSV file itself.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Percent-encoded, so harmless in an attribute.
    """
    return "data:text/csv;charset=utf-8," + quote(text, safe=",")
