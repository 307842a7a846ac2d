"""The section on training labels to check, from doubts.csv."""

import csv
from functools import partial
from itertools import islice

from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_table

SHOWN = 10


def read(run):
    """The worst rows of a run's doubts.csv; None without the file."""
    path = run.path / "doubts.csv"
    if not path.exists():
        return None
    with open(path, newline="", encoding="utf-8") as file:
        return list(islice(csv.DictReader(file), SHOWN))


def show(anchor, results):
    """The labels to check by the first run that has any, unless the page shows no examples."""
    runs = [run for run in results.runs if "second-stage" in run.read and run.read.get("doubts")]
    if not (runs and results.settings.examples):
        return None
    table = make_table("Training labels to check", "record", COLUMNS, runs[0].read["doubts"], _row)
    return {"run": runs[0], "table": table}


def _row(entry, cells):
    return Row(wording.plain(entry["record"], 40), cells)


def _text(title, name, limit):
    return Column(title, lambda entry: wording.plain(entry[name], limit))


def _figure(title, name, text, **more):
    return Column(title, lambda entry: float(entry[name]), text, **more)


COLUMNS = (
    _text("label", "label", 80),
    _text("seems", "kind", 10),
    _figure("probability, %", "probability", partial(wording.percent, digits=0), unit="fraction"),
    _figure("similar records", "similar", wording.count, hint="of 30 that have the label"),
    _text("words", "words", 40),
)


SECTION = ReportSection("doubts", "Training labels to check", show, read)
