"""What each step of the workflow took, from Snakemake's benchmark files."""

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path

from ovaflow.report import wording
from ovaflow.report.tables import Cell, Column, Row, Table, figure
from ovaflow.settings.models import HELD_OUT

MIB = 1 << 20

STEPS = (
    "download",
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
DOWNLOADS = "download"
"""Folder of the benchmark files of downloads, and their step."""

ORDER = {step: place for place, step in enumerate(STEPS)}


@dataclass(frozen=True)
class Resource:
    """Resources of all jobs of a step.

    Attributes
    ----------
    step : str
        The benchmark file's name, without the number of a shard.
    run : str
        Empty for steps that all runs share.
    jobs : int
    wall_seconds, cpu_seconds : float or None
        Sums.
    longest_seconds : float or None
        Wall time of the longest job.
    max_rss_bytes : float or None
        Largest resident memory of a job.
    read_bytes, written_bytes : float or None
        Sums of what reached the disk.
    """

    step: str
    run: str
    jobs: int
    wall_seconds: float | None
    cpu_seconds: float | None
    longest_seconds: float | None
    max_rss_bytes: float | None
    read_bytes: float | None
    written_bytes: float | None


def find_benchmarks(run_folders, folder=None):
    """Where a dataset's benchmark files may be.

    Parameters
    ----------
    run_folders : sequence of pathlib.Path
        ``results/{dataset}/{run}``, one dataset.
    folder : path-like, optional
        A folder laid out as ``{dataset}/...`` and ``{dataset}/{run}/...``; by
        default the folders ``benchmarks`` of each run and of the dataset.

    Returns
    -------
    list of (str, list of pathlib.Path)
        Run (empty: shared by all; held-out-0.2: of all runs, trained again
        without these instances) and its files, sorted.
    """
    dataset = run_folders[0].parent
    if folder is None:
        shared, own = (
            (dataset / "benchmarks").glob("*.tsv"),
            [(run / "benchmarks").rglob("*.tsv") for run in run_folders],
        )
    else:
        base = Path(folder) / dataset.name
        downloads = [path for path in (Path(folder) / DOWNLOADS).glob("*.tsv") if _of(path) == dataset.name]
        shared = [*downloads, *base.glob("*.tsv"), *(base / "benchmarks").rglob("*.tsv")]
        own = [(base / run.name).rglob("*.tsv") for run in run_folders]
    names = ["", *(run.name for run in run_folders)]
    found = [(name, sorted(files)) for name, files in zip(names, [shared, *own], strict=True)]
    return found if folder is None else found + _without_held_out(base)


def _without_held_out(base):
    """What was trained without held-out instances: runs have the same names in a folder of their own."""
    folds = [fold for fold in sorted(base.glob(f"{HELD_OUT}*")) if fold.is_dir()]
    return [(fold.name, sorted(fold.rglob("*.tsv"))) for fold in folds]


def read_resources(found):
    """Sum up benchmark files, step by step.

    Parameters
    ----------
    found : list of (str, list of pathlib.Path)
        See :func:`find_benchmarks`; files without Snakemake's columns are passed
        over.

    Returns
    -------
    list of Resource
    """
    steps = {}
    # steps of the data first, then run by run, each in the order of the workflow
    for run, paths in found:
        for path in sorted(paths, key=lambda path: ORDER.get(step_of(path), len(ORDER))):
            steps.setdefault((run, step_of(path)), []).extend(_jobs(path))
    return [_summed(step, run, jobs) for (run, step), jobs in steps.items() if jobs]


def step_of(path):
    """Name of the step that a benchmark file belongs to.

    Parameters
    ----------
    path : pathlib.Path
        Such as ``train_shard/12.tsv``, ``train_shard.12.tsv`` or ``merge.tsv``.

    Returns
    -------
    str
        Such as ``"train shard"``.
    """
    if path.parent.name == DOWNLOADS:
        return DOWNLOADS
    # what follows a dot is which one: a shard, an embedding, a problem
    name = path.parent.name if path.stem.isdigit() else re.sub(r"[_-]+\d+$", "", path.name.split(".")[0])
    return re.sub(r"[_-]+", " ", name)


def _of(path):
    """Dataset of a download's benchmark file."""
    return path.name.split(".")[0]


def _jobs(path):
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


def _summed(step, run, jobs):
    def known(name, join, scale=1):
        values = [job[name] for job in jobs if job.get(name) is not None]
        return join(values) * scale if values else None

    return Resource(
        step=step,
        run=run,
        jobs=len(jobs),
        wall_seconds=known("s", math.fsum),
        cpu_seconds=known("cpu_time", math.fsum),
        longest_seconds=known("s", max),
        max_rss_bytes=known("max_rss", max, MIB),
        read_bytes=known("io_in", math.fsum, MIB),
        written_bytes=known("io_out", math.fsum, MIB),
    )


def show(anchor, section):
    """Tables of the section.

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
    if not section.resources:
        return None
    return {
        "by_run": sums_table(section.resources, "run", "Resources by run"),
        "by_step": sums_table(section.resources, "step", "Resources by step"),
        "each": resource_table(section.resources),
    }


COLUMNS = (
    Column("jobs"),
    Column("wall time", "sum", unit="s"),
    Column("CPU time", "sum", unit="s"),
    Column("longest", "one job", unit="s"),
    Column("peak memory", "one job", "largest resident memory", unit="bytes"),
    Column("read", "sum", "from disk", unit="bytes"),
    Column("written", "sum", "to disk", unit="bytes"),
)


def sums_table(resources, by, title):
    """Resources of all jobs of each run, or of each step, and of all together.

    Parameters
    ----------
    resources : sequence of Resource
    by : str
        ``"run"`` or ``"step"``.
    title : str

    Returns
    -------
    Table
    """
    parts = {}
    in_order = sorted(resources, key=lambda each: ORDER.get(each.step, len(ORDER))) if by == "step" else resources
    for each in in_order:
        parts.setdefault(getattr(each, by), []).append(each)
    rows = [Row(name or "shared by all runs", _cells(add(name, name, members))) for name, members in parts.items()]
    total = Row("all together", _cells(add("", "", resources)), kind="total")
    return Table(by, list(COLUMNS), [*rows, total], title)


def add(step, run, resources):
    """Resources of several steps together.

    Parameters
    ----------
    step, run : str
        Of the sum.
    resources : sequence of Resource

    Returns
    -------
    Resource
    """

    def known(name, join):
        values = [getattr(each, name) for each in resources if getattr(each, name) is not None]
        return join(values) if values else None

    sums = {name: known(name, math.fsum) for name in ("wall_seconds", "cpu_seconds", "read_bytes", "written_bytes")}
    most = {name: known(name, max) for name in ("longest_seconds", "max_rss_bytes")}
    return Resource(step=step, run=run, jobs=sum(each.jobs for each in resources), **sums, **most)


def resource_table(resources):
    """Resources of each step of each run.

    Parameters
    ----------
    resources : sequence of Resource

    Returns
    -------
    Table
    """
    rows = [Row(each.step, [Cell(each.run or "shared"), *_cells(each)]) for each in resources]
    return Table("step", [Column("run", words=True), *COLUMNS], rows, "Resources of each step of each run")


def _cells(each):
    return [
        figure(each.jobs, wording.count),
        figure(each.wall_seconds, wording.duration),
        figure(each.cpu_seconds, wording.duration),
        figure(each.longest_seconds, wording.duration),
        figure(each.max_rss_bytes, wording.size),
        figure(each.read_bytes, wording.size),
        figure(each.written_bytes, wording.size),
    ]
