"""The section on probabilities and thresholds, from calibration.h5 and calibration.json."""

from functools import partial
from operator import itemgetter

from ovaflow.prediction.calibration import FILE_NAME, read_calibration
from ovaflow.report import wording
from ovaflow.report.drawing import DOTTED, NAMED, FigureOfRuns, draw_all, line
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.storage.texts import read_json

LEAST_DRAWN = 10
"""Predictions of a group that is drawn."""


def read_calibration_of(folder, model):
    """A run's calibration with its measurement; None without one of this model."""
    path = folder / "calibration.json"
    if not (path.exists() and (folder / FILE_NAME).exists()):
        return None
    sigmoids = read_calibration(folder / FILE_NAME)
    measurement = read_json(path, "calibration-curve")
    if sigmoids.inputs.get("model") != model or measurement["calibration"] != sigmoids.checksum:
        return None
    return measurement | sigmoids.parameters | {"sigmoids": sigmoids}


def show(anchor, results):
    """Tables of each run, and reliability curves."""
    runs = [run for run in results.shown if run.calibration is not None]
    if not runs:
        return None
    tables = [_tables(run) for run in runs]
    return {"runs": runs, "figures": draw_all(anchor, runs, FIGURES), "tables": tables}


def _tables(run):
    def by_name(entry, cells):
        return Row(entry["name"], cells)

    def by_level(entry, cells):
        return Row(f"{100 * entry['probability']:g} %", cells)

    def table(title, corner, columns, name, row_of):
        return make_table(title, corner, columns, run.calibration[name], row_of)

    least = f"Labels of {run.name} by least probability"
    probabilities, thresholds = f"Probabilities of {run.name}", f"Thresholds of {run.name}"
    return {
        "run": run,
        "probabilities": table(probabilities, "probabilities", PROBABILITIES, "probabilities", by_name),
        "thresholds": table(thresholds, "labels predicted by", THRESHOLDS, "thresholds", by_name),
        "automatic": table(least, "probability of at least", AUTOMATIC, "automatic", by_level),
    }


_one_digit = partial(wording.percent, digits=1)


def _error(value):
    return f"{_one_digit(value)} %"


_ERROR = "mean difference between probability and share of hits, in percent"
_BRIER = "mean squared error of the probabilities"
PROBABILITIES = (
    Column("calibration error", itemgetter("ece"), _error, hint=_ERROR, best=min),
    Column("Brier score", itemgetter("brier"), wording.decimal, hint=_BRIER, best=min),
    Column("log loss", itemgetter("log_loss"), wording.decimal, best=min),
)
THRESHOLDS = (
    Column("macro-F1", itemgetter("macro-F1"), wording.percent, best=max),
    Column("micro-F1", itemgetter("micro-F1"), wording.percent, best=max),
    Column("labels per instance", itemgetter("predicted"), wording.decimal),
)


def _fraction(title, name, group, hint=""):
    return Column(title, itemgetter(name), _one_digit, group, hint, "fraction")


AUTOMATIC = (
    Column("labels", itemgetter("predictions"), wording.count, hint="of all test instances together"),
    _fraction("right", "precision", "labels, %"),
    _fraction("expected", "expected", "labels, %", "mean of their probabilities"),
    _fraction("found", "recall", "labels, %", "recall"),
    _fraction("with a label", "instances", "test instances, %", "that get at least one label"),
    Column("labels each", itemgetter("labels"), wording.decimal),
)


def _paint_reliability(axes, runs):
    axes.plot((0, 100), (0, 100), color=NAMED["muted"], linestyle=(0, (4, 3)), linewidth=1.1)
    for run in runs:
        scores, *_, best = run.calibration["probabilities"]
        _paint_curve(axes, run, scores, linestyle=DOTTED, marker=None)
        _paint_curve(axes, run, best)
    axes.set(xlabel="probability in %", ylabel="true of these in %", xlim=(-2, 102), ylim=(-2, 102))


def _paint_curve(axes, run, curve, **style):
    bins = [each for each in curve["bins"] if each["predictions"] >= LEAST_DRAWN]
    x, y = [100 * each["probability"] for each in bins], [100 * each["hits"] for each in bins]
    line(axes, run, x, y, f"{run.name}, {curve['name']}", markevery=1, **style)


FIGURES = (
    FigureOfRuns(
        "reliability",
        "Share of hits by probability",
        "Share of true labels among those predicted with a probability (solid), and if the scores are taken for "
        "log-odds (dotted). On the dashed line, probabilities mean what they say. Groups of fewer than ten "
        "predictions are not drawn.",
        _paint_reliability,
    ),
)
