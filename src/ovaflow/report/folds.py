"""The section Cross-validation: metrics of each run over folds of the training set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ovaflow.evaluation.metric import get_metric, report_metric_names
from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Cell, Column, Row, make_runs_table, make_table, metric_getter

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run

MAIN_METRIC = report_metric_names()[0]
"""Metric whose values in each fold are shown."""


def show_folds(results: DatasetResults) -> dict[str, Any] | None:
    """Show means over the folds next to metrics on the test set; None without folds."""
    runs = [run for run in results.runs if run.folds]
    if not runs:
        return None
    columns = []
    for name in report_metric_names():
        if any(name in run.folds["metrics"] for run in runs):
            columns += _make_columns(name)
    n_folds = max(run.folds["folds"] for run in runs)
    fold_columns = [_make_fold_column(fold) for fold in range(n_folds)]
    fold_columns.append(
        Column(
            "deviation",
            _folds_getter(MAIN_METRIC, "deviation"),
            _get_format(MAIN_METRIC),
            hint="standard",
        )
    )
    return {
        "folds": n_folds,
        "table": make_table("Cross-validation", "run", columns, runs, partial(_make_row, columns)),
        "folds_table": make_runs_table(f"{MAIN_METRIC} by fold", runs, fold_columns),
        "first": MAIN_METRIC,
    }


def _folds_getter(metric: str, key: str) -> Callable[[Run], Any]:
    """Return a function of a run: a number about a metric over its folds."""
    return lambda run: run.folds["metrics"].get(metric, {}).get(key)


def _make_columns(metric: str) -> list[Column]:
    text = _get_format(metric)
    return [
        Column("mean", _folds_getter(metric, "mean"), text, metric, "over folds", spread=text),
        Column("test set", metric_getter(metric), text, metric),
    ]


def _get_format(name: str) -> Callable[[Any], str]:
    metric, _ = get_metric(name)
    return wording.FORMAT_BY_UNIT[metric.unit].short


def _make_fold_column(fold: int) -> Column:
    def get_value(run: Run) -> float | None:
        values = _folds_getter(MAIN_METRIC, "values")(run) or []
        if fold >= len(values):
            return None
        return values[fold]

    return Column(f"fold {fold + 1}", get_value, _get_format(MAIN_METRIC))


def _make_row(columns: Sequence[Column], run: Run, cells: Sequence[Cell]) -> Row:
    """Make a row whose means have the interval over folds."""
    shown = []
    for column, cell in zip(columns, cells, strict=True):
        bounds = None
        if column.title == "mean":
            bounds = _folds_getter(column.group, "interval")(run)
        if bounds:
            bounds = tuple(bounds)
        shown.append(replace(cell, interval=bounds))
    return Row(run.name, shown, run.series, run.summary)


SECTION = ReportSection("folds", "Cross-validation", show_folds, folded=True)
