"""The section Quality: all metrics, recall of rare and frequent labels, and how far probabilities
can be trusted.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.evaluation.metric import ANSWER, METRICS, find_metric, get_metric, report_metric_names
from ovaflow.report import wording
from ovaflow.report.frequency import draw_recall
from ovaflow.report.second_stage import draw_reliability, make_assignment_table
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, make_runs_table, metric_getter, samples_getter


def make_metric_column(name):
    """Make the column of a metric, with intervals where it has them."""
    entry, _ = get_metric(name)
    column = Column(
        name.replace("-fit", " fit"),
        metric_getter(name),
        wording.FORMAT_BY_UNIT[entry.unit],
        unit=entry.unit,
        smaller_is_better=entry.larger_is_better is False,
    )
    # of figures without intervals nobody knows which is the best
    return column if entry.each is None else column._replace(samples=samples_getter(name))


def make_main_columns(runs):
    """Make the columns of the metrics that a report begins with, those that some run has."""
    return [
        make_metric_column(name)
        for name in report_metric_names()
        if any(run.metrics.get(name) is not None for run in runs)
    ]


def make_metric_columns(runs):
    """Make the columns of all metrics of ranked labels that some run has, metric by metric."""
    names = dict.fromkeys(name for run in runs for name in run.metrics)
    found = {name: find_metric(name) for name in names}
    shown = [name for name, entry in found.items() if entry is not None and entry[0].of != ANSWER]
    shown.sort(key=lambda name: (METRICS.index(found[name][0]), found[name][1]))
    return list(map(make_metric_column, shown))


class AssignedLabels(NamedTuple):
    """Labels that people assigned to the test instances."""

    instances: int
    labels: int  # (instance, label) pairs, including those that prepare left out
    unknown: int  # pairs whose label no model knows
    unseen: int  # unknown pairs that prepare did not leave out
    hopeless: int  # instances without a label that a model knows
    unlabelled: int | None  # of these, instances without any label; None if not counted


def count_assigned_labels(dataset, known):
    """Count the labels of a dataset's test instances, of which models know some."""
    Y = dataset.test.Y
    counts = dataset.parameters.get("source", {}).get("counts", {})
    left_out = counts.get("test_labels_unknown_in_train", 0)
    unseen = int((~known[Y.indices]).sum())
    instances = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    hopeless = Y.n_rows - len(np.unique(instances[known[Y.indices]]))
    unlabelled = int((np.diff(Y.indptr) == 0).sum()) - counts.get(
        "test_with_unknown_labels_only", 0
    )
    if left_out and "test_with_unknown_labels_only" not in counts:
        unlabelled = None
    return AssignedLabels(
        Y.n_rows, len(Y.indices) + left_out, unseen + left_out, unseen, hopeless, unlabelled
    )


def show_quality(anchor, results):
    figures = [draw_recall(anchor, results.shown), draw_reliability(anchor, results.shown)]
    return {
        "figures": [figure for figure in figures if figure],
        "assigned": make_assignment_table(results.runs),
        "all": make_runs_table("All metrics", results.runs, make_metric_columns(results.runs)),
    }


def show_dev(anchor, results):
    runs = [run.on_dev for run in results.runs if run.on_dev is not None]
    return (
        {"table": make_runs_table("On the dev part", runs, make_main_columns(runs))}
        if runs
        else None
    )


SECTION = ReportSection("quality", "Quality", show_quality)
DEV_SECTION = ReportSection("dev", "On the dev part", show_dev, folded=True)
