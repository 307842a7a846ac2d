"""The section on sweeps: what a setting's value changes, and what training each value from its neighbour saved."""

from functools import partial
from typing import Any, NamedTuple

from ovaflow.model.model_file import KIND as MODEL
from ovaflow.report import wording
from ovaflow.report.drawing import MARKERS, draw, series, values_axis
from ovaflow.report.tables import Column, Row, Table, cell, mark_columns
from ovaflow.storage.artifact import open_artifact, parameters_of
from ovaflow.storage.texts import read_json

METRICS = ("P@1", "P@3", "P@5", "PSP@1")


class Value(NamedTuple):
    """A value of a sweep."""

    C: float
    run: Any
    cold_start: dict | None  # see ovaflow.training.cold_start; None for the first value, which starts as the sweep says


class SweepOfRuns(NamedTuple):
    """A sweep on a dataset, its values ascending."""

    name: str
    values: list

    @property
    def sample(self):
        """The sample solved from a cold start, which is the same for all values; None where none was solved."""
        return next((value.cold_start for value in self.values if value.cold_start), None)


def read_sweeps(sweeps, folder, runs):
    """Sweeps, given by the names of their runs, with those of a dataset's runs that they have."""
    by_name = {run.name: run for run in runs}
    found = {
        name: [_read_value(folder / run, by_name[run]) for run in members if run in by_name]
        for name, members in sweeps.items()
    }
    return [SweepOfRuns(name, sorted(values, key=lambda value: value.C)) for name, values in found.items() if values]


def _read_value(folder, run):
    with open_artifact(folder / "model.h5", MODEL) as file:
        C = float(parameters_of(file)["train"]["C"])
    path = folder / "cold_start.json"
    return Value(C, run, read_json(path, "cold-start") if path.exists() else None)


def sweep_table(sweep):
    """Quality and cost of each value."""
    columns = [Column(name) for name in METRICS]
    columns += [
        Column("weights", "model", "nonzero weights after pruning"),
        Column("time", "training", "seconds times threads of the solver"),
        Column("Newton", "training", "steps per label"),
        Column("no step", "training", "labels whose start already met the stopping rule"),
        Column("steps", "saved by the neighbour, %", "Newton steps, in the sample"),
        Column("time", "saved by the neighbour, %", "processor time of the solver, in the sample"),
        Column("differs, %", "objective", "at most, between the two starts in the sample"),
    ]
    quality = mark_columns(
        [[cell(run.metrics.get(name), wording.percent) for name in METRICS] for _, run, _ in sweep.values]
    )
    rows = [
        Row(f"{value.C:g}", cells + _cost_cells(value.run, value.cold_start), hint=value.run.name)
        for value, cells in zip(sweep.values, quality, strict=True)
    ]
    return Table("C", columns, rows, f"Sweep {sweep.name}")


def _cost_cells(run, sample):
    unmoved = run.training and int((run.training.newton_steps == 0).sum())
    whole_percent = partial(wording.percent, digits=0)
    return [
        cell(run.metrics.get("nonzeros"), wording.count),
        cell(run.metrics.get("train_seconds"), wording.duration),
        cell(run.training and run.training.newton_per_label, wording.decimal),
        cell(unmoved, wording.count),
        cell(_saved(sample, "newton_steps"), whole_percent),
        cell(_saved(sample, "seconds"), whole_percent),
        cell(sample and sample["objective_difference"], wording.percent),
    ]


def _saved(sample, name):
    """Share of the cold start's steps or time."""
    return 1 - sample["warm"][name] / sample["cold"][name] if sample and sample["cold"][name] else None


def show(anchor, results):
    """Table and figures of each sweep."""
    return [_view(f"{anchor}.sweep-{number}", sweep) for number, sweep in enumerate(results.sweeps, 1)] or None


def _view(name, sweep):
    quality = {
        metric: [(value.C, 100 * value.run.metrics[metric]) for value in sweep.values if metric in value.run.metrics]
        for metric in METRICS
    }
    caption = "Quality by C: beyond its peak the classifiers fit what is peculiar to the training data."
    figures = [_draw(f"{name}-quality", "Metrics by C", caption, "%", quality, quality)]
    if sweep.sample:
        cold = [value for value in sweep.values if value.cold_start]
        steps = {
            start: [(value.C, value.cold_start[side]["newton_steps"]) for value in cold]
            for start, side in (("cold start", "cold"), ("neighbour", "warm"))
        }
        legend = [f"{sweep.sample['initialization']} start", "neighbour"]
        caption = "Newton steps of a label by C, in the sample: what the neighbour’s weights save."
        figures.append(_draw(f"{name}-steps", "Newton steps by C", caption, "Newton steps", steps, legend))
    return {"sweep": sweep, "table": sweep_table(sweep), "figures": figures}


def _draw(name, title, caption, ylabel, lines, legend):
    """A figure of lines by C, with what its legend says."""
    drawing = draw(name, title, caption, partial(_paint, lines, ylabel))
    return drawing, [{"series": number, "name": text} for number, text in enumerate(legend)]


def _paint(lines, ylabel, axes):
    for number, (name, points) in enumerate(lines.items()):
        x, y = zip(*points, strict=True) if points else ((), ())
        axes.plot(x, y, color=series(number), marker=MARKERS[number], markersize=4.5, linewidth=1.5)
        axes.keep(name, x=x, y=y)
    values_axis(axes, "C", sorted({C for points in lines.values() for C, _ in points}))
    axes.grid(axis="x", visible=False)
    axes.set(ylabel=ylabel)
    axes.set_ylim(bottom=0)
