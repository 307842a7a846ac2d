"""The sections Trade-offs, Cost and Resources: what runs cost in time, memory and size, and what accuracy that buys."""

import csv
import math
import re
from functools import partial
from operator import attrgetter
from pathlib import Path

from ovaflow.report import wording
from ovaflow.report.drawing import MARKERS, NAMED, draw, logarithmic, series
from ovaflow.report.tables import Cell, Column, Row, Table, cell, table_of_runs
from ovaflow.settings.models import HELD_OUT

MIB = 1 << 20
METRIC = "P@1"


def _of(name):
    return lambda run: run.metrics.get(name)


_TIME = "seconds times threads of the solver"
_milliseconds = attrgetter("predict_milliseconds")
_memory = attrgetter("peak_rss_bytes")

PRICES = (
    ("training", "training time", "training, core-seconds", f"Training time: {_TIME}.", _of("train_seconds"), 1),
    ("size", "model size", "model file, MiB", "Size of the model file.", _of("model_bytes"), MIB),
    (
        "prediction",
        "prediction time",
        "prediction, ms per instance",
        "Wall time of scoring the test set, per instance.",
        _milliseconds,
        1,
    ),
    (
        "memory",
        "memory",
        "peak memory of a training job, MiB",
        "Resident memory of the largest training job.",
        _memory,
        MIB,
    ),
)
"""What accuracy is weighed against: key, words, axis, caption, function of a run, and unit of the axis."""


def show_trade_offs(anchor, results):
    """Accuracy against each price that at least two runs have."""
    drawn = []
    for key, words, axis, caption, price, unit in PRICES:
        known = [(run, price(run), run.metrics.get(METRIC)) for run in results.runs]
        points = [(run, cost / unit, 100 * metric) for run, cost, metric in known if cost and metric is not None]
        if len(points) > 1:
            front = pareto([point[1:] for point in points])
            names = ", ".join(wording.plain(points[place][0].name, 40) for place in front)
            caption = f"{caption} On the dashed line, from cheap to accurate: {names}."
            paint = partial(_paint, points, front, axis)
            drawn.append(draw(f"{anchor}.against-{key}", f"Accuracy and {words}", caption, paint))
    if not drawn:
        return None
    return {"runs": results.shown, "figures": drawn, "hidden": len(results.runs) - len(results.shown)}


def pareto(points):
    """Places of the points (cost, quality) that no other beats in both ways, from the cheapest to the best."""
    front = []
    for place in sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1])):
        if not front or points[place][1] > points[front[-1]][1]:
            front.append(place)
    return front


def _paint(points, front, axis, axes):
    axes.set(xscale="log", xlabel=axis, ylabel=f"{METRIC} in %")
    costs, metrics = ([points[place][side] for place in front] for side in (1, 2))
    axes.plot(costs, metrics, color=NAMED["muted"], drawstyle="steps-post", linestyle=(0, (4, 3)), linewidth=1.1)
    for place, (run, cost, metric) in enumerate(points):
        shown = run.series is not None
        marker = MARKERS[run.series % len(MARKERS)] if shown else "."
        colour = series(run.series) if shown else NAMED["muted"]
        axes.plot([cost], [metric], color=colour, marker=marker, markersize=7, linestyle="none")
        axes.keep(run.name, x=[cost], y=[metric], Pareto_front=["yes" if place in front else "no"])
    axes.margins(0.12, 0.16)
    _widen(axes)
    logarithmic(axes.xaxis)


def _widen(axes):
    """At least a factor of two across and a point up, so that what is alike looks alike."""
    low, high = axes.get_xlim()
    if high < 2 * low:
        middle = (low * high) ** 0.5
        axes.set_xlim(middle / 2**0.5, middle * 2**0.5)
    low, high = axes.get_ylim()
    if high < low + 1:
        axes.set_ylim((low + high - 1) / 2, (low + high + 1) / 2)


def _milliseconds_per_label(run):
    seconds = run.per_label(run.metrics.get("train_seconds"))
    return None if seconds is None else 1000 * seconds


COSTS = (
    (Column("time", "training", _TIME, unit="s"), _of("train_seconds"), wording.duration),
    (Column("ms / label", "training", "per trained label"), _milliseconds_per_label, wording.decimal),
    (
        Column("peak memory", "training", "largest resident memory of a shard job", unit="bytes"),
        _memory,
        wording.size,
    ),
    (Column("Newton", "steps / label"), lambda run: run.training and run.training.newton_per_label, wording.decimal),
    (Column("CG", "steps / label"), lambda run: run.training and run.training.cg_per_label, wording.decimal),
    (Column("weights", "model", "nonzero weights after pruning"), _of("nonzeros"), wording.count),
    (
        Column("per label", "model", "nonzero weights per trained label"),
        lambda run: run.per_label(run.metrics.get("nonzeros")),
        wording.count,
    ),
    (Column("size", "model", "bytes of the model file", unit="bytes"), _of("model_bytes"), wording.size),
    (
        Column("time", "prediction", "wall time for the whole test set", unit="s"),
        attrgetter("predict_seconds"),
        wording.duration,
    ),
    (Column("ms / instance", "prediction"), _milliseconds, wording.decimal),
)
"""Columns of the cost table; less is better everywhere."""


def show_cost(anchor, results):
    """What each run cost, without the columns that no run recorded."""
    known = [column for column in COSTS if any(column[1](run) is not None for run in results.runs)]
    return {"table": table_of_runs("Cost", results.runs, known, lowest=True)}


DOWNLOADS = "download"
"""Folder of the benchmark files of downloads, and their step."""

STEPS = (
    DOWNLOADS,
    "prepare",
    "hold out",
    "means",
    "label tree",
    "estimate",
    "plan",
    "root",
    "train shard",
    "train trees",
    "embed",
    "project",
    "tune decoder",
    "train decoder",
    "cold start",
    "merge",
    "merge trees",
    "join decoder",
    "predict",
    "index",
    "calibrate",
    "evaluate",
    "calibration curve",
    "trace",
    "prune curve",
    "tree curve",
    "describe embedding",
)
_ORDER = {step: place for place, step in enumerate(STEPS)}


def find_benchmarks(run_folders, folder=None):
    """Benchmark files of a dataset: pairs of a run and its sorted files.

    ``folder`` is laid out as {dataset}/... and {dataset}/{run}/...; by default the folders ``benchmarks`` of each run
    and of the dataset are read. The empty run has what all runs share, held-out-0.2 what was trained without these
    instances.
    """
    dataset = run_folders[0].parent
    names = [run.name for run in run_folders]
    if folder is None:
        found = {"": (dataset / "benchmarks").glob("*.tsv")}
        found |= {run.name: (run / "benchmarks").rglob("*.tsv") for run in run_folders}
    else:
        base = Path(folder) / dataset.name
        downloads = Path(folder, DOWNLOADS).glob("*.tsv")
        found = {"": [path for path in downloads if path.name.split(".")[0] == dataset.name]}
        found[""] += [*base.glob("*.tsv"), *(base / "benchmarks").rglob("*.tsv")]
        held_out = [path.name for path in sorted(base.glob(f"{HELD_OUT}*")) if path.is_dir()]
        found |= {name: (base / name).rglob("*.tsv") for name in names + held_out}
    return [(name, sorted(files)) for name, files in found.items()]


def read_jobs(found):
    """Figures of all jobs of each (run, step), the steps of a run in the workflow's order.

    Files without the columns of Snakemake's benchmarks are passed over.
    """
    jobs = {}
    for run, paths in found:
        for path in sorted(paths, key=lambda path: _place(step_of(path))):
            jobs.setdefault((run, step_of(path)), []).extend(_read_jobs(path))
    return {key: figures for key, figures in jobs.items() if figures}


def _place(step):
    return _ORDER.get(step, len(_ORDER))


def step_of(path):
    """``train shard``, of a benchmark file such as train_shard/12.tsv or train-shard.12.tsv."""
    if path.parent.name == DOWNLOADS:
        return DOWNLOADS
    # what follows a dot is which one: a shard, an embedding, a problem
    name = path.parent.name if path.stem.isdigit() else re.sub(r"[_-]+\d+$", "", path.name.split(".")[0])
    return re.sub(r"[_-]+", " ", name)


def _read_jobs(path):
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if not {"s", "max_rss"} <= set(reader.fieldnames or ()):
            return []
        return [{key: _number(value) for key, value in line.items()} for line in reader]


def _number(text):
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


RESOURCES = (
    (Column("wall time", "sum", unit="s"), "s", math.fsum, 1, wording.duration),
    (Column("CPU time", "sum", unit="s"), "cpu_time", math.fsum, 1, wording.duration),
    (Column("longest", "one job", unit="s"), "s", max, 1, wording.duration),
    (
        Column("peak memory", "one job", "largest resident memory", unit="bytes"),
        "max_rss",
        max,
        MIB,
        wording.size,
    ),
    (Column("read", "sum", "from disk", unit="bytes"), "io_in", math.fsum, MIB, wording.size),
    (Column("written", "sum", "to disk", unit="bytes"), "io_out", math.fsum, MIB, wording.size),
)
"""Heading, column of the benchmark files, how jobs are summed up, unit, and words."""

COLUMNS = [Column("jobs"), *(column for column, *_ in RESOURCES)]


def show_resources(anchor, results):
    """What the jobs took, by run, by step and both."""
    if not results.jobs:
        return None
    by_step = dict(sorted(results.jobs.items(), key=lambda item: _place(item[0][1])))
    rows = [Row(step, [Cell(run or "shared"), *_cells(jobs)]) for (run, step), jobs in results.jobs.items()]
    columns = [Column("run", words=True), *COLUMNS]
    return {
        "by_run": _sums("run", results.jobs, 0),
        "by_step": _sums("step", by_step, 1),
        "each": Table("step", columns, rows, "Resources of each step of each run"),
    }


def _sums(by, jobs, part):
    """Table of all jobs with the same part of their key, and of all jobs together."""
    members = {}
    for key, figures in jobs.items():
        members.setdefault(key[part], []).extend(figures)
    rows = [Row(name or "shared by all runs", _cells(figures)) for name, figures in members.items()]
    total = Row("all together", _cells([job for figures in jobs.values() for job in figures]), kind="total")
    return Table(by, COLUMNS, [*rows, total], f"Resources by {by}")


def _cells(jobs):
    cells = [cell(len(jobs), wording.count)]
    for _, name, join, unit, words in RESOURCES:
        values = [job[name] for job in jobs if job.get(name) is not None]
        cells.append(cell(join(values) * unit if values else None, words))
    return cells
