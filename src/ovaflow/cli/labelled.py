"""Labelled files: options that say how to read one, and tables of what models are worth on it."""

import itertools
from functools import partial
from operator import itemgetter
from pathlib import Path

import click
from rich import box
from rich.table import Table

from ovaflow.cli.options import file_option, reads_files
from ovaflow.reading.formats import FORMATS
from ovaflow.report import wording
from ovaflow.report.probabilities import automatic_table, sure_table
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.settings.source import ReadTexts

reads_labelled_file = reads_files(
    [name for name in ReadTexts.model_fields if name != "html"],
    format=click.option("--format", type=click.Choice(list(FORMATS)), help="Format of FILE; by default by name."),
    file_labels=file_option("--file-labels", help="npz: labels of FILE; by default a file of its name with Y for X."),
)
"""Decorator: options of a labelled FILE, which the command takes as a dict, ``reading``."""


def distinct_names(models):
    """The parts in which paths differ: ``old`` and ``new`` of old/msi/model.h5 and new/msi/model.h5."""
    if len(models) == 1:
        return [str(models[0])]
    parts = [Path(model).parts for model in models]
    start = _equal_at_first(parts)
    end = _equal_at_first([path[start:][::-1] for path in parts])
    names = ["/".join(path[start : len(path) - end]) for path in parts]
    # a path may be a part of the other
    return names if all(names) else list(map(str, models))


def _equal_at_first(lists):
    alike = (len(set(each)) == 1 for each in zip(*lists, strict=False))
    return sum(itertools.takewhile(bool, alike))


def percent(value):
    return f"{100 * value:.1f} %"


def points(value):
    """A difference of two shares."""
    return f"{100 * value:+.1f}"


def metrics_table(entries):
    """Figures of each model, those that are means with their intervals."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", no_wrap=True)
    for entry in entries:
        table.add_column(entry["model"], justify="right", overflow="fold")
    for name in dict.fromkeys(itertools.chain.from_iterable(entry["metrics"] for entry in entries)):
        table.add_row(name, *(_figure(entry, name) for entry in entries))
    return table


def _figure(entry, name):
    value = entry["metrics"].get(name)
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    low, high = entry["intervals"][name]
    return f"{percent(value)} ({100 * low:.1f}–{100 * high:.1f})"


def differences_tables(entries):
    """What each model has more than the first one, with a title."""
    first, *others = entries
    for entry in others:
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("", no_wrap=True)
        for name in ("points", "better", "worse"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        for name, each in entry["differences"].items():
            difference, low, high = (points(each[part]) for part in ("difference", "low", "high"))
            amounts = f"{each['better']:,}", f"{each['worse']:,}"
            table.add_row(name, f"{difference} ({low} to {high})", *amounts, each["verdict"])
        names = f"{entry['model']} against {first['model']}"
        yield f"{names}, number of records better and worse:", table


def levels_tables(entries):
    """How good probable labels are, of each model that has probabilities, with a title."""
    for entry in entries:
        if entry["automatic"]:
            title = f"{entry['model']}, labels by least probability:"
            yield title, automatic_table(title, entry["automatic"]).terminal


def sure_tables(entries):
    """What is right of records that might go without a look, of each model that has probabilities, with a title."""
    for entry in entries:
        if entry["sure"]:
            title = f"{entry['model']}, records by expected precision of the labels that fit:"
            yield title, sure_table(title, entry["sure"]).terminal


def hierarchy_tables(entries):
    """How often the first label of each level is right, of each model whose labels are a hierarchy, with a title."""
    for entry in entries:
        if not entry["by_level"]:
            continue
        title = f"{entry['model']}, first label of each level, on the records that have one:"
        yield title, make_table(title, "level", _LEVELS, entry["by_level"], _row_of_level).terminal


_LEVELS = (
    Column("labels", itemgetter("labels"), wording.count),
    Column("records", itemgetter("records"), wording.count),
    Column("right, %", itemgetter("right"), partial(wording.percent, digits=1)),
)


def _row_of_level(row, cells):
    return Row(str(row["level"]), cells)
