"""The sections Sweeps and Choices: quality and cost by the value of a setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.ticker import NullFormatter

from ovaflow.console.errors import InputError
from ovaflow.evaluation.resampling import interval
from ovaflow.report import wording
from ovaflow.report.drawing import MARKERS, RecordingAxes, draw_figure, get_series_colour
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import (
    Cell,
    Column,
    Row,
    Table,
    make_table,
    metric_getter,
    samples_getter,
)
from ovaflow.report.training import read_training, steps_getter
from ovaflow.settings.paths import CHOSEN_FEATURES
from ovaflow.storage.texts import read_json

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults
    from ovaflow.results.run import Run

SWEPT_METRICS = ("P@1", "P@3", "P@5", "PSP@1")
LEGEND = [{"series": number, "name": name} for number, name in enumerate(SWEPT_METRICS)]


class SweptRuns(NamedTuple):
    """The runs of a sweep."""

    key: str  # the setting whose value differs
    runs: list[Run]  # by ascending values, with their metrics on the dev part where there is one
    n_dev: int | None  # number of dev instances; None: metrics are those of the test set


def read_sweeps(sweeps: dict[str, list[str]], runs: Sequence[Run]) -> dict[str, SweptRuns]:
    """Return the runs of each sweep, of C or the seed, sorted by its value."""
    swept = {}
    for name, names_of_runs in sweeps.items():
        members = [run for run in runs if run.name in names_of_runs]
        if members:
            swept[name] = _sort_swept_runs(name, members)
    return swept


def _sort_swept_runs(name: str, runs: Sequence[Run]) -> SweptRuns:
    seeds = {run.settings.get("seed") for run in runs}
    key = "seed" if len(seeds) > 1 else "C"
    for run in runs:
        if run.settings.get(key) is None:
            remedy = "give runs that differ in C or in the seed"
            raise InputError(f"sweep {name}: run {run.name} has no {key}", remedy=remedy)
    runs = sorted(runs, key=lambda run: float(run.settings[key]))
    on_dev: list[Run] = [run.on_dev for run in runs if run.on_dev is not None]
    if len(on_dev) < len(runs):
        return SweptRuns(key, runs, None)
    return SweptRuns(key, on_dev, on_dev[0].metrics["instances"])


def _count_unmoved_labels(run: Run) -> int | None:
    """Count the labels that needed no Newton step; None where labels have no such steps."""
    training = run.read(read_training)
    if training is None:
        return None
    return int((training.newton_steps == 0).sum())


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
        _count_unmoved_labels,
        wording.count,
        "training",
        "labels whose start already met the stopping rule",
    ),
)
_SEED_STATISTICS: dict[str, Callable[[list[float]], Any]] = {
    "mean": np.mean,
    "standard deviation": partial(np.std, ddof=1),
}


def show_sweeps(results: DatasetResults) -> list[dict[str, Any]]:
    """Show the table and, for sweeps of C, the figure of each sweep."""
    views = []
    for number, (name, sweep) in enumerate(results.sweeps.items(), 1):
        view: dict[str, Any] = {"name": name, "key": sweep.key, "n_dev": sweep.n_dev}
        if sweep.key == "seed":
            view["table"] = _make_seeds_table(name, sweep.runs)
        else:
            view |= _show_values_of_C(f"{results.anchor}.sweep-{number}-quality", name, sweep.runs)
        views.append(view)
    return views


def _make_row(key: str, run: Run, cells: list[Cell]) -> Row:
    """Make the row of a run, named by its value of the setting."""
    return Row(run.settings[key], cells, hint=run.name)


def _show_values_of_C(drawing_name: str, name: str, runs: Sequence[Run]) -> dict[str, Any]:
    columns = (*QUALITY_COLUMNS, *COST_COLUMNS, *STEP_COLUMNS)
    caption = "Quality by C: beyond its peak the classifiers overfit the training data."
    return {
        "table": make_table(f"Sweep {name}", "C", columns, runs, partial(_make_row, "C")),
        "drawing": draw_figure(drawing_name, "Metrics by C", caption, _paint, runs),
        "lines": LEGEND,
    }


def _no_samples(run: Run) -> None:
    """Return None: seeds are not compared with one another."""


def _make_seeds_table(name: str, runs: Sequence[Run]) -> Table:
    """Make a table of the seeds, without a best one, with their mean and spread."""
    columns = []
    for column in (*QUALITY_COLUMNS, *COST_COLUMNS):
        columns.append(column._replace(samples=_no_samples))
    table = make_table(f"Sweep {name}", "seed", columns, runs, partial(_make_row, "seed"))
    for title, compute in _SEED_STATISTICS.items():
        cells = []
        for column in columns:
            values = [column.value(run) for run in runs]
            values = [value for value in values if value is not None]
            statistic = float(compute(values)) if len(values) > 1 else None
            cells.append(Cell(column.format(statistic), statistic))
        table.rows.append(Row(title, cells, kind="total"))
    return table


def _paint(axes: RecordingAxes, runs: Sequence[Run]) -> None:
    for number, name in enumerate(SWEPT_METRICS):
        _paint_metric(axes, number, name, [run for run in runs if name in run.metrics])
    label_values_axis(axes, "C", sorted({float(run.settings["C"]) for run in runs}))
    axes.grid(axis="x", visible=False)
    axes.set(ylabel="%")


def _paint_metric(axes: RecordingAxes, number: int, name: str, runs: Sequence[Run]) -> None:
    x = np.array([float(run.settings["C"]) for run in runs])
    y = np.array([100 * run.metrics[name] for run in runs])
    # intervals of several metrics at one value stay apart
    shifted = x * 1.03 ** (number - 1.5)
    colour = get_series_colour(number)
    axes.curve(
        name,
        x,
        y,
        drawn_at=shifted,
        color=colour,
        marker=MARKERS[number],
        markersize=4.5,
        linewidth=1.5,
    )
    if all(run.samples.get(name) is not None for run in runs):
        bounds = [interval(run.samples[name]) for run in runs]
        low, high = 100 * np.array(bounds).T
        # a metric may lie outside its interval of the bootstrap
        errors = np.maximum([y - low, high - y], 0)
        axes.errorbar(shifted, y, errors, color=colour, linestyle="none", linewidth=1)


def label_values_axis(axes: RecordingAxes, name: str, values: Sequence[float]) -> None:
    """Make the x axis logarithmic with a tick at each value."""
    axes.set(xscale="log", xlabel=name, xticks=values)
    axes.set_xticklabels([f"{value:g}" for value in values])
    axes.xaxis.set_minor_formatter(NullFormatter())


_METRICS_OF_CHOICES = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@3", "PSP@5")

Choice = dict[str, Any]
"""Content of a file of choose-features or choose-c, with its title and tables for the page."""


def read_choices(folder: Path, paths: Iterable[Path]) -> list[Choice]:
    """Read the choices whose files are in a dataset's folder."""
    inside = [path for path in paths if folder in path.resolve().parents]
    return [_read_choice(path) for path in sorted(inside, reverse=True)]


def _read_choice(path: Path) -> Choice:
    if path.name == Path(CHOSEN_FEATURES).name:
        kind = "features"
        title = "Features"
    else:
        # the file of a C is named after the problem that its runs solve
        problem = path.stem.partition("-Cauto")[0].removesuffix("-none").replace("-", " ")
        kind = "C"
        title = f"C ({problem})"
    comparison = read_json(path, kind)

    def make_row(entry: dict[str, Any], cells: list[Cell]) -> Row:
        chosen = entry["candidate"] == comparison["chosen"]
        name = _describe_candidate(entry["candidate"])
        return Row(name, cells, hint="chosen" if chosen else "")

    columns = [*_make_metric_columns(comparison["metric"]), *_COST_COLUMNS_OF_CHOICES]
    candidates = comparison.get("candidates", [])
    check = comparison.get("check", [])
    return comparison | {
        "title": title,
        "default": _describe_candidate(comparison["default"]),
        "table": make_table(f"Choice of {title}", kind, columns, candidates, make_row),
        "check": make_table(f"Check of {title}", kind, columns, check, make_row),
    }


def _describe_candidate(candidate: str | float) -> str:
    if isinstance(candidate, str):
        return candidate.replace("+", ", ").replace("=", " ")
    return f"{candidate:g}"


def _make_metric_columns(metric: str) -> list[Column]:
    """Make columns of metrics; that of the metric of the choice is first where it is not listed."""
    names = list(_METRICS_OF_CHOICES)
    if metric not in names:
        names.insert(0, metric)
    return [Column(name, partial(_get_metric, name), wording.percent) for name in names]


def _get_metric(name: str, entry: dict[str, Any]) -> float:
    return entry["metrics"][name]


def _format_difference(entry: dict[str, Any]) -> str:
    """Format the difference in points with two standard errors; empty for the chosen candidate."""
    if not entry["error"]:
        return ""
    return wording.points_with_error(entry["difference"], entry["error"])


_COST_COLUMNS_OF_CHOICES = (
    Column(
        "difference",
        _format_difference,
        hint="from the chosen one on the same instances, and two standard errors",
    ),
    Column(
        "instances", lambda entry: entry["held_out"], wording.count, "tried", "held-out instances"
    ),
    Column("time", lambda entry: entry["seconds"], wording.duration, "tried", "processor time"),
)


def show_choices(results: DatasetResults) -> list[Choice]:
    """Show the candidates of each choice of settings."""
    return results.choices


CHOICES_SECTION = ReportSection("choices", "Choices", show_choices, folded=True)
SECTION = ReportSection("sweeps", "Sweeps", show_sweeps, folded=True)
