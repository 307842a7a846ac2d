"""The sections Trade-offs, Cost and Resources: time, memory and size, and what accuracy they buy."""

import csv
import itertools
import math
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from ovaflow.methods import all_steps
from ovaflow.report import wording
from ovaflow.report.drawing import MARKERS, NAMED, draw, logarithmic, series
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Column, Row, make_table, metric, table_of_runs
from ovaflow.report.training import steps_per_label
from ovaflow.settings.section import FOLD, HELD_OUT

MIB = 1 << 20
METRIC = "P@1"

_TIME = "processor time of the solver"
_WALL_TIME = "Wall time of scoring, per instance."
_PEAK = "Peak memory of the largest training job."
_milliseconds = attrgetter("predict_milliseconds")
_memory = metric("train_peak_rss_bytes")
_seconds, _bytes, _nonzeros = metric("train_seconds"), metric("model_bytes"), metric("nonzeros")


class Price(NamedTuple):
    key: str  # ends the figure's id
    words: str
    axis: str
    caption: str
    value: Callable  # of a run
    unit: int = 1  # of the axis


PRICES = (
    Price("training", "training time", "training, core-seconds", f"Training time: {_TIME}.", _seconds),
    Price("size", "model size", "model file, MiB", "Size of the model file.", _bytes, MIB),
    Price("prediction", "prediction time", "prediction, ms per instance", _WALL_TIME, _milliseconds),
    Price("memory", "memory", "peak memory of a training job, MiB", _PEAK, _memory, MIB),
)


class Point(NamedTuple):
    """A run's place in a figure of accuracy against a price."""

    run: object
    cost: float
    quality: float  # in %


def show_trade_offs(anchor, results):
    points = {price: _points(results.runs, price) for price in PRICES}
    drawings = [_draw(anchor, price, points[price]) for price in PRICES if len(points[price]) > 1]
    if not drawings:
        return None
    hidden = len(results.runs) - len(results.shown)
    return {"runs": results.shown, "figures": drawings, "hidden": hidden}


def _points(runs, price):
    points = []
    for run in runs:
        cost, quality = price.value(run), run.metrics.get(METRIC)
        if cost and quality is not None:
            points.append(Point(run, cost / price.unit, 100 * quality))
    return points


def _draw(anchor, price, points):
    front = pareto(points)
    names = ", ".join(wording.plain(points[place].run.name, 40) for place in front)
    best = f"Best: {names}."
    if len(front) > 1:
        best = f"On the dashed line, from cheap to accurate: {names}."
    title, caption = f"Accuracy and {price.words}", f"{price.caption} {best}"
    return draw(f"{anchor}.against-{price.key}", title, caption, _paint, points, front, price.axis)


def pareto(points):
    """Places of the points that no other beats in cost and quality, from cheapest to best."""
    front = []
    for place in sorted(range(len(points)), key=lambda place: (points[place].cost, -points[place].quality)):
        if not front or points[place].quality > points[front[-1]].quality:
            front.append(place)
    return front


def _paint(axes, points, front, label):
    axes.set(xscale="log", xlabel=label, ylabel=f"{METRIC} in %")
    x, y = [points[place].cost for place in front], [points[place].quality for place in front]
    axes.plot(x, y, color=NAMED["muted"], drawstyle="steps-post", linestyle=(0, (4, 3)), linewidth=1.1)
    for place, (run, cost, quality) in enumerate(points):
        colour, marker = NAMED["muted"], "."
        if run.series is not None:
            colour, marker = series(run.series), MARKERS[run.series % len(MARKERS)]
        axes.plot([cost], [quality], color=colour, marker=marker, markersize=7, linestyle="none")
        axes.keep(run.name, x=[cost], y=[quality], Pareto_front=["yes" if place in front else "no"])
    axes.margins(0.12, 0.16)
    _widen(axes)
    logarithmic(axes.xaxis)


def _widen(axes):
    """Show at least a factor of two and a percentage point: similar points look similar."""
    low, high = axes.get_xlim()
    if high < 2 * low:
        middle = (low * high) ** 0.5
        axes.set_xlim(middle / 2**0.5, middle * 2**0.5)
    low, high = axes.get_ylim()
    if high < low + 1:
        axes.set_ylim((low + high - 1) / 2, (low + high + 1) / 2)


def _milliseconds_per_label(run):
    seconds = run.per_label(_seconds(run))
    return seconds and 1000 * seconds


COSTS = (
    Column("time", _seconds, wording.duration, "training", _TIME, "s"),
    Column("ms / label", _milliseconds_per_label, wording.decimal, "training", "per trained label"),
    Column("peak memory", _memory, wording.size, "training", "largest resident memory of a shard job", "bytes"),
    Column("Newton", steps_per_label("newton_steps"), wording.decimal, "steps / label"),
    Column("CG", steps_per_label("cg_steps"), wording.decimal, "steps / label"),
    Column("weights", _nonzeros, wording.count, "model", "nonzero weights after pruning"),
    Column("per label", lambda run: run.per_label(_nonzeros(run)), wording.count, "model", "nonzero weights"),
    Column("size", _bytes, wording.size, "model", "bytes of the model file", "bytes"),
    Column("ms / instance", _milliseconds, wording.decimal, "prediction"),
)
"""Columns of the cost table; less is better everywhere."""


def show_cost(anchor, results):
    columns = [column._replace(best=min) for column in COSTS]
    columns = [column for column in columns if set(map(column.value, results.runs)) != {None}]
    return {"table": table_of_runs("Cost", results.runs, columns)}


FOLDS = "fold-*"
DOWNLOADS = "download"  # folder of the benchmark files of downloads, and their step

_ORDER = {step.replace("-", " "): place for place, step in enumerate(all_steps())}


class Jobs(NamedTuple):
    run: str  # empty: shared by all runs; held-out-0.2: trained without these instances, fold-*: likewise
    step: str
    figures: list  # of each job, by their names in Snakemake's benchmark files


def read_jobs(run_folders, folder):
    """Jobs of a dataset, the steps of a run in the workflow's order; none without a folder of benchmark files."""
    if not folder:
        return []
    dataset = run_folders[0].parent.name
    base = Path(folder) / dataset
    held_out = [path.name for path in sorted(base.glob(f"{HELD_OUT}*")) if path.is_dir()]
    paths = {"": [*Path(folder, DOWNLOADS).glob(f"{dataset}.*tsv"), *base.glob("*.tsv")]}
    for name in [run.name for run in run_folders] + held_out:
        paths[name] = (base / name).rglob("*.tsv")
    # of all folds together
    folds = base.glob(FOLD.format(fold="*", folds="*"))
    paths[FOLDS] = itertools.chain.from_iterable(folder.rglob("*.tsv") for folder in folds)
    jobs = {}
    for run, files in paths.items():
        for path in sorted(files, key=lambda path: (_place(step_of(path)), path)):
            step, lines = step_of(path), path.read_text(encoding="utf-8").splitlines()
            figures = map(_figures, csv.DictReader(lines, delimiter="\t"))
            jobs.setdefault((run, step), Jobs(run, step, [])).figures.extend(figures)
    return [*jobs.values()]


def step_of(path):
    """``train shard``, of a benchmark file such as train-shard.12.tsv."""
    return DOWNLOADS if path.parent.name == DOWNLOADS else path.name.split(".")[0].replace("-", " ")


def _place(step):
    return _ORDER.get(step, len(_ORDER))


def _figures(line):
    names = ("s", "cpu_time", "max_rss", "io_in", "io_out")
    return {name: float(line[name]) for name in names if line.get(name) not in (None, "-", "NA")}


def _column(title, name, join, text, group, hint="", unit="", scale=1):
    """A column that joins a figure of :class:`Jobs`."""

    def value(jobs):
        values = [figures[name] for figures in jobs.figures if name in figures]
        return join(values) * scale if values else None

    return Column(title, value, text, group, hint, unit)


RESOURCES = (
    Column("jobs", lambda jobs: len(jobs.figures), wording.count),
    _column("wall time", "s", math.fsum, wording.duration, "sum", unit="s"),
    _column("CPU time", "cpu_time", math.fsum, wording.duration, "sum", unit="s"),
    _column("longest", "s", max, wording.duration, "one job", unit="s"),
    _column("peak memory", "max_rss", max, wording.size, "one job", "largest resident memory", "bytes", MIB),
    _column("read", "io_in", math.fsum, wording.size, "sum", "from disk", "bytes", MIB),
    _column("written", "io_out", math.fsum, wording.size, "sum", "to disk", "bytes", MIB),
)


def show_resources(anchor, results):
    if not results.jobs:
        return None
    by_step = sorted(results.jobs, key=lambda jobs: _place(jobs.step))
    return {
        "by_run": _sums("run", results.jobs, lambda jobs: jobs.run or "shared by all runs"),
        "by_step": _sums("step", by_step, lambda jobs: jobs.step),
    }


def _sums(by, jobs, name_of):
    """Table of all jobs of the same run or step, and of all jobs together."""
    total = Jobs("", "these jobs together", [])
    sums = {}
    for each in jobs:
        name = name_of(each)
        sums.setdefault(name, Jobs("", name, [])).figures.extend(each.figures)
        total.figures.extend(each.figures)

    def row_of(jobs, cells):
        return Row(jobs.step, cells, kind="total" if jobs is total else "")

    return make_table(f"Resources by {by}", by, RESOURCES, [*sums.values(), total], row_of)


TRADE_OFFS_SECTION = ReportSection("trade-offs", "Trade-offs", show_trade_offs)
COST_SECTION = ReportSection("cost", "Cost", show_cost)
RESOURCES_SECTION = ReportSection("resources", "Resources", show_resources)
