"""Memory and time that a job requests from a scheduler, by estimates or by the sizes of its inputs.

Snakemake calls this for every job of every run, perhaps in a Python that has none of the jobs'
packages: nothing imported here compiles kernels or reads HDF5, and files are read without their
checksums.
"""

import json
import math
import os
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, NamedTuple

from ovaflow.console.errors import StrPath
from ovaflow.dataset.sizes import read_shape
from ovaflow.reading.formats import COMPRESSED_ENDINGS
from ovaflow.storage.texts import write_json

_ESTIMATE_KIND = "estimate"
_MEMORY_MARGIN = 1.25
"""Requested memory, as a multiple of the estimated one."""
_SCHEDULER_BYTES = 200_000_000
"""Memory of the scheduler's processes, which counts as the job's."""
_TIME_MARGIN = 2.0
"""Requested time, as a multiple of the estimated one."""
PROGRAM_MEGABYTES = 500
"""Memory of a job that holds no data yet, with that of the scheduler."""
INDEX_PANEL_LABELS = 1 << 16
"""Labels of an index that are made at a time: the value of :mod:`ovaflow.model.index`, which
compiles kernels and so is not imported here.
"""

EXPANDING_ENDINGS = (*COMPRESSED_ENDINGS, ".parquet", ".npz", ".xlsx", ".xlsm", ".ods")
"""Endings of files that are larger in memory."""


class Request(NamedTuple):
    """Memory in megabytes and time in minutes, by their names in Snakemake."""

    mem_mb: int
    runtime: int


SMALL_REQUEST = Request(mem_mb=800, runtime=30)
"""Request of a job that trains on a few megabytes of texts; it needs less than half of it."""


@dataclass(frozen=True)
class Demand:
    """Time and memory of training all labels or trees, for any number of jobs and threads.

    Attributes
    ----------
    core_seconds : float
        Processor time of all labels or trees.
    job_seconds : float
        Time of a job before its first label and after its last.
    job_bytes : int
        Memory of a job, independent of its share.
    thread_bytes : int
        Memory of each of its threads.
    result_bytes : float
        Memory of the weights or trees of all jobs.
    """

    core_seconds: float
    job_seconds: float
    job_bytes: int
    thread_bytes: int
    result_bytes: float

    def peak_bytes(self, share: float, threads: int, *, pretrained: bool = False) -> float:
        """Return the peak memory of a job that trains a share of all."""
        results = share * self.result_bytes
        # joining copies the results, when the threads have ended
        peak = self.job_bytes + max(threads * self.thread_bytes + results, 2 * results)
        if pretrained:
            # an earlier model is assumed to have as many weights
            peak += results
        return peak

    def wall_seconds(self, share: float, threads: int) -> float:
        """Return the wall time of a job that trains a share of all, on an idle machine."""
        return self.job_seconds + share * self.core_seconds / threads

    def request(self, share: float, threads: int, *, pretrained: bool = False) -> Request:
        """Return the request of a job that trains a share of all.

        It is a margin above the job's memory, and twice its time.
        """
        peak = self.peak_bytes(share, threads, pretrained=pretrained)
        memory = _MEMORY_MARGIN * peak + _SCHEDULER_BYTES
        minutes = _TIME_MARGIN * self.wall_seconds(share, threads) / 60
        return Request(100 * math.ceil(memory / 1e8), math.ceil(minutes) + 1)


def write_demand(path: StrPath, demand: Demand) -> None:
    """Write a demand as JSON."""
    write_json(path, _ESTIMATE_KIND, vars(demand))


def _read_once(read: Callable[[StrPath], Any]) -> Callable[[StrPath], Any]:
    """Decorate a function so that it reads a file again only after the file was rewritten.

    FileNotFoundError is raised if there is no file yet.
    """
    read_version = lru_cache(lambda path, version: read(path))
    return wraps(read)(lambda path: read_version(path, os.stat(path).st_mtime_ns))


@_read_once
def read_demand(path: StrPath) -> Demand:
    """Read what :func:`write_demand` wrote, without comparing its checksum."""
    content = json.loads(Path(path).read_bytes())
    return Demand(**{field.name: content[field.name] for field in fields(Demand)})


@_read_once
def read_work_shares(plan: StrPath) -> dict[int, float]:
    """Read each shard's share of the work in shards.tsv; the shards themselves check the plan."""
    work: dict[int, float] = defaultdict(float)
    for line in Path(plan).read_text(encoding="utf-8").splitlines()[1:-1]:
        shard, _, work_of_label = line.split("\t")
        work[int(shard)] += float(work_of_label)
    total = sum(work.values()) or 1.0
    return {shard: work_of_shard / total for shard, work_of_shard in work.items()}


read_dataset_shape = _read_once(read_shape)


def reading_memory_mb(files: list[str], megabytes: float) -> int:
    """Estimate the memory of a job that reads raw files, some of them perhaps compressed."""
    expands = any(path.endswith(EXPANDING_ENDINGS) for path in files)
    multiple = 5 if expands else 2
    return 550 + int(multiple * megabytes)


def choosing_memory_mb(files: list[str], megabytes: float) -> int:
    """Estimate the memory of a job that reads raw files and trains a model on them."""
    return reading_memory_mb(files, 10 * megabytes)


def reranking_memory_mb(datasets: float, predictions: float, suggestions: float = 0) -> int:
    """Estimate the memory of a job that fits a second stage, by the megabytes of its inputs."""
    return int(700 + 4 * datasets + 20 * predictions + 4 * suggestions)


def merging_memory_mb(labels: int, shards: float) -> int:
    """Estimate the memory of a job that joins shards piece by piece.

    It holds arrays of the labels and a panel of an index.
    """
    panel = shards * min(1, INDEX_PANEL_LABELS / max(labels, 1))
    return int(650 + 200 * labels / 1e6 + 0.4 * panel)
