"""The sections Trade-offs, Cost and Resources: what runs cost in time, memory and size, and what accuracy that buys."""

import csv
import math
from functools import partial
from operator import attrgetter
from pathlib import Path

from ovaflow.report import wording
from ovaflow.report.drawing import MARKERS, NAMED, draw, logarithmic, series
from ovaflow.report.tables import Column, Row, make_table, metric, table_of_runs
from ovaflow.report.training import cg_per_label, newton_per_label
from ovaflow.settings.models import HELD_OUT
from ovaflow.steps import STEPS

MIB = 1 << 20
METRIC = "P@1"

_TIME = "processor time of the solver"
_milliseconds = attrgetter("predict_milliseconds")
_memory = metric("train_peak_rss_bytes")


_seconds, _bytes, _nonzeros = metric("train_seconds"), metric("model_bytes"), metric("nonzeros")

PRICES = (
    ("training", "training time", "training, core-seconds", f"Training time: {_TIME}.", _seconds, 1),
    ("size", "model size", "model file, MiB", "Size of the model file.", _bytes, MIB),
    (
        "prediction",
        "prediction time",
        "prediction, ms per instance",
        "Wall time of scoring, per instance.",
        _milliseconds,
        1,
    ),
    (
        "memory",
        "memory",
        "peak memory of a training job, MiB",
        "Peak memory of the largest training job.",
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
        points = [(run, cost / unit, 100 * quality) for run, cost, quality in known if cost and quality is not None]
        if len(points) > 1:
            front = pareto([point[1:] for point in points])
            names = ", ".join(wording.plain(points[place][0].name, 40) for place in front)
            line = f"On the dashed line, from cheap to accurate: {names}." if len(front) > 1 else f"Best: {names}."
            paint = partial(_paint, points, front, axis)
            drawn.append(draw(f"{anchor}.against-{key}", f"Accuracy and {words}", f"{caption} {line}", paint))
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
    x, y = ([points[place][side] for place in front] for side in (1, 2))
    axes.plot(x, y, color=NAMED["muted"], drawstyle="steps-post", linestyle=(0, (4, 3)), linewidth=1.1)
    for place, (run, cost, quality) in enumerate(points):
        shown = run.series is not None
        marker = MARKERS[run.series % len(MARKERS)] if shown else "."
        colour = series(run.series) if shown else NAMED["muted"]
        axes.plot([cost], [quality], color=colour, marker=marker, markersize=7, linestyle="none")
        axes.keep(run.name, x=[cost], y=[quality], Pareto_front=["yes" if place in front else "no"])
    axes.margins(0.12, 0.16)
    _widen(axes)
    logarithmic(axes.xaxis)


def _widen(axes):
    """Show at least a factor of two across and a percentage point up, so that similar points look similar."""
    low, high = axes.get_xlim()
    if high < 2 * low:
        middle = (low * high) ** 0.5
        axes.set_xlim(middle / 2**0.5, middle * 2**0.5)
    low, high = axes.get_ylim()
    if high < low + 1:
        axes.set_ylim((low + high - 1) / 2, (low + high + 1) / 2)


def _milliseconds_per_label(run):
    seconds = run.per_label(_seconds(run))
    return None if seconds is None else 1000 * seconds


COSTS = (
    Column("time", _seconds, wording.duration, "training", _TIME, "s"),
    Column("ms / label", _milliseconds_per_label, wording.decimal, "training", "per trained label"),
    Column("peak memory", _memory, wording.size, "training", "largest resident memory of a shard job", "bytes"),
    Column("Newton", newton_per_label, wording.decimal, "steps / label"),
    Column("CG", cg_per_label, wording.decimal, "steps / label"),
    Column("weights", _nonzeros, wording.count, "model", "nonzero weights after pruning"),
    Column("per label", lambda run: run.per_label(_nonzeros(run)), wording.count, "model", "nonzero weights"),
    Column("size", _bytes, wording.size, "model", "bytes of the model file", "bytes"),
    Column("ms / instance", _milliseconds, wording.decimal, "prediction"),
)
"""Columns of the cost table; less is better everywhere."""


def show_cost(anchor, results):
    """What each run cost, without the columns that no run recorded."""
    runs = results.runs
    known = [column._replace(best=min) for column in COSTS if any(column.value(run) is not None for run in runs)]
    return {"table": table_of_runs("Cost", runs, known)}


DOWNLOADS = "download"
"""Folder of the benchmark files of downloads, and their step."""

_ORDER = {step.replace("-", " "): place for place, step in enumerate(STEPS)}


def find_benchmarks(run_folders, folder):
    """Benchmark files of a dataset: pairs of a run and its sorted files.

    ``folder`` is laid out as {dataset}/... and {dataset}/{run}/... . The empty run has what all runs share,
    held-out-0.2 what was trained without these instances.
    """
    dataset = run_folders[0].parent.name
    base = Path(folder) / dataset
    held_out = [path.name for path in sorted(base.glob(f"{HELD_OUT}*")) if path.is_dir()]
    found = {"": [*Path(folder, DOWNLOADS).glob(f"{dataset}.*tsv"), *base.glob("*.tsv")]}
    found |= {name: (base / name).rglob("*.tsv") for name in [run.name for run in run_folders] + held_out}
    return [(name, sorted(files)) for name, files in found.items()]


def read_jobs(found):
    """Figures of all jobs of each (run, step), the steps of a run in the workflow's order."""
    jobs = {}
    for run, paths in found:
        for path in sorted(paths, key=lambda path: _place(step_of(path))):
            with open(path, encoding="utf-8", newline="") as file:
                figures = [_known(line) for line in csv.DictReader(file, delimiter="\t")]
            jobs.setdefault((run, step_of(path)), []).extend(figures)
    return jobs


def step_of(path):
    """``train shard``, of a benchmark file such as train-shard.12.tsv."""
    return DOWNLOADS if path.parent.name == DOWNLOADS else path.name.split(".")[0].replace("-", " ")


def _place(step):
    return _ORDER.get(step, len(_ORDER))


def _known(line):
    """The figures of a job that Snakemake measured."""
    given = {name: line.get(name) for name in ("s", "cpu_time", "max_rss", "io_in", "io_out")}
    return {name: float(value) for name, value in given.items() if value not in (None, "-", "NA")}


def _column(title, name, join, text, group, hint="", unit="", scale=1):
    """A column that joins a figure of the jobs of (key, jobs)."""

    def value(item):
        values = [job[name] for job in item[1] if name in job]
        return join(values) * scale if values else None

    return Column(title, value, text, group, hint, unit)


RESOURCES = (
    Column("jobs", lambda item: len(item[1]), wording.count),
    _column("wall time", "s", math.fsum, wording.duration, "sum", unit="s"),
    _column("CPU time", "cpu_time", math.fsum, wording.duration, "sum", unit="s"),
    _column("longest", "s", max, wording.duration, "one job", unit="s"),
    _column("peak memory", "max_rss", max, wording.size, "one job", "largest resident memory", "bytes", MIB),
    _column("read", "io_in", math.fsum, wording.size, "sum", "from disk", "bytes", MIB),
    _column("written", "io_out", math.fsum, wording.size, "sum", "to disk", "bytes", MIB),
)


def show_resources(anchor, results):
    """What the jobs took, by run, by step and both."""
    jobs = results.jobs
    if not jobs:
        return None
    by_step = dict(sorted(jobs.items(), key=lambda item: _place(item[0][1])))
    columns = [Column("run", lambda item: item[0][0] or "shared"), *RESOURCES]
    title = "Resources of each step of each run"
    return {
        "by_run": _sums("run", jobs, 0),
        "by_step": _sums("step", by_step, 1),
        "each": make_table(title, "step", columns, jobs.items(), lambda item, cells: Row(item[0][1], cells)),
    }


def _sums(by, jobs, part):
    """Table of all jobs with the same part of their key, and of all jobs together."""
    members = {}
    for key, figures in jobs.items():
        members.setdefault(key[part], []).extend(figures)
    everything = "all together", [job for figures in jobs.values() for job in figures]

    def row_of(item, cells):
        return Row(item[0] or "shared by all runs", cells, kind="total" if item is everything else "")

    return make_table(f"Resources by {by}", by, RESOURCES, [*members.items(), everything], row_of)
