"""How far a run's probabilities can be believed, as ``ovaflow calibration-curve`` measured it."""

from dataclasses import dataclass

from ovaflow.console.errors import InputError
from ovaflow.prediction.calibration import FILE_NAME, Calibration, read_calibration
from ovaflow.report import calibration_figures, tables, wording
from ovaflow.storage.texts import read_json


@dataclass(frozen=True)
class CalibrationOfRun:
    """A run's calibration, measured on the test set.

    Attributes
    ----------
    sigmoids : Calibration
    instances : int
        Held out.
    share : float
        Of the training instances.
    k : int
        Probabilities of the best k labels were looked at.
    probabilities, thresholds : list of dict
        See :func:`ovaflow.evaluation.calibration_curve.calibration_curve`.
    """

    sigmoids: Calibration
    instances: int
    share: float
    k: int
    probabilities: list
    thresholds: list


def read_calibration_of(folder, model):
    """Read a run's calibration.

    Parameters
    ----------
    folder : pathlib.Path
        Of the run.
    model : str
        Checksum of its model; a calibration of another one, or measurements of
        another calibration, count as not there.

    Returns
    -------
    CalibrationOfRun or None

    Raises
    ------
    InputError
        If a file holds something else.
    """
    path = folder / "calibration.json"
    if not (path.exists() and (folder / FILE_NAME).exists()):
        return None
    calibration = read_calibration(folder / FILE_NAME)
    try:
        measured = read_json(path, "calibration-curve")
        checksum = measured["calibration"]
        shown = measured["k"], measured["probabilities"], measured["thresholds"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"no calibration curve ({error})", path=path, remedy="run calibration-curve again") from None
    if calibration.inputs.get("model") != model or checksum != calibration.checksum:
        return None
    held_out = (calibration.parameters[name] for name in ("instances", "fraction"))
    return CalibrationOfRun(calibration, *held_out, *shown)


def probability_table(run):
    """Errors of a run's probabilities, one row a way to them.

    Parameters
    ----------
    run : Run
        With a calibration.

    Returns
    -------
    Table
    """
    columns = [
        tables.Column("calibration error", hint="mean difference of probability and share of hits, in percent"),
        tables.Column("Brier score", hint="mean squared error of the probabilities"),
        tables.Column("log loss"),
    ]
    ways = run.calibration.probabilities
    cells = [
        [
            tables.figure(way["ece"], lambda value: f"{wording.percent(value, 1)} %"),
            tables.figure(way["brier"], wording.decimal),
            tables.figure(way["log_loss"], wording.decimal),
        ]
        for way in ways
    ]
    return _table(
        "probabilities", f"Probabilities of {run.name}", columns, ways, tables.mark_columns(cells, [True] * 3)
    )


def threshold_table(run):
    """F1 of a run at its thresholds, one row a way to choose labels.

    Parameters
    ----------
    run : Run
        With a calibration.

    Returns
    -------
    Table
    """
    columns = [tables.Column(name) for name in ("macro-F1", "micro-F1", "labels per instance")]
    ways = run.calibration.thresholds
    cells = [[*(tables.figure(way[name], wording.percent) for name in ("macro-F1", "micro-F1"))] for way in ways]
    marked = tables.mark_columns(cells, [False] * 2)
    for row, way in zip(marked, ways, strict=True):
        row.append(tables.figure(way["predicted"], wording.decimal))
    return _table("labels predicted from", f"Thresholds of {run.name}", columns, ways, marked)


def _table(corner, title, columns, ways, cells):
    rows = [tables.Row(way["name"], row) for way, row in zip(ways, cells, strict=True)]
    return tables.Table(corner, columns, rows, title)


def show(anchor, section):
    """Tables and figure of the section.

    Parameters
    ----------
    anchor : str
        Of the dataset, for names that are unique on the page.
    section : Section

    Returns
    -------
    dict or None
        None leaves the section out.
    """
    runs = [run for run in section.shown if run.calibration is not None]
    if not runs:
        return None
    return {
        "runs": runs,
        "reliability": calibration_figures.reliability(f"{anchor}.reliability", runs),
        "tables": [(run, probability_table(run), threshold_table(run)) for run in runs],
    }
