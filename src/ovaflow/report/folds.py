"""The section Cross-validation: figures of each run over folds of the training set, beside those of
the test set.
"""

from dataclasses import replace
from functools import partial
from itertools import chain

from ovaflow.evaluation.metric import report_metric_names
from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_runs_table, make_table, metric_getter

MAIN_METRIC = report_metric_names()[0]


def show_folds(anchor, results):
    runs = [run for run in results.runs if run.folds]
    if not runs:
        return None
    names = [
        name for name in report_metric_names() if any(name in run.folds["metrics"] for run in runs)
    ]
    columns = list(chain.from_iterable(map(_columns_of, names)))
    table = make_table("Cross-validation", "run", columns, runs, partial(_row, columns))
    most = max(run.folds["folds"] for run in runs)
    deviation = Column(
        "deviation",
        _figure(MAIN_METRIC, "deviation"),
        partial(wording.percent, digits=1),
        hint="standard",
    )
    of_each = make_runs_table(
        f"{MAIN_METRIC} by fold", runs, [*map(_column_of_fold, range(most)), deviation]
    )
    return {"folds": most, "table": table, "folds_table": of_each, "first": MAIN_METRIC}


def _figure(name, key):
    """Function of a run: what its folds say of a metric."""
    return lambda run: run.folds["metrics"].get(name, {}).get(key)


def _columns_of(name):
    return (
        Column(
            "mean", _figure(name, "mean"), partial(wording.percent, digits=1), name, "over folds"
        ),
        Column("test set", metric_getter(name), partial(wording.percent, digits=1), name),
    )


def _column_of_fold(fold):
    def value(run):
        values = _figure(MAIN_METRIC, "values")(run) or []
        return values[fold] if fold < len(values) else None

    return Column(f"fold {fold + 1}", value, partial(wording.percent, digits=1))


def _row(columns, run, cells):
    """A row whose means have the interval over folds."""
    shown = []
    for column, cell in zip(columns, cells, strict=True):
        bounds = _figure(column.group, "interval")(run) if column.title == "mean" else None
        shown.append(replace(cell, interval=bounds and tuple(bounds)))
    return Row(run.name, shown, run.series, run.summary)


SECTION = ReportSection("folds", "Cross-validation", show_folds, folded=True)
