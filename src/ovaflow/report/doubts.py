"""The section on training labels to check, from doubts.csv."""

import csv
from collections import Counter

from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.reranking.evidence.similar_texts import N_NEAREST

MAX_SHOWN_ROWS = 10

RECORD_NAME_LENGTH = 40
"""Characters of a record's name that are shown."""


def read_doubts(run):
    """Read the worst rows of a run's doubts.csv, and how many rows there are of each kind; None
    without the file.
    """
    path = run.path / "doubts.csv"
    if not path.exists():
        return None
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {"worst": rows[:MAX_SHOWN_ROWS], "kinds": dict(Counter(row["kind"] for row in rows))}


def show_doubts(anchor, results):
    """Show the labels to check by the best run, if it has any, unless the page shows no examples."""
    doubts = results.best.read(read_doubts)
    if not (doubts and doubts["worst"] and results.asked.settings.examples):
        return None
    table = make_table("Training labels to check", "record", COLUMNS, doubts["worst"], _row)
    return {"run": results.best, "table": table}


def _row(entry, cells):
    return Row(wording.plain(entry["record"], RECORD_NAME_LENGTH), cells)


def _text(title, name, limit):
    return Column(title, lambda entry: wording.plain(entry[name], limit))


def _figure(title, name, text, **more):
    return Column(title, lambda entry: float(entry[name]), text, **more)


def _share(probability):
    return f"{100 * probability:.0f} %"


def _of_nearest(amount):
    return f"{amount:.0f}/{N_NEAREST}"


COLUMNS_WITHOUT_KIND = (
    _text("label", "label", 80),
    _figure("probable", "probability", _share, unit="fraction"),
    _figure(
        "similar",
        "similar",
        _of_nearest,
        hint=f"of the {N_NEAREST} most similar records, those that have the label",
    ),
    _text("words", "words", 40),
)
COLUMNS = COLUMNS_WITHOUT_KIND[0], _text("seems", "kind", 10), *COLUMNS_WITHOUT_KIND[1:]


SECTION = ReportSection("doubts", "Training labels to check", show_doubts, folded=True)
