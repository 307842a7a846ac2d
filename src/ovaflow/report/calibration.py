"""The section on probabilities and thresholds: how reliable they are, from calibration.h5 and calibration.json."""

from functools import partial
from operator import itemgetter

from ovaflow.prediction.calibration import FILE_NAME, read_calibration
from ovaflow.report import wording
from ovaflow.report.drawing import DOTTED, NAMED, draw_all, line
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.storage.texts import read_json


def read_calibration_of(folder, model):
    """A run's calibration, and what was measured of it; None where there is none of this model."""
    path = folder / "calibration.json"
    if not (path.exists() and (folder / FILE_NAME).exists()):
        return None
    sigmoids, measured = read_calibration(folder / FILE_NAME), read_json(path, "calibration-curve")
    if sigmoids.inputs.get("model") != model or measured["calibration"] != sigmoids.checksum:
        return None
    return measured | sigmoids.parameters | {"sigmoids": sigmoids}


def show(anchor, results):
    """Tables of each run, and reliability curves."""
    runs = [run for run in results.shown if run.calibration is not None]
    if not runs:
        return None
    return {
        "runs": runs,
        "figures": draw_all(anchor, runs, FIGURES),
        "tables": [
            (
                run,
                _table(
                    f"Probabilities of {run.name}", "probabilities", PROBABILITIES, run.calibration["probabilities"]
                ),
                _table(f"Thresholds of {run.name}", "labels predicted by", THRESHOLDS, run.calibration["thresholds"]),
                _automatic(run),
            )
            for run in runs
        ],
    }


PROBABILITIES = (
    Column(
        "calibration error",
        itemgetter("ece"),
        lambda value: f"{wording.percent(value, 1)} %",
        hint="mean difference between probability and share of hits, in percent",
        best=min,
    ),
    Column(
        "Brier score", itemgetter("brier"), wording.decimal, hint="mean squared error of the probabilities", best=min
    ),
    Column("log loss", itemgetter("log_loss"), wording.decimal, best=min),
)
THRESHOLDS = (
    Column("macro-F1", itemgetter("macro-F1"), wording.percent, best=max),
    Column("micro-F1", itemgetter("micro-F1"), wording.percent, best=max),
    Column("labels per instance", itemgetter("predicted"), wording.decimal),
)


_TENTHS = partial(wording.percent, digits=1)
AUTOMATIC = (
    Column("labels", itemgetter("predictions"), wording.count, hint="of all test instances together"),
    Column("right", itemgetter("precision"), _TENTHS, "labels, %", unit="fraction"),
    Column("expected", itemgetter("expected"), _TENTHS, "labels, %", "mean of their probabilities", "fraction"),
    Column("found", itemgetter("recall"), _TENTHS, "labels, %", "recall", "fraction"),
    Column(
        "with a label", itemgetter("instances"), _TENTHS, "test instances, %", "that get at least one label", "fraction"
    ),
    Column("labels each", itemgetter("labels"), wording.decimal),
)


def _automatic(run):
    title = f"Labels of {run.name} by least probability"
    return make_table(
        title,
        "probability of at least",
        AUTOMATIC,
        run.calibration["automatic"],
        lambda level, cells: Row(f"{100 * level['probability']:g} %", cells),
    )


def _table(title, corner, columns, ways):
    return make_table(title, corner, columns, ways, lambda way, cells: Row(way["name"], cells))


def _paint_reliability(axes, runs):
    axes.plot((0, 100), (0, 100), color=NAMED["muted"], linestyle=(0, (4, 3)), linewidth=1.1)
    for run in runs:
        scores, *_, best = run.calibration["probabilities"]
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
