"""The section Quality: all metrics, recall of rare and frequent labels, and how far probabilities can be trusted."""

from typing import NamedTuple

import numpy as np

from ovaflow.evaluation.metrics import SAMPLED
from ovaflow.report import wording
from ovaflow.report.frequency import draw_recall
from ovaflow.report.second_stage import assigned_table, draw_reliability
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, metric, samples, table_of_runs

FAMILIES = ("P", "nDCG", "PSP", "recall", "micro-F1", "macro-F1", "coverage", "PSnDCG")
MAIN = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@5", "F1-fit")
"""Metrics of the table that the page begins with, of folds and of the dev part."""


def metric_column(name):
    """Make the column of a metric, with intervals where it has them."""
    column = Column(name.replace("-fit", " fit"), metric(name), wording.percent, unit="fraction")
    # of figures without intervals nobody knows which is the best
    if name == "F1-fit" or name.partition("@")[0] in SAMPLED:
        return column._replace(samples=samples(name))
    return column


def main_columns(runs):
    """Make the columns of the main metrics that some run has."""
    return [metric_column(name) for name in MAIN if any(run.metrics.get(name) is not None for run in runs)]


def metric_columns(runs):
    """Make the columns of all metrics at k that some run has, family by family."""
    names = {name for run in runs for name in run.metrics if "@" in name}
    columns = []
    for family in FAMILIES:
        places = sorted(int(name.partition("@")[2]) for name in names if name.startswith(f"{family}@"))
        columns += [metric_column(f"{family}@{k}") for k in places]
    return columns


class Assigned(NamedTuple):
    """Labels that people assigned to the test instances."""

    instances: int
    labels: int  # (instance, label) pairs, including those that prepare left out
    unknown: int  # pairs whose label no model knows
    unseen: int  # unknown pairs that prepare did not leave out
    hopeless: int  # instances without a label that a model knows
    unlabelled: int | None  # of these, instances without any label; None if not counted


def count_assigned(dataset, known):
    """Count the labels of a dataset's test instances, of which models know some."""
    Y = dataset.test.Y
    counts = dataset.parameters.get("source", {}).get("counts", {})
    left_out = counts.get("test_labels_unknown_in_train", 0)
    unseen = int((~known[Y.indices]).sum())
    instances = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    hopeless = Y.n_rows - len(np.unique(instances[known[Y.indices]]))
    unlabelled = int((np.diff(Y.indptr) == 0).sum()) - counts.get("test_with_unknown_labels_only", 0)
    if left_out and "test_with_unknown_labels_only" not in counts:
        unlabelled = None
    return Assigned(Y.n_rows, len(Y.indices) + left_out, unseen + left_out, unseen, hopeless, unlabelled)


def show(anchor, results):
    figures = [draw_recall(anchor, results.shown), draw_reliability(anchor, results.shown)]
    return {
        "figures": [figure for figure in figures if figure],
        "assigned": assigned_table(results.runs),
        "all": table_of_runs("All metrics", results.runs, metric_columns(results.runs)),
    }


def show_dev(anchor, results):
    runs = [run.on_dev for run in results.runs if run.on_dev is not None]
    return {"table": table_of_runs("On the dev part", runs, main_columns(runs))} if runs else None


SECTION = ReportSection("quality", "Quality", show)
DEV_SECTION = ReportSection("dev", "On the dev part", show_dev, folded=True)
