"""Sweeps: what a setting's value changes, and what training each value from its neighbour saved."""

from dataclasses import dataclass

from ovaflow.console.errors import InputError
from ovaflow.model.model_file import KIND as MODEL
from ovaflow.report import sweep_figures, tables, wording
from ovaflow.storage.artifact import open_artifact, parameters_of
from ovaflow.storage.texts import read_json

METRICS = ("P@1", "P@3", "P@5", "PSP@1")
"""Metrics that are shown against the values."""


@dataclass(frozen=True)
class ColdStart:
    """A sample of labels solved from the neighbour's weights and from a cold start.

    Attributes
    ----------
    initialization : str
        The cold start.
    labels, of : int
        Size of the sample, and labels with positives.
    cold_newton, warm_newton, cold_seconds, warm_seconds : float
        Means over the sample.
    objective_difference : float
        The largest, relative to the cold start's.
    """

    initialization: str
    labels: int
    of: int
    cold_newton: float
    warm_newton: float
    cold_seconds: float
    warm_seconds: float
    objective_difference: float

    @property
    def steps_saved(self):
        """Share of the cold start's Newton steps."""
        return _saved(self.warm_newton, self.cold_newton)

    @property
    def time_saved(self):
        """Share of the cold start's time."""
        return _saved(self.warm_seconds, self.cold_seconds)


def _saved(warm, cold):
    return 1 - warm / cold if cold else None


@dataclass(frozen=True)
class Value:
    """A value of a sweep.

    Attributes
    ----------
    C : float
    run : Run
    cold_start : ColdStart or None
        None for the first value, which starts as the sweep says.
    """

    C: float
    run: object
    cold_start: ColdStart | None


@dataclass(frozen=True)
class Sweep:
    """A sweep on a dataset.

    Attributes
    ----------
    name : str
    values : list of Value
        Ascending.
    """

    name: str
    values: list

    @property
    def sample(self):
        """A cold start's sample, which is the same for all values; None where none was solved."""
        return next((value.cold_start for value in self.values if value.cold_start is not None), None)


def read_sweeps(sweeps, folder, runs):
    """Sweeps whose runs are among some runs of a dataset.

    Parameters
    ----------
    sweeps : dict of str to list of str
        Names of the runs of each sweep.
    folder : pathlib.Path
        Of the dataset.
    runs : list of Run

    Returns
    -------
    list of Sweep
    """
    by_name = {run.name: run for run in runs}
    found = {name: [by_name[run] for run in members if run in by_name] for name, members in sweeps.items()}
    return [
        Sweep(name, sorted((_value(folder / run.name, run) for run in members), key=lambda value: value.C))
        for name, members in found.items()
        if members
    ]


def _value(folder, run):
    with open_artifact(folder / "model.h5", MODEL) as file:
        C = float(parameters_of(file)["train"]["C"])
    path = folder / "cold_start.json"
    return Value(C, run, read_cold_start(path) if path.exists() else None)


def read_cold_start(path):
    """Read what ``ovaflow cold-start`` wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ColdStart

    Raises
    ------
    InputError
        If the file holds something else.
    """
    try:
        figures = read_json(path, "cold-start")
        cold, warm = figures["cold"], figures["warm"]
        return ColdStart(
            str(figures["initialization"]),
            int(figures["labels"]),
            int(figures["of"]),
            *(float(side["newton_steps"]) for side in (cold, warm)),
            *(float(side["seconds"]) for side in (cold, warm)),
            float(figures["objective_difference"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError("no figures of a cold start", path=path, remedy="delete it and run cold-start again") from None


def sweep_table(sweep):
    """Quality and cost of each value.

    Parameters
    ----------
    sweep : Sweep

    Returns
    -------
    tables.Table
    """
    columns = [tables.Column(name) for name in METRICS]
    columns += [
        tables.Column("weights", "model", "nonzero weights after pruning"),
        tables.Column("time", "training", "seconds times threads of the solver"),
        tables.Column("Newton", "training", "steps per label"),
        tables.Column("no step", "training", "labels whose start met the stopping rule already"),
        tables.Column("steps", "saved by the neighbour, %", "Newton steps, in the sample"),
        tables.Column("time", "saved by the neighbour, %", "processor time of the solver, in the sample"),
        tables.Column("differs, %", "objective", "at most, between the two starts in the sample"),
    ]
    quality = tables.mark_columns([_quality_cells(value.run) for value in sweep.values])
    rows = [
        tables.Row(f"{value.C:g}", cells + _cost_cells(value), hint=value.run.name)
        for value, cells in zip(sweep.values, quality, strict=True)
    ]
    return tables.Table("C", columns, rows, f"Sweep {sweep.name}")


def _quality_cells(run):
    return [tables.figure(run.metrics.get(name), wording.percent) for name in METRICS]


def _cost_cells(value):
    run, cold = value.run, value.cold_start
    unmoved = None if run.training is None else int((run.training.newton_steps == 0).sum())
    return [
        tables.figure(run.nonzeros, wording.count),
        tables.figure(run.train_seconds, wording.duration),
        tables.figure(run.newton_per_label, wording.decimal),
        tables.figure(unmoved, wording.count),
        tables.figure(cold and cold.steps_saved, lambda share: wording.percent(share, 0)),
        tables.figure(cold and cold.time_saved, lambda share: wording.percent(share, 0)),
        tables.figure(cold and cold.objective_difference, wording.percent),
    ]


def show(anchor, section):
    """Tables and figures of each sweep.

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
    return [_view(f"{anchor}.sweep-{number}", sweep) for number, sweep in enumerate(section.sweeps, 1)] or None


def _view(name, sweep):
    metrics = [{"series": number, "name": metric} for number, metric in enumerate(METRICS)]
    cold = sweep.sample and [value for value in sweep.values if value.cold_start is not None]
    starts = [f"{sweep.sample.initialization} start", "neighbour"] if cold else []
    return {
        "sweep": sweep,
        "table": sweep_table(sweep),
        "metrics": metrics,
        "quality": sweep_figures.metrics_by_value(f"{name}-quality", sweep.values, METRICS),
        "starts": [{"series": number, "name": start} for number, start in enumerate(starts)],
        "steps": sweep_figures.steps_by_value(f"{name}-steps", cold) if cold else None,
    }
