"""The section on probabilities and thresholds: how reliable they are, from calibration.h5 and calibration.json."""

from dataclasses import dataclass

from ovaflow.prediction.calibration import FILE_NAME, Calibration, read_calibration
from ovaflow.report import wording
from ovaflow.report.drawing import DOTTED, NAMED, draw_all, line
from ovaflow.report.tables import Column, Row, Table, cell, mark_columns
from ovaflow.storage.texts import read_json


@dataclass(frozen=True)
class CalibrationOfRun:
    """A run's calibration, and what it was found to be on the test set."""

    sigmoids: Calibration
    instances: int  # held out
    share: float  # of the training instances
    k: int  # probabilities of the best k labels were measured
    probabilities: list  # see ovaflow.evaluation.calibration_curve
    thresholds: list


def read_calibration_of(folder, model):
    """A run's calibration; None where there is none of this model, or it was not measured."""
    path = folder / "calibration.json"
    if not (path.exists() and (folder / FILE_NAME).exists()):
        return None
    sigmoids, measured = read_calibration(folder / FILE_NAME), read_json(path, "calibration-curve")
    if sigmoids.inputs.get("model") != model or measured["calibration"] != sigmoids.checksum:
        return None
    held_out = (sigmoids.parameters[name] for name in ("instances", "fraction"))
    return CalibrationOfRun(sigmoids, *held_out, measured["k"], measured["probabilities"], measured["thresholds"])


def show(anchor, results):
    """Tables of each run, and reliability curves."""
    runs = [run for run in results.shown if run.calibration is not None]
    if not runs:
        return None
    return {
        "runs": runs,
        "figures": draw_all(anchor, runs, FIGURES),
        "tables": [(run, probability_table(run), threshold_table(run)) for run in runs],
    }


def probability_table(run):
    """Errors of a run's probabilities, one row for each way to get them."""
    columns = [
        Column("calibration error", hint="mean difference of probability and share of hits, in percent"),
        Column("Brier score", hint="mean squared error of the probabilities"),
        Column("log loss"),
    ]
    ways = run.calibration.probabilities
    rows = [
        [
            cell(way["ece"], lambda value: f"{wording.percent(value, 1)} %"),
            cell(way["brier"], wording.decimal),
            cell(way["log_loss"], wording.decimal),
        ]
        for way in ways
    ]
    return _table("probabilities", f"Probabilities of {run.name}", columns, ways, mark_columns(rows, [True] * 3))


def threshold_table(run):
    """F1 of a run at its thresholds, one row for each way to choose labels."""
    columns = [Column(name) for name in ("macro-F1", "micro-F1", "labels per instance")]
    ways = run.calibration.thresholds
    rows = mark_columns([[cell(way[name], wording.percent) for name in ("macro-F1", "micro-F1")] for way in ways])
    rows = [[*row, cell(way["predicted"], wording.decimal)] for row, way in zip(rows, ways, strict=True)]
    return _table("labels predicted by", f"Thresholds of {run.name}", columns, ways, rows)


def _table(corner, title, columns, ways, rows):
    return Table(corner, columns, [Row(way["name"], row) for way, row in zip(ways, rows, strict=True)], title)


def _paint_reliability(axes, runs):
    axes.plot((0, 100), (0, 100), color=NAMED["muted"], linestyle=(0, (4, 3)), linewidth=1.1)
    for run in runs:
        scores, *_, best = run.calibration.probabilities
        for way, style in ((scores, {"linestyle": DOTTED, "marker": None}), (best, {})):
            bins = [each for each in way["bins"] if each["predictions"] > 9]
            x, y = ([100 * each[name] for each in bins] for name in ("probability", "hits"))
            line(axes, run, x, y, f"{run.name}, {way['name']}", **{"markevery": 1} | style)
    axes.set(xlabel="probability in %", ylabel="true of these in %", xlim=(-2, 102), ylim=(-2, 102))


FIGURES = (
    (
        "reliability",
        "Share of hits by probability",
        "Of the labels predicted with a probability, the share that is true (solid); dotted: the scores taken for "
        "log-odds as they are. On the dashed line, probabilities mean what they say. Groups of fewer than ten "
        "predictions are not drawn.",
        _paint_reliability,
    ),
)
