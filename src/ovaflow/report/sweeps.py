"""The section on sweeps: what a setting's value changes, and what training each value from its neighbour saved."""

from functools import partial

from ovaflow.report import wording
from ovaflow.report.drawing import MARKERS, draw, series, values_axis
from ovaflow.report.tables import Column, Row, make_table, metric
from ovaflow.report.training import newton_per_label

METRICS = ("P@1", "P@3", "P@5", "PSP@1")


def read_sweeps(sweeps, runs):
    """Runs of each sweep, of a dataset's, by ascending value."""
    found = {name: [run for run in runs if run.name in members] for name, members in sweeps.items()}
    return {name: sorted(members, key=_value) for name, members in found.items() if members}


def _value(run):
    return float(run.settings["C"])


def _saved(name):
    """Share of the cold start's steps or time that starting from the neighbour saves."""

    def value(run):
        sample = run.cold_start
        return 1 - sample["warm"][name] / sample["cold"][name] if sample and sample["cold"][name] else None

    return value


def _unmoved(run):
    return run.training and int((run.training.newton_steps == 0).sum())


def _difference(run):
    return run.cold_start and run.cold_start["objective_difference"]


_whole_percent = partial(wording.percent, digits=0)
_NEIGHBOUR = "saved by the neighbour, %"
COLUMNS = (
    *(Column(name, metric(name), wording.percent, best=max) for name in METRICS),
    Column("weights", metric("nonzeros"), wording.count, "model", "nonzero weights after pruning"),
    Column("time", metric("train_seconds"), wording.duration, "training", "processor time of the solver"),
    Column("Newton", newton_per_label, wording.decimal, "training", "steps per label"),
    Column("no step", _unmoved, wording.count, "training", "labels whose start already met the stopping rule"),
    Column("steps", _saved("newton_steps"), _whole_percent, _NEIGHBOUR, "Newton steps, in the sample"),
    Column("time", _saved("seconds"), _whole_percent, _NEIGHBOUR, "processor time of the solver, in the sample"),
    Column(
        "differs, %",
        _difference,
        wording.percent,
        "objective",
        "largest difference between the two starts, in the sample",
    ),
)
"""Quality and cost of each value."""


def show(anchor, results):
    """Table and figures of each sweep."""
    return [
        _view(f"{anchor}.sweep-{number}", name, runs) for number, (name, runs) in enumerate(results.sweeps.items(), 1)
    ]


def _view(anchor, sweep, runs):
    quality = {
        each: [(_value(run), 100 * run.metrics[each]) for run in runs if each in run.metrics] for each in METRICS
    }
    caption = "Quality by C: beyond its peak the classifiers overfit the training data."
    figures = [_draw(f"{anchor}-quality", "Metrics by C", caption, "%", quality, quality)]
    cold = [run for run in runs if run.cold_start]
    # the sample solved from a cold start is the same for all values
    sample = cold[0].cold_start if cold else None
    if sample:
        steps = {
            start: [(_value(run), run.cold_start[side]["newton_steps"]) for run in cold]
            for start, side in (("cold start", "cold"), ("neighbour", "warm"))
        }
        legend = [f"{sample['initialization']} start", "neighbour"]
        caption = "Newton steps of a label by C, in the sample: what the neighbour’s weights save."
        figures.append(_draw(f"{anchor}-steps", "Newton steps by C", caption, "Newton steps", steps, legend))

    def row_of(run, cells):
        return Row(run.settings["C"], cells, hint=run.name)

    table = make_table(f"Sweep {sweep}", "C", COLUMNS, runs, row_of)
    return {"name": sweep, "sample": sample, "table": table, "figures": figures}


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
