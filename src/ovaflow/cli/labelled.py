"""Labelled files: options that say how to read one, and tables of what models are worth on it."""

import itertools
from functools import partial
from operator import itemgetter
from pathlib import Path

import click

from ovaflow.cli.options import file_option, reading_options
from ovaflow.evaluation.metric import find_metric
from ovaflow.reading.formats import FORMATS
from ovaflow.report import wording
from ovaflow.report.probabilities import make_automatic_table, make_sure_table
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.settings.source import ReadTexts

labelled_file_options = reading_options(
    [name for name in ReadTexts.model_fields if name != "html"],
    format=click.option(
        "--format", type=click.Choice(list(FORMATS)), help="Format of FILE; by default by name."
    ),
    file_labels=file_option(
        "--file-labels", help="npz: labels of FILE; by default a file of its name with Y for X."
    ),
)
"""Decorator: options of a labelled FILE, which the command takes as a dict, ``reading``."""


def make_distinct_names(models):
    """The parts in which paths differ: ``old`` and ``new`` of old/msi/model.h5 and
    new/msi/model.h5.
    """
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


def format_percent(value):
    return f"{100 * value:.1f} %"


def format_points(value):
    """A difference of two shares."""
    return f"{100 * value:+.1f}"


def describe_unknown_words(share, reference, far_off):
    """How many words of a file a model does not know; empty without words."""
    if share is None:
        return ""
    line = f"words the model does not know: {format_percent(share)}"
    if reference is not None:
        line += f" (test set at training: {format_percent(reference)})"
    if far_off:
        line += "; these records are unlike those that the model was trained on"
    return line


def make_tables(path, entries):
    """Tables of the models' figures, of how each differs from the first one, and those that only
    some have.
    """
    yield _metrics(f"{path}, means with 95 % intervals:", entries)
    first, *others = entries
    for entry in others:
        title = f"{entry['model']} against {first['model']}, number of records better and worse:"
        yield make_table(title, "", _DIFFERENCES, entry["differences"].items(), _row_of_difference)
        if entry["changed_labels"]:
            title = f"{entry['model']} against {first['model']}, labels whose F1 changed most, losses first:"
            yield make_table(title, "label", _CHANGED, entry["changed_labels"], _row_of_label)
    for key, title, make in _FURTHER:
        yield from (
            make(f"{entry['model']}, {title}:", entry[key]) for entry in entries if entry[key]
        )


def _metrics(title, entries):
    columns = [Column(entry["model"], partial(_figure, entry), str) for entry in entries]
    names = dict.fromkeys(itertools.chain.from_iterable(entry["metrics"] for entry in entries))
    return make_table(title, "", columns, names, Row)


def _figure(entry, name):
    value = entry["metrics"].get(name)
    if value is None or isinstance(value, int):
        return wording.count(value)
    low, high = entry["intervals"][name]
    metric = find_metric(name)
    if metric is not None and metric[0].unit == "labels":
        return f"{value:.1f} ({low:.1f}–{high:.1f})"
    return f"{format_percent(value)} ({100 * low:.1f}–{100 * high:.1f})"


def _with_interval(item):
    difference, low, high = (format_points(item[1][part]) for part in ("difference", "low", "high"))
    return f"{difference} ({low} to {high})"


_DIFFERENCES = (
    Column("points", _with_interval, str),
    Column("better", lambda item: item[1]["better"], wording.count),
    Column("worse", lambda item: item[1]["worse"], wording.count),
    Column("", lambda item: item[1]["verdict"]),
)


def _row_of_difference(item, cells):
    return Row(item[0], cells)


_CHANGED = (
    Column("records", itemgetter("positives"), wording.count),
    Column("before", itemgetter("before"), wording.percent, "F1"),
    Column("after", itemgetter("after"), wording.percent, "F1"),
)


def _row_of_label(each, cells):
    return Row(each["label"], cells)


_LEVELS = (
    Column("labels", itemgetter("labels"), wording.count),
    Column("records", itemgetter("records"), wording.count),
    Column("right, %", itemgetter("right"), partial(wording.percent, digits=1)),
)


def _levels_table(title, rows):
    return make_table(
        title, "level", _LEVELS, rows, lambda row, cells: Row(str(row["level"]), cells)
    )


_FURTHER = (
    ("automatic", "labels by least probability", make_automatic_table),
    ("sure", "records by expected precision of the labels that fit", make_sure_table),
    ("by_level", "first label of each level, on the records that have one", _levels_table),
)
