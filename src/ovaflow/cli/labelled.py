"""Labelled files: options of their reading, and tables of how models perform on them."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import click

from ovaflow.cli.options import file_option, reading_options
from ovaflow.console.errors import StrPath
from ovaflow.evaluation.metric import find_metric
from ovaflow.reading.formats import FORMATS
from ovaflow.report import wording
from ovaflow.report.probabilities import make_automatic_table, make_sure_table
from ovaflow.report.tables import Column, Row, Table, make_table
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
"""Decorator with options of a labelled FILE, passed as the dict ``reading``."""


def make_distinct_names(models: Sequence[StrPath]) -> list[str]:
    """Return the parts in which paths differ.

    Those of old/msi/model.h5 and new/msi/model.h5 are ``old`` and ``new``.
    """
    if len(models) == 1:
        return [str(models[0])]
    parts = [Path(model).parts for model in models]
    start = _count_equal_items(parts)
    end = _count_equal_items([path[start:][::-1] for path in parts])
    names = ["/".join(path[start : len(path) - end]) for path in parts]
    if not all(names):
        # a path is a part of another one
        return [str(model) for model in models]
    return names


def _count_equal_items(sequences: Sequence[Sequence[str]]) -> int:
    """Count the items at the beginning that are the same in all sequences."""
    count = 0
    for items in zip(*sequences, strict=False):
        if len(set(items)) > 1:
            break
        count += 1
    return count


def format_percent(value: float) -> str:
    """Format a share: ``82.5 %``."""
    return f"{wording.short_percent(value)} %"


def describe_unknown_words(share: float | None, reference: float | None, *, far_off: bool) -> str:
    """Describe in a line the words of a file that a model does not know; empty without words.

    Parameters
    ----------
    share : float or None
        Share of the words that are unknown; None without words.
    reference : float or None
        The same share of the test set at training.
    far_off : bool
        Whether ``share`` is far above ``reference``.
    """
    if share is None:
        return ""
    line = f"words the model does not know: {format_percent(share)}"
    if reference is not None:
        line += f" (test set at training: {format_percent(reference)})"
    if far_off:
        line += "; these records are unlike those that the model was trained on"
    return line


def make_tables(path: StrPath, entries: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """Make tables of the models' metrics, and of the differences of each from the first one.

    Further tables follow for the models that have the metrics.
    """
    yield _make_metrics_table(f"{path}, means with 95 % intervals:", entries)
    first, *others = entries
    for entry in others:
        models = f"{entry['model']} against {first['model']}"
        title = f"{models}, number of records better and worse:"
        differences = entry["differences"].items()
        yield make_table(title, "", _DIFFERENCE_COLUMNS, differences, _make_difference_row)
        if entry["changed_labels"]:
            title = f"{models}, labels whose F1 changed most, losses first:"
            changed = entry["changed_labels"]
            yield make_table(title, "label", _CHANGED_LABEL_COLUMNS, changed, _make_label_row)
    for key, title, make in _FURTHER_TABLES:
        for entry in entries:
            if entry[key]:
                yield make(f"{entry['model']}, {title}:", entry[key])


def _make_metrics_table(title: str, entries: Sequence[Mapping[str, Any]]) -> Table:
    """Make the table of all metrics, with a column for each model."""
    columns = [Column(entry["model"], partial(_format_metric, entry), str) for entry in entries]
    all_names = itertools.chain.from_iterable(entry["metrics"] for entry in entries)
    names = list(dict.fromkeys(all_names))
    return make_table(title, "", columns, names, Row)


def _format_metric(entry: Mapping[str, Any], name: str) -> str:
    """Format a metric with its interval, or an amount."""
    value = entry["metrics"].get(name)
    if value is None or isinstance(value, int):
        return wording.count(value)
    low, high = entry["intervals"][name]
    found = find_metric(name)
    if found is not None:
        metric, _ = found
        if metric.unit == "labels":
            return f"{value:.1f} ({low:.1f}–{high:.1f})"
    return f"{format_percent(value)} ({100 * low:.1f}–{100 * high:.1f})"


Difference = tuple[str, Mapping[str, Any]]
"""Name of a metric, and its difference between two models."""


def _format_difference(item: Difference) -> str:
    """Format a difference with its interval, in points."""
    _, entry = item
    difference = wording.points(entry["difference"])
    return f"{difference} ({wording.points(entry['low'])} to {wording.points(entry['high'])})"


_DIFFERENCE_COLUMNS = (
    Column("points", _format_difference, str),
    Column("better", lambda item: item[1]["better"], wording.count),
    Column("worse", lambda item: item[1]["worse"], wording.count),
    Column("", lambda item: item[1]["verdict"]),
)


def _make_difference_row(item: Difference, cells: Any) -> Row:
    name, _ = item
    return Row(name, cells)


_CHANGED_LABEL_COLUMNS = (
    Column("records", itemgetter("positives"), wording.count),
    Column("before", itemgetter("before"), wording.percent, "F1"),
    Column("after", itemgetter("after"), wording.percent, "F1"),
)


def _make_label_row(entry: Mapping[str, Any], cells: Any) -> Row:
    return Row(entry["label"], cells)


_LEVEL_COLUMNS = (
    Column("labels", itemgetter("labels"), wording.count),
    Column("records", itemgetter("records"), wording.count),
    Column("right, %", itemgetter("right"), wording.short_percent),
)


def _make_levels_table(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Make the table of how often the first label of each level is right."""
    return make_table(title, "level", _LEVEL_COLUMNS, rows, _make_level_row)


def _make_level_row(entry: Mapping[str, Any], cells: Any) -> Row:
    return Row(str(entry["level"]), cells)


_FURTHER_TABLES = (
    ("automatic", "labels by least probability", make_automatic_table),
    ("sure", "records by expected precision of the labels that fit", make_sure_table),
    ("by_level", "first label of each level, on the records that have one", _make_levels_table),
)
