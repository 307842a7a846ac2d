"""The section Quality: all metrics, recall of rare and frequent labels, and probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.metric import (
    ANSWER_SCOPE,
    METRICS,
    find_metric,
    get_metric,
    report_metric_names,
)
from ovaflow.report import wording
from ovaflow.report.frequency import draw_recall
from ovaflow.report.second_stage import draw_reliability, make_assignment_table
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, make_runs_table, metric_getter, samples_getter

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run


def make_metric_column(name: str) -> Column:
    """Make the column of a metric, with intervals where the metric has them."""
    metric, _ = get_metric(name)
    metric_format = wording.FORMAT_BY_UNIT[metric.unit]
    column = Column(
        name.replace("-fit", " fit"),
        metric_getter(name),
        metric_format.full,
        unit=metric.unit,
        smaller_is_better=metric.larger_is_better is False,
        spread=metric_format.short,
    )
    if metric.per_instance is None:
        # without intervals, no metric is surely the best
        return column
    return column._replace(samples=samples_getter(name))


def make_main_columns(runs: Sequence[Run]) -> list[Column]:
    """Make the columns of the report's main metrics that some run has."""
    columns = []
    for name in report_metric_names():
        if any(run.metrics.get(name) is not None for run in runs):
            columns.append(make_metric_column(name))
    return columns


def make_metric_columns(runs: Sequence[Run]) -> list[Column]:
    """Make the columns of all metrics of ranked labels that some run has, metric by metric."""
    names: dict[str, None] = {}
    for run in runs:
        names |= dict.fromkeys(run.metrics)
    positions = {}
    for name in names:
        found = find_metric(name)
        if found is None:
            continue
        metric, k = found
        if metric.scope != ANSWER_SCOPE:
            positions[name] = (METRICS.index(metric), k)
    return [make_metric_column(name) for name in sorted(positions, key=positions.__getitem__)]


class AssignedLabels(NamedTuple):
    """Numbers of labels that people assigned to the test instances."""

    instances: int
    labels: int  # (instance, label) pairs, including those that prepare left out
    unknown: int  # pairs whose label no model knows
    unseen: int  # unknown pairs that prepare did not leave out
    without_known_label: int  # instances without a label that a model knows


def count_assigned_labels(dataset: Dataset, known: np.ndarray) -> AssignedLabels:
    """Count the labels of a dataset's test instances; ``known``: labels that models know."""
    Y = dataset.test.Y
    counts = dataset.parameters.get("source", {}).get("counts", {})
    left_out = counts.get("test_labels_unknown_in_train", 0)
    instances = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    is_known = known[Y.indices]
    unseen = int((~is_known).sum())
    return AssignedLabels(
        instances=Y.n_rows,
        labels=len(Y.indices) + left_out,
        unknown=unseen + left_out,
        unseen=unseen,
        without_known_label=Y.n_rows - len(np.unique(instances[is_known])),
    )


def show_quality(results: DatasetResults) -> dict[str, Any]:
    """Show the figures of quality, labels that can be assigned automatically, and all metrics."""
    figures = [
        draw_recall(results.anchor, results.shown_runs),
        draw_reliability(results.anchor, results.shown_runs),
    ]
    return {
        "figures": [figure for figure in figures if figure],
        "assigned": make_assignment_table(results.runs),
        "all": make_runs_table("All metrics", results.runs, make_metric_columns(results.runs)),
    }


def show_dev(results: DatasetResults) -> dict[str, Any] | None:
    """Show the main metrics on the dev part; None without one."""
    runs = [run.on_dev for run in results.runs if run.on_dev is not None]
    if not runs:
        return None
    return {"table": make_runs_table("On the dev part", runs, make_main_columns(runs))}


SECTION = ReportSection("quality", "Quality", show_quality)
DEV_SECTION = ReportSection("dev", "On the dev part", show_dev, folded=True)
