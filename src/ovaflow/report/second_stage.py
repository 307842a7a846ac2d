"""Tables and figures of second stages, from reliability.json, and the section Second stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ovaflow.evaluation.analysis import LabelOutcomes, count_outcomes
from ovaflow.evaluation.metric import is_metric
from ovaflow.report import wording
from ovaflow.report.drawing import PAGE_COLOURS, RecordingAxes, draw_figure, draw_line
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Cell, Column, Row, Table, make_table
from ovaflow.reranking.evidence.kinds import KINDS

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run

MIN_LABELS_OF_BIN = 10
"""Ranges of probabilities with fewer labels are not drawn."""

ASSIGNMENT_LEVELS = (0.5, 0.7, 0.8, 0.9)
"""Least probabilities in the table of labels that can be assigned automatically."""


def get_reliability(run: Run) -> dict[str, Any]:
    """Return reliability.json of a run whose predictions a second stage made; else empty."""
    return run.reliability if run.reranked else {}


def read_outcomes(run: Run) -> LabelOutcomes | None:
    """Count the labels that a run suggests, finds and misses.

    None without a second stage or true labels.
    """
    if not (run.reranked and run.has_test_labels):
        return None
    return count_outcomes(run.measured)


def draw_reliability(anchor: str, runs: Sequence[Run]) -> dict[str, Any] | None:
    """Draw the share of right labels by probability; None where no run has probabilities."""
    with_probabilities = [run for run in runs if get_reliability(run)]
    if not with_probabilities:
        return None
    title = "Labels that are right, by probability"
    caption = (
        "On the dashed line, probabilities equal the share of right labels. "
        f"Groups of fewer than {MIN_LABELS_OF_BIN} labels are left out."
    )
    name = f"{anchor}.reliability"
    drawing = draw_figure(name, title, caption, _paint, with_probabilities)
    return {"runs": with_probabilities, "drawing": drawing}


def _paint(axes: RecordingAxes, runs: Sequence[Run]) -> None:
    axes.plot((0, 100), (0, 100), color=PAGE_COLOURS["muted"], linestyle=(0, (4, 3)), linewidth=1.1)
    for run in runs:
        bins = get_reliability(run)["probabilities"]["bins"]
        shown = [group for group in bins if group["predictions"] >= MIN_LABELS_OF_BIN]
        probabilities = [100 * group["probability"] for group in shown]
        hits = [100 * group["hits"] for group in shown]
        draw_line(axes, run, probabilities, hits, markevery=1)
    axes.set(
        xlabel="probability in %",
        ylabel="labels that are right, in %",
        xlim=(-2, 102),
        ylim=(-2, 102),
    )


def make_assignment_table(runs: Sequence[Run]) -> Table | None:
    """Make the table of labels that can be assigned automatically, all runs side by side.

    None where no run has probabilities.
    """
    columns = []
    for run in runs:
        rows = {row["probability"]: row for row in get_reliability(run).get("automatic", ())}
        if rows:
            columns += _make_assignment_columns(run, rows)
    if not columns:
        return None
    title = "Labels that can be assigned automatically"
    return make_table(title, "probability", columns, ASSIGNMENT_LEVELS, _make_level_row)


def _make_assignment_columns(run: Run, rows: dict[float, dict[str, Any]]) -> list[Column]:
    def level_getter(name: str) -> Callable[[float], float]:
        return lambda level: rows[level][name]

    titles = (
        ("right, %", "precision", "of these labels"),
        ("found, %", "recall", "of all true labels"),
        ("texts, %", "instances", "that get a label"),
    )
    columns = []
    for title, name, hint in titles:
        columns.append(
            Column(title, level_getter(name), wording.short_percent, run.name, hint, "fraction")
        )
    return columns


def _make_level_row(level: float, cells: list[Cell]) -> Row:
    return Row(f"at least {100 * level:g} %", cells)


def show_second_stage(results: DatasetResults) -> dict[str, Any] | None:
    """Show the quality of each order of labels, and the importance of each kind of evidence.

    Of a second stage that is not used, the reason is shown. None without a second stage.
    """
    runs = [run for run in results.runs if run.reliability]
    if not runs:
        return None
    used = [run for run in runs if run.reranked]
    by_score = []
    by_evidence = []
    for run in used:
        if run.reliability["fitted"]["check"].get("order") == "score":
            by_score.append(run)
        else:
            by_evidence.append(run)
    return {
        "unused": [run for run in runs if not run.reranked],
        "by_score": by_score,
        "quality": _make_quality_table(used),
        "evidence": _make_evidence_table(by_evidence),
    }


class _Order(NamedTuple):
    """An order of a run's labels, with its metrics, and these on samples of the test instances."""

    run: Run
    name: str
    metrics: dict[str, Any]
    samples: dict[str, np.ndarray]


def _make_quality_table(runs: Sequence[Run]) -> Table:
    orders = []
    for run in runs:
        orders += _list_orders(run)
    return make_table(
        "Quality with a second stage", "run", QUALITY_COLUMNS, orders, _make_order_row
    )


def _list_orders(run: Run) -> list[_Order]:
    *first_labels, fitting = run.reliability["suggested"]
    # the first 5 labels, or as many as there are
    answer = first_labels[:5][-1]
    first = f"first {answer['name']}"
    orders = [_Order(run, "by score alone", run.metrics["first_stage"], run.first_stage_samples)]
    if run.by_probability:
        orders.append(_Order(run, f"by probability, {first}", run.metrics | answer, run.samples))
    else:
        # the answer is measured in the order of probability, the metrics are not
        metrics = {name: value for name, value in run.metrics.items() if is_metric(name)}
        orders.append(_Order(run, f"for macro-F1, {first}", metrics, run.samples))
        orders.append(_Order(run, f"by probability, {first}", answer, {}))
    samples = {"F1": run.samples["F1-fit"]}
    orders.append(_Order(run, "labels that fit", fitting, samples))
    return orders


def _make_order_row(order: _Order, cells: list[Cell]) -> Row:
    return Row(order.run.name, cells, order.run.series, order.name)


def _make_order_column(
    title: str,
    name: str,
    group: str = "",
    text: Callable[[Any], str] = wording.percent,
    unit: str = "fraction",
) -> Column:
    return Column(
        title,
        lambda order: order.metrics.get(name),
        text,
        group,
        unit=unit,
        samples=lambda order: order.samples.get(name),
    )


_MEANS = "means over test instances"
QUALITY_COLUMNS = (
    _make_order_column("P@1", "P@1"),
    _make_order_column("P@3", "P@3"),
    _make_order_column("P@5", "P@5"),
    _make_order_column("nDCG@5", "nDCG@5"),
    _make_order_column("F1", "F1", _MEANS),
    _make_order_column("precision", "P", _MEANS),
    _make_order_column("recall", "R", _MEANS),
    _make_order_column("labels", "labels", _MEANS, wording.decimal, ""),
)


def _make_evidence_table(runs: Sequence[Run]) -> Table:
    """Make the table of permutation importance: a row for each kind of evidence."""
    columns = []
    sources: set[str] = set()
    for run in runs:
        check = run.reliability["fitted"]["check"]
        hint = f"on {check['texts']:,} held-out instances"
        lost = check["lost"]
        columns.append(
            Column(
                run.name, lost.get, wording.short_percent, "points of nDCG@5 lost", hint, "fraction"
            )
        )
        sources |= lost.keys()
    rows = [kind.name for kind in KINDS if kind.name in sources]
    rows += sorted(sources.difference(rows))
    return make_table("Importance of the evidence", "evidence", columns, rows, Row)


SECTION = ReportSection("second-stage", "Second stage", show_second_stage, folded=True)
