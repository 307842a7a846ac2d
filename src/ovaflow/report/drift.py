"""The section on new records, from ``ovaflow evaluate FILE --output``: how unlike the test set."""

from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.prediction.drift import UNLIKE
from ovaflow.report import wording
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.storage.texts import read_json


class NewRecords(NamedTuple):
    """What a run answered for a file of records, and how much these differ from its test set."""

    file: str
    run: object  # gather.Run
    metrics: dict
    drift: dict


def read_evaluations(paths):
    """Entries of evaluations of files by the checksum of their model."""
    entries = {}
    for path in paths:
        content = read_json(path, "evaluation")
        if "file" not in content:
            raise InputError("of an earlier ovaflow", path=path, remedy="run evaluate again")
        for entry in content["models"]:
            entries.setdefault(entry["checksum"], []).append((content["file"], entry))
    return entries


def new_records_of(runs, evaluations):
    """The :class:`NewRecords` of the models of some runs."""
    records = []
    for run in runs:
        for file, entry in evaluations.get(run.checksum, ()):
            records.append(NewRecords(Path(file).name, run, entry["metrics"], entry["drift"]))
    return records


def require_runs(evaluations, results, paths):
    """Refuse evaluations of which none is of a run on the page."""
    shown = {run.checksum for each in results for run in each.runs}
    if paths and not shown & evaluations.keys():
        remedy = "name the folder of the model, results/{dataset}/{run}"
        raise InputError("its models are not those of the runs", path=paths[0], remedy=remedy)


def show(anchor, results):
    """Figures of new records and of the test set, unknown words, and labels that moved."""
    if not results.new_records:
        return None
    return {
        "figures": make_table("New records", "records", FIGURES, results.new_records, _row),
        "details": [_details(records) for records in results.new_records],
    }


def _row(records, cells):
    return Row(records.file, cells, records.run.series, records.run.name)


def _part(part, name):
    return lambda records: records.drift.get(part, {}).get(name)


def _p_of_test_set(records):
    return records.run.metrics.get("P@1")


_one_digit = partial(wording.percent, digits=1)
_UNKNOWN, _LABELS = "unknown words, %", "first labels elsewhere, %"
_FIRST, _RIGHT = "first label, mean probability or score", "P@1, %"

FIGURES = (
    Column("records", lambda records: records.drift["records"], wording.count),
    Column("here", _part("unknown_words", "share"), _one_digit, _UNKNOWN, unit="fraction"),
    Column("test set", _part("unknown_words", "reference"), _one_digit, _UNKNOWN, unit="fraction"),
    Column("here", _part("first_score", "mean"), wording.decimal, _FIRST),
    Column("test set", _part("first_score", "reference"), wording.decimal, _FIRST),
    Column("here", _part("first_labels", "distance"), _one_digit, _LABELS, unit="fraction"),
    Column("by chance", _part("first_labels", "by_chance"), _one_digit, _LABELS, unit="fraction"),
    Column("here", lambda records: records.metrics["P@1"], _one_digit, _RIGHT, unit="fraction"),
    Column("test set", _p_of_test_set, _one_digit, _RIGHT, unit="fraction"),
)


def _details(records):
    columns = [
        Column(title, itemgetter(name), _one_digit, "first label of, %", unit="fraction")
        for title, name in (("these records", "share"), ("the test set", "reference"))
    ]
    changed = records.drift.get("first_labels", {}).get("changed", [])
    title = f"Labels that moved most in {records.file}"
    return {
        "records": records,
        "unlike": [UNLIKE[name] for name in records.drift["far_off"]],
        "words": records.drift.get("unknown_words", {}).get("most_frequent", []),
        "labels": make_table(title, "label", columns, changed, _row_of_label),
    }


def _row_of_label(label, cells):
    return Row(label["label"], cells)
