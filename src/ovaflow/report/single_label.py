"""The section on data with one label for each instance: accuracy, and confused labels."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Rectangle

from ovaflow.evaluation.single_label import (
    compute_confusion_matrix,
    find_rarer_label,
    has_one_label,
)
from ovaflow.report import wording
from ovaflow.report.drawing import PAGE_COLOURS, RecordingAxes, draw_figure
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import (
    Cell,
    Column,
    Row,
    make_runs_table,
    make_table,
    metric_getter,
    samples_getter,
)

if TYPE_CHECKING:
    import scipy.sparse

    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run

MAX_LISTED_PAIRS = 12  # pairs of labels in the table
MAX_DRAWN_LABELS = 10  # labels in the figure
_MAX_NAME_CHARACTERS = 22  # of a label in the figure
_CAPTION = (
    "Test instances by their label (rows) and by the label predicted first (columns); the darker, "
    "the larger the share of the row."
)


def read_confusion(run: Run) -> dict[str, Any] | None:
    """Compute the confusion matrix of a run; None where instances have several labels.

    Returns
    -------
    dict or None
        ``confusion``, sparse int (l, l), rows are true labels; ``names`` of the labels;
        ``positive``, the name of the rarer label.
    """
    if not has_one_label(run.dataset) or not run.has_test_labels:
        return None
    names = [wording.plain(run.dataset.label_name(label)) for label in range(run.dataset.n_labels)]
    return {
        "confusion": compute_confusion_matrix(run.measured.order),
        "names": names,
        "positive": names[find_rarer_label(run.dataset)],
    }


def show_single_label(results: DatasetResults) -> dict[str, Any] | None:
    """Show accuracy of all runs, and labels that the best one confuses.

    None where instances have several labels.
    """
    runs = []
    for run in results.shown_runs:
        if run.read(read_confusion) and "accuracy" in run.metrics:
            runs.append(run)
    if not runs:
        return None
    best = results.best
    content = best.read(read_confusion)
    confusion = content["confusion"]
    names = content["names"]
    pairs = _list_confused_pairs(confusion, names)
    labels = _find_confused_labels(confusion)
    title = f"Labels that {best.name} confuses"
    name = f"{results.anchor}.confusion"
    columns = [column for column in ACCURACY_COLUMNS if column.value(best) is not None]
    return {
        "runs": make_runs_table("Accuracy", runs, columns),
        "positive": content["positive"] if "roc_auc" in best.metrics else None,
        "best": best,
        "pairs": make_table(title, "label", PAIR_COLUMNS, pairs, _make_pair_row),
        "figure": draw_figure(name, title, _CAPTION, _paint, confusion, names, labels),
    }


def _make_accuracy_column(title: str, name: str, hint: str) -> Column:
    return Column(title, metric_getter(name), wording.percent, hint=hint, unit="fraction")


ACCURACY_COLUMNS = (
    # accuracy is P@1, which has samples
    _make_accuracy_column("accuracy", "accuracy", "instances whose first label is theirs")._replace(
        samples=samples_getter("P@1")
    ),
    _make_accuracy_column(
        "balanced accuracy", "balanced_accuracy", "mean recall of the labels: each counts alike"
    ),
    _make_accuracy_column("macro-F1", "macro-F1@1", "of the first label, mean over labels"),
    _make_accuracy_column(
        "ROC AUC",
        "roc_auc",
        "chance that an instance of the rarer label scores higher than another",
    ),
    _make_accuracy_column(
        "average precision", "average_precision", "of the rarer label, over all thresholds"
    ),
)


def _list_confused_pairs(
    confusion: scipy.sparse.csr_array, names: Sequence[str]
) -> list[dict[str, Any]]:
    """List pairs of a label and another one predicted instead, the most frequent first."""
    cells = confusion.tocoo()
    totals = confusion.sum(axis=1)
    wrong = np.flatnonzero(cells.row != cells.col)
    order = wrong[np.argsort(-cells.data[wrong], kind="stable")]
    pairs = []
    for index in order[:MAX_LISTED_PAIRS].tolist():
        true = cells.row[index]
        times = int(cells.data[index])
        pairs.append(
            {
                "label": names[true],
                "predicted": names[cells.col[index]],
                "times": times,
                "share": times / int(totals[true]),
            }
        )
    return pairs


PAIR_COLUMNS = (
    Column("predicted instead", itemgetter("predicted")),
    Column("instances", itemgetter("times"), wording.count),
    Column(
        "%",
        itemgetter("share"),
        wording.short_percent,
        hint="of the label’s instances",
        unit="fraction",
    ),
)


def _make_pair_row(pair: dict[str, Any], cells: list[Cell]) -> Row:
    return Row(pair["label"], cells)


def _find_confused_labels(confusion: scipy.sparse.csr_array) -> list[int]:
    """Find the labels of the most frequent pairs, or all where they are few; ascending."""
    cells = confusion.tocoo()
    times = np.where(cells.row == cells.col, 0, cells.data)
    order = np.argsort(-times, kind="stable")
    # labels in the order of their first pair; those that are never confused follow
    labels = np.column_stack([cells.row, cells.col])[order].ravel()
    _, first = np.unique(labels, return_index=True)
    return sorted(labels[np.sort(first)][:MAX_DRAWN_LABELS].tolist())


def _paint(
    axes: RecordingAxes,
    confusion: scipy.sparse.csr_array,
    names: Sequence[str],
    labels: list[int],
) -> None:
    shown = confusion[labels][:, labels].toarray()
    totals = confusion.sum(axis=1)[labels]
    shares = shown / np.maximum(totals, 1)[:, None]
    for (true, predicted), times in np.ndenumerate(shown):
        if not times:
            continue
        square = Rectangle(
            (predicted - 0.5, true - 0.5),
            1,
            1,
            linewidth=0,
            facecolor=PAGE_COLOURS["accent"],
            alpha=0.1 + 0.7 * shares[true, predicted],
        )
        axes.add_patch(square)
        axes.text(predicted, true, f"{times:,}", ha="center", va="center", fontsize=8)
        axes.record(
            names[labels[true]], predicted=[names[labels[predicted]]], instances=[int(times)]
        )
    shortened = [wording.plain(names[label], _MAX_NAME_CHARACTERS) for label in labels]
    end = len(labels) - 0.5
    axes.set(
        xlabel="predicted first",
        xlim=(-0.5, end),
        ylim=(end, -0.5),
        xticks=range(len(labels)),
        yticks=range(len(labels)),
    )
    axes.set_xticklabels(shortened, rotation=32, ha="right", fontsize=8)
    axes.set_yticklabels(shortened, fontsize=8)
    axes.grid(visible=False)


SECTION = ReportSection("one-label", "One label for each instance", show_single_label)
