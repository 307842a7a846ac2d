"""The section Cost and size: what each run took and takes, and what a smaller model would lose."""

from ovaflow.report import wording
from ovaflow.report.pruning import draw_pruning_choice
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, make_figures_table, metric_getter
from ovaflow.report.training import steps_getter
from ovaflow.reranking.reranker_file import FILE_NAME


def _milliseconds_per_label(run):
    if run.training_seconds is None or not run.trained:
        return None
    return 1000 * run.training_seconds / run.trained


def _weights_per_label(run):
    nonzeros = run.metrics.get("nonzeros")
    return nonzeros / run.trained if nonzeros is not None and run.trained else None


def _bytes_of_second_stage(run):
    path = run.path / FILE_NAME
    return path.stat().st_size if run.reranked and path.exists() else None


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
    Column("training per label", _milliseconds_per_label, wording.milliseconds),
    Column(
        "memory", lambda run: run.training_memory, wording.size, hint="of the largest training job"
    ),
    Column("Newton steps", steps_getter("newton_steps"), wording.decimal, hint="per label"),
    Column("CG steps", steps_getter("cg_steps"), wording.decimal, hint="per label"),
    MODEL_COLUMN,
    Column("second stage", _bytes_of_second_stage, wording.size, hint=FILE_NAME),
    Column("weights", metric_getter("nonzeros"), wording.count),
    Column("weights per label", _weights_per_label, wording.count),
    Column(
        "prediction",
        lambda run: run.predict_milliseconds,
        wording.milliseconds,
        hint="wall time of a test text",
    ),
)
"""Figures of a run, one in each row of the table."""


def show_costs(anchor, results):
    return {
        "table": make_figures_table("Cost and size", "", COST_COLUMNS, results.runs),
        "size": draw_pruning_choice(anchor, results.shown),
    }


SECTION = ReportSection("cost", "Cost and size", show_costs)
