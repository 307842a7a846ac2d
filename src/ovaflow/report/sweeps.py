"""The section Sweeps: what each value of C changes in quality and cost."""

from ovaflow.report import wording
from ovaflow.report.drawing import MARKERS, draw, series, values_axis
from ovaflow.report.tables import Column, Row, make_table, metric
from ovaflow.report.training import newton_per_label

METRICS = ("P@1", "P@3", "P@5", "PSP@1")


def read_sweeps(sweeps, runs):
    """Runs of each sweep, of a dataset's, by ascending value."""
    members = {sweep: [run for run in runs if run.name in names] for sweep, names in sweeps.items()}
    return {sweep: sorted(runs, key=_value) for sweep, runs in members.items() if runs}


def _value(run):
    return float(run.settings["C"])


def _unmoved(run):
    return run.training and int((run.training.newton_steps == 0).sum())


COLUMNS = (
    *(Column(name, metric(name), wording.percent, best=max) for name in METRICS),
    Column("weights", metric("nonzeros"), wording.count, "model", "nonzero weights after pruning"),
    Column("time", metric("train_seconds"), wording.duration, "training", "processor time of the solver"),
    Column("Newton", newton_per_label, wording.decimal, "training", "steps per label"),
    Column("no step", _unmoved, wording.count, "training", "labels whose start already met the stopping rule"),
)
"""Quality and cost of each value."""


def show(anchor, results):
    """Table and figure of each sweep."""
    views = []
    for number, (name, runs) in enumerate(results.sweeps.items(), 1):
        drawing = _draw(f"{anchor}.sweep-{number}-quality", runs)
        views.append({"name": name, "table": _table(name, runs), "drawing": drawing, "lines": LINES})
    return views


def _table(sweep, runs):
    return make_table(
        f"Sweep {sweep}", "C", COLUMNS, runs, lambda run, cells: Row(run.settings["C"], cells, hint=run.name)
    )


def _draw(name, runs):
    caption = "Quality by C: beyond its peak the classifiers overfit the training data."
    return draw(name, "Metrics by C", caption, _paint, runs)


def _paint(axes, runs):
    for number, name in enumerate(METRICS):
        measured = [run for run in runs if name in run.metrics]
        x, y = [_value(run) for run in measured], [100 * run.metrics[name] for run in measured]
        axes.plot(x, y, color=series(number), marker=MARKERS[number], markersize=4.5, linewidth=1.5)
        axes.keep(name, x=x, y=y)
    values_axis(axes, "C", sorted({_value(run) for run in runs}))
    axes.grid(axis="x", visible=False)
    axes.set(ylabel="%")
    axes.set_ylim(bottom=0)


LINES = [{"series": number, "name": name} for number, name in enumerate(METRICS)]
"""The figure's legend."""
