"""The section Cost and size: costs of each run, and the quality that a smaller model would lose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ovaflow.report import wording
from ovaflow.report.pruning import draw_pruning_choice
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, make_table_by_run, metric_getter
from ovaflow.report.training import steps_getter
from ovaflow.reranking.reranker_file import FILE_NAME

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run


def _compute_milliseconds_per_label(run: Run) -> float | None:
    if run.training_seconds is None or not run.n_trained:
        return None
    return 1000 * run.training_seconds / run.n_trained


def _compute_weights_per_label(run: Run) -> float | None:
    nonzeros = run.metrics.get("nonzeros")
    if nonzeros is None or not run.n_trained:
        return None
    return nonzeros / run.n_trained


def _get_bytes_of_second_stage(run: Run) -> int | None:
    path = run.folder / FILE_NAME
    if not run.reranked or not path.exists():
        return None
    return path.stat().st_size


TRAINING_COLUMN = Column(
    "training",
    lambda run: run.training_seconds,
    wording.duration,
    hint="processor time of the solver",
    unit="s",
)
MODEL_COLUMN = Column(
    "model", metric_getter("model_bytes"), wording.size, hint="model.h5", unit="bytes"
)
COST_COLUMNS = (
    TRAINING_COLUMN,
    Column("training per label", _compute_milliseconds_per_label, wording.milliseconds),
    Column(
        "memory", lambda run: run.training_memory, wording.size, hint="of the largest training job"
    ),
    Column("Newton steps", steps_getter("newton_steps"), wording.decimal, hint="per label"),
    Column("CG steps", steps_getter("cg_steps"), wording.decimal, hint="per label"),
    MODEL_COLUMN,
    Column("second stage", _get_bytes_of_second_stage, wording.size, hint=FILE_NAME),
    Column("weights", metric_getter("nonzeros"), wording.count),
    Column("weights per label", _compute_weights_per_label, wording.count),
    Column(
        "prediction",
        lambda run: run.predict_milliseconds,
        wording.milliseconds,
        hint="wall time of a test text",
    ),
)
"""Costs of a run; each has a row in the table."""


def show_costs(results: DatasetResults) -> dict[str, Any]:
    """Show the costs of all runs, and quality by size of the models."""
    return {
        "table": make_table_by_run("Cost and size", "", COST_COLUMNS, results.runs),
        "size": draw_pruning_choice(results.anchor, results.shown_runs),
    }


SECTION = ReportSection("cost", "Cost and size", show_costs)
