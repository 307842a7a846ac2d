"""The section on data with one label for each instance: accuracy, and which labels are taken for
one another.
"""

from functools import partial
from operator import itemgetter

import numpy as np
from matplotlib.patches import Rectangle

from ovaflow.evaluation.single_label import (
    compute_confusion_matrix,
    find_rarer_label,
    has_one_label,
)
from ovaflow.report import wording
from ovaflow.report.drawing import PAGE_COLOURS, draw_figure
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import (
    Column,
    Row,
    make_runs_table,
    make_table,
    metric_getter,
    samples_getter,
)

MAX_LISTED_PAIRS = 12  # pairs of labels in the table
MAX_DRAWN_LABELS = 10  # labels in the figure
_LONGEST = 22  # characters of a label's name in the figure
_CAPTION = (
    "Test instances by their label (rows) and by the label predicted first (columns); the darker, the larger the share "
    "of the row."
)


def read_confusion(run):
    """Return the confusion of labels, their names, and the positive one of two; None where
    instances have several.
    """
    if not has_one_label(run.dataset) or not run.has_test_labels:
        return None
    names = [wording.plain(run.dataset.label_name(label)) for label in range(run.dataset.n_labels)]
    return {
        "confusion": compute_confusion_matrix(run.measured.order),
        "names": names,
        "positive": names[find_rarer_label(run.dataset)],
    }


def show_single_label(anchor, results):
    runs = [run for run in results.shown if run.read(read_confusion) and "accuracy" in run.metrics]
    if not runs:
        return None
    best = results.best
    of_best = best.read(read_confusion)
    together = of_best["confusion"]
    names = of_best["names"]
    labels = _most_confused(together)
    title = f"Labels that {best.name} takes for one another"
    columns = [column for column in ACCURACY_COLUMNS if column.value(best) is not None]
    return {
        "runs": make_runs_table("Accuracy", runs, columns),
        "positive": of_best["positive"] if "roc_auc" in best.metrics else None,
        "best": best,
        "pairs": make_table(
            title, "label", PAIR_COLUMNS, list(_pairs(together, names)), _row_of_pair
        ),
        "figure": draw_figure(
            f"{anchor}.confusion", title, _CAPTION, _paint, together, names, labels
        ),
    }


def _column(title, name, hint, **more):
    return Column(title, metric_getter(name), wording.percent, hint=hint, unit="fraction", **more)


ACCURACY_COLUMNS = (
    _column(
        "accuracy",
        "accuracy",
        "instances whose first label is theirs",
        samples=samples_getter("P@1"),
    ),
    _column(
        "balanced accuracy", "balanced_accuracy", "mean recall of the labels: each counts alike"
    ),
    _column("macro-F1", "macro-F1@1", "of the first label, mean over labels"),
    _column(
        "ROC AUC",
        "roc_auc",
        "chance that an instance of the rarer label scores higher than another",
    ),
    _column("average precision", "average_precision", "of the rarer label, over all thresholds"),
)


def _pairs(together, names):
    """Pairs of a label and another that is predicted for its instances, the most frequent first."""
    cells = together.tocoo()
    totals = together.sum(axis=1)
    wrong = np.flatnonzero(cells.row != cells.col)
    order = wrong[np.argsort(-cells.data[wrong], kind="stable")]
    for place in order[:MAX_LISTED_PAIRS].tolist():
        true = cells.row[place]
        times = int(cells.data[place])
        yield {
            "label": names[true],
            "predicted": names[cells.col[place]],
            "times": times,
            "share": times / int(totals[true]),
        }


PAIR_COLUMNS = (
    Column("predicted instead", itemgetter("predicted")),
    Column("instances", itemgetter("times"), wording.count),
    Column(
        "%",
        itemgetter("share"),
        partial(wording.percent, digits=1),
        hint="of the label’s instances",
        unit="fraction",
    ),
)


def _row_of_pair(pair, cells):
    return Row(pair["label"], cells)


def _most_confused(together):
    """Labels of the pairs that are confused most, or all where they are few: ascending numbers."""
    cells = together.tocoo()
    order = np.argsort(-np.where(cells.row == cells.col, 0, cells.data), kind="stable")
    # a pair brings one label or two; those that are never confused follow
    ordered = np.column_stack([cells.row, cells.col])[order].ravel()
    _, first = np.unique(ordered, return_index=True)
    return sorted(ordered[np.sort(first)][:MAX_DRAWN_LABELS].tolist())


def _paint(axes, together, names, labels) -> None:
    shown = together[labels][:, labels].toarray()
    totals = together.sum(axis=1)[labels]
    shares = shown / np.maximum(totals, 1)[:, None]
    for (true, predicted), times in np.ndenumerate(shown):
        if times:
            style = {
                "facecolor": PAGE_COLOURS["accent"],
                "alpha": 0.1 + 0.7 * shares[true, predicted],
            }
            axes.add_patch(Rectangle((predicted - 0.5, true - 0.5), 1, 1, linewidth=0, **style))
            axes.text(predicted, true, f"{times:,}", ha="center", va="center", fontsize=8)
            axes.keep(
                names[labels[true]], predicted=[names[labels[predicted]]], instances=[int(times)]
            )
    shortened = [wording.plain(names[label], _LONGEST) for label in labels]
    ends = -0.5, len(labels) - 0.5
    axes.set(
        xlabel="predicted first",
        xlim=ends,
        ylim=ends[::-1],
        xticks=range(len(labels)),
        yticks=range(len(labels)),
    )
    axes.set_xticklabels(shortened, rotation=32, ha="right", fontsize=8)
    axes.set_yticklabels(shortened, fontsize=8)
    axes.grid(visible=False)


SECTION = ReportSection("one-label", "One label for each instance", show_single_label)
