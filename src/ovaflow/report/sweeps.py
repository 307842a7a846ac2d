"""The sections Sweeps and Choices: what each value of a setting changes in quality and cost."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.ticker import NullFormatter

from ovaflow.evaluation.resampling import interval
from ovaflow.report import wording
from ovaflow.report.drawing import (
    MARKERS,
    draw_figure,
    get_series_colour,
)
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Cell, Column, Row, make_table, metric_getter, samples_getter
from ovaflow.report.training import read_training as read_training
from ovaflow.report.training import steps_getter
from ovaflow.settings.paths import CHOSEN_FEATURES
from ovaflow.storage.texts import read_json

SWEPT_METRICS = ("P@1", "P@3", "P@5", "PSP@1")
LEGEND = [
    {"series": number, "name": name} for number, name in enumerate(SWEPT_METRICS)
]  # the legend


class SweptRuns(NamedTuple):
    key: str  # the setting
    runs: list  # by ascending values, with their figures on the dev part where there is one
    n_dev: int | None  # dev instances; None: figures are those of the test set


def read_sweeps(sweeps, runs):
    """Runs by the setting that each sweep changes, C or the seed."""
    members = {name: [run for run in runs if run.name in names] for name, names in sweeps.items()}
    return {name: _sweep(runs) for name, runs in members.items() if runs}


def _sweep(runs):
    key = "seed" if len({run.settings.get("seed") for run in runs}) > 1 else "C"
    runs = sorted(runs, key=lambda run: float(run.settings[key]))
    on_dev = [run.on_dev for run in runs]
    if None in on_dev:
        return SweptRuns(key, runs, None)
    return SweptRuns(key, on_dev, on_dev[0].metrics["instances"])


def _unmoved(run):
    training = run.read(read_training)
    return training and int((training.newton_steps == 0).sum())


QUALITY_COLUMNS = tuple(
    Column(name, metric_getter(name), wording.percent, samples=samples_getter(name))
    for name in SWEPT_METRICS
)
COST_COLUMNS = (
    Column(
        "weights",
        metric_getter("nonzeros"),
        wording.count,
        "model",
        "nonzero weights after pruning",
    ),
    Column(
        "time",
        metric_getter("train_seconds"),
        wording.duration,
        "training",
        "processor time of the solver",
    ),
)
STEP_COLUMNS = (
    Column("Newton", steps_getter("newton_steps"), wording.decimal, "training", "steps per label"),
    Column(
        "no step",
        _unmoved,
        wording.count,
        "training",
        "labels whose start already met the stopping rule",
    ),
)
_OF_SEEDS = (("mean", np.mean), ("standard deviation", partial(np.std, ddof=1)))


def show_sweeps(anchor, results):
    views = []
    for number, (name, sweep) in enumerate(results.sweeps.items(), 1):
        show = _show_seeds if sweep.key == "seed" else _show_values_of_C
        about = {"name": name, "key": sweep.key, "n_dev": sweep.n_dev}
        views.append(about | show(f"{anchor}.sweep-{number}-quality", name, sweep.runs))
    return views


def _row_of(key, run, cells):
    return Row(run.settings[key], cells, hint=run.name)


def _show_values_of_C(anchor, name, runs):
    table = make_table(
        f"Sweep {name}",
        "C",
        (*QUALITY_COLUMNS, *COST_COLUMNS, *STEP_COLUMNS),
        runs,
        partial(_row_of, "C"),
    )
    caption = "Quality by C: beyond its peak the classifiers overfit the training data."
    return {
        "table": table,
        "drawing": draw_figure(anchor, "Metrics by C", caption, _paint, runs),
        "lines": LEGEND,
    }


def _no_samples(run):
    """Return nothing: seeds are not compared."""


def _show_seeds(anchor, name, runs):
    """A table of the seeds, without a best one, and their mean and spread."""
    columns = [column._replace(samples=_no_samples) for column in (*QUALITY_COLUMNS, *COST_COLUMNS)]
    table = make_table(f"Sweep {name}", "seed", columns, runs, partial(_row_of, "seed"))
    for title, average in _OF_SEEDS:
        cells = []
        for column in columns:
            values = [value for value in map(column.value, runs) if value is not None]
            value = float(average(values)) if len(values) > 1 else None
            cells.append(Cell(column.text(value), value))
        table.rows.append(Row(title, cells, kind="total"))
    return {"table": table}


def _paint(axes, runs) -> None:
    values = [float(run.settings["C"]) for run in runs]
    for number, name in enumerate(SWEPT_METRICS):
        measured = [run for run in runs if name in run.metrics]
        x = np.array([float(run.settings["C"]) for run in measured])
        y = np.array([100 * run.metrics[name] for run in measured])
        # intervals of several metrics at one value stay apart
        shifted = x * 1.03 ** (number - 1.5)
        style = {
            "color": get_series_colour(number),
            "marker": MARKERS[number],
            "markersize": 4.5,
            "linewidth": 1.5,
        }
        axes.curve(name, x, y, drawn_at=shifted, **style)
        if all(run.samples.get(name) is not None for run in measured):
            low, high = 100 * np.array([interval(run.samples[name]) for run in measured]).T
            # an interval of the bootstrap may lie beside the figure itself
            errors = np.maximum([y - low, high - y], 0)
            axes.errorbar(
                shifted, y, errors, color=get_series_colour(number), linestyle="none", linewidth=1
            )
    label_values_axis(axes, "C", sorted(set(values)))
    axes.grid(axis="x", visible=False)
    axes.set(ylabel="%")


def label_values_axis(axes, name, values) -> None:
    """Make the x axis logarithmic with a tick at each value."""
    axes.set(xscale="log", xlabel=name, xticks=values)
    axes.set_xticklabels([f"{value:g}" for value in values])
    axes.xaxis.set_minor_formatter(NullFormatter())


_OF_CHOICES = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@3", "PSP@5")


def read_choices(folder, paths):
    """A table of the candidates of each choice whose file is in a dataset's folder."""
    inside = [path for path in paths if folder in path.resolve().parents]
    return [_read_choice(path) for path in sorted(inside, reverse=True)]


def _read_choice(path):
    if path.name == Path(CHOSEN_FEATURES).name:
        kind = "features"
        title = "Features"
    else:
        # the file of a C is named after the problem that its runs pose
        problem = path.stem.partition("-Cauto")[0].removesuffix("-none").replace("-", " ")
        kind = "C"
        title = f"C ({problem})"
    comparison = read_json(path, kind)

    def row_of(entry, cells):
        chosen = entry["candidate"] == comparison["chosen"]
        return Row(_words(entry["candidate"]), cells, hint="chosen" if chosen else "")

    columns = [*_columns_of(comparison["metric"]), *_COSTS_OF_CHOICES]

    def table_of(name, entries):
        return make_table(name, kind, columns, comparison.get(entries, []), row_of)

    tables = {
        "table": table_of(f"Choice of {title}", "candidates"),
        "check": table_of(f"Check of {title}", "check"),
    }
    return comparison | {"title": title, "default": _words(comparison["default"])} | tables


def _words(candidate):
    return (
        candidate.replace("+", ", ").replace("=", " ")
        if isinstance(candidate, str)
        else f"{candidate:g}"
    )


def _columns_of(metric):
    names = _OF_CHOICES if metric in _OF_CHOICES else (metric, *_OF_CHOICES)
    return [Column(name, partial(_metric_of, name), wording.percent) for name in names]


def _metric_of(name, entry):
    return entry["metrics"][name]


def _difference(entry):
    if not entry["error"]:
        return ""
    return f"{100 * entry['difference']:+.1f} ± {200 * entry['error']:.1f}"


_FROM_CHOSEN = "from the chosen one on the same instances, and two standard errors"
_COSTS_OF_CHOICES = (
    Column("difference", _difference, hint=_FROM_CHOSEN),
    Column(
        "instances", lambda entry: entry["held_out"], wording.count, "tried", "held-out instances"
    ),
    Column("time", lambda entry: entry["seconds"], wording.duration, "tried", "processor time"),
)


CHOICES_SECTION = ReportSection(
    "choices", "Choices", lambda anchor, results: results.choices, folded=True
)
SECTION = ReportSection("sweeps", "Sweeps", show_sweeps, folded=True)
