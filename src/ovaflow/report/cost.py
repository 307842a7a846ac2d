"""The section on cost: time, steps, memory and size."""

from ovaflow.report import wording
from ovaflow.report.tables import Column, Table, figure, mark_columns, named_rows


def show(anchor, section):
    """Table of the section.

    Parameters
    ----------
    anchor : str
    section : Section

    Returns
    -------
    dict
    """
    return {"table": cost_table(section.runs)}


COSTS = (
    (Column("time", "training", "seconds times threads of the solver", unit="s"), "train_seconds", wording.duration),
    (Column("ms / label", "training", "per trained label"), "milliseconds_per_label", wording.decimal),
    (Column("Newton", "steps / label"), "newton_per_label", wording.decimal),
    (Column("CG", "steps / label"), "cg_per_label", wording.decimal),
    (
        Column("peak memory", "training", "largest resident memory of a shard job", unit="bytes"),
        "peak_rss_bytes",
        wording.size,
    ),
    (Column("weights", "model", "nonzero weights after pruning"), "nonzeros", wording.count),
    (Column("per label", "model", "nonzero weights per trained label"), "nonzeros_per_label", wording.count),
    (Column("size", "model", "bytes of the model file", unit="bytes"), "model_bytes", wording.size),
    (Column("time", "prediction", "wall time for the whole test set", unit="s"), "predict_seconds", wording.duration),
    (Column("ms / instance", "prediction"), "predict_milliseconds_per_instance", wording.decimal),
)
"""Heading, attribute of a run and wording of each column of :func:`cost_table`; less is better everywhere."""


def cost_table(runs):
    """What each run cost: time, steps, memory, model size.

    Parameters
    ----------
    runs : sequence of Run

    Returns
    -------
    Table
        Without the columns that no run recorded.
    """
    known = [cost for cost in COSTS if any(getattr(run, cost[1]) is not None for run in runs)]
    known.sort(key=lambda cost: ("training", "steps / label", "model", "prediction").index(cost[0].group))
    rows = [[figure(getattr(run, attribute), words) for _, attribute, words in known] for run in runs]
    return Table(
        "run", [column for column, _, _ in known], named_rows(runs, mark_columns(rows, [True] * len(known))), "Cost"
    )
