"""What a job requests from a scheduler: memory and time, by estimates or by the sizes of its
inputs.

Snakemake calls this for every job of every run, perhaps in a Python that has none of the jobs'
packages: nothing imported here compiles kernels or reads HDF5, and files are read without their
checksums.
"""

import json
import math
import os
from collections import defaultdict
from dataclasses import dataclass, fields
from functools import lru_cache, wraps
from pathlib import Path
from typing import NamedTuple

from ovaflow.dataset.sizes import read_shape
from ovaflow.reading.formats import COMPRESSED_ENDINGS
from ovaflow.storage.texts import write_json

_KIND = "estimate"
_MEMORY_MARGIN = 1.25
_SCHEDULER_BYTES = 200_000_000  # bytes of the scheduler's processes, which count as the job's
_TIME_MARGIN = 2.0
PROGRAM_MEGABYTES = 500  # megabytes of a job that holds nothing yet, with those of the scheduler
INDEX_PANEL_LABELS = 1 << 16
"""Labels of an index that are made at a time, as in :mod:`ovaflow.model.index`, which compiles
kernels.
"""

EXPANDING_ENDINGS = (*COMPRESSED_ENDINGS, ".parquet", ".npz", ".xlsx", ".xlsm", ".ods")


class Request(NamedTuple):
    mem_mb: int
    runtime: int


SMALL_REQUEST = Request(mem_mb=800, runtime=30)
"""What a job requests that trains on a few megabytes of texts; it needs less than half of it."""


@dataclass(frozen=True)
class Demand:
    """Time and memory of training all labels or trees, for any number of jobs and threads."""

    core_seconds: float  # processor time of all labels or trees
    job_seconds: float  # time of a job before its first label and after its last
    job_bytes: int  # memory of a job, whatever it trains
    thread_bytes: int  # memory of each of its threads
    result_bytes: float  # weights or trees of all jobs

    def peak_bytes(self, share, threads, pretrained=False):
        """Peak memory of a job that trains a share of all."""
        results = share * self.result_bytes
        # joining copies them, when no thread works any more
        peak = self.job_bytes + max(threads * self.thread_bytes + results, 2 * results)
        if pretrained:
            # an earlier model is assumed to have as many weights
            peak += results
        return peak

    def wall_seconds(self, share, threads):
        """Wall time of a job that trains a share of all, on an idle machine."""
        return self.job_seconds + share * self.core_seconds / threads

    def request(self, share, threads, pretrained=False):
        """Request of a job that trains a share of all: a margin above its memory, twice its time."""
        memory = _MEMORY_MARGIN * self.peak_bytes(share, threads, pretrained) + _SCHEDULER_BYTES
        minutes = _TIME_MARGIN * self.wall_seconds(share, threads) / 60
        return Request(100 * math.ceil(memory / 1e8), math.ceil(minutes) + 1)


def write_demand(path, demand) -> None:
    write_json(path, _KIND, vars(demand))


def _read_once(read):
    """Read a file again only after it was rewritten; FileNotFoundError if there is none yet."""
    read_version = lru_cache(lambda path, version: read(path))
    return wraps(read)(lambda path: read_version(path, os.stat(path).st_mtime_ns))


@_read_once
def read_demand(path):
    content = json.loads(Path(path).read_bytes())
    return Demand(**{field.name: content[field.name] for field in fields(Demand)})


@_read_once
def read_work_shares(plan):
    """Each shard's share of the work in shards.tsv; the shards themselves check the plan."""
    work = defaultdict(float)
    for line in Path(plan).read_text(encoding="utf-8").splitlines()[1:-1]:
        shard, _, work_of_label = line.split("\t")
        work[int(shard)] += float(work_of_label)
    total = sum(work.values()) or 1.0
    return {shard: work_of_shard / total for shard, work_of_shard in work.items()}


read_dataset_shape = _read_once(read_shape)


def reading_memory_mb(files: list[str], megabytes: float) -> int:
    """Memory of a job that reads raw files; compressed ones expand to a multiple of their size."""
    expanding = any(path.endswith(EXPANDING_ENDINGS) for path in files)
    return 550 + int((5 if expanding else 2) * megabytes)


def choosing_memory_mb(files: list[str], megabytes: float) -> int:
    """Memory of a job that reads raw files and trains a model of all labels on them."""
    return reading_memory_mb(files, 10 * megabytes)


def reranking_memory_mb(datasets: float, predictions: float, suggestions: float = 0) -> int:
    return int(700 + 4 * datasets + 20 * predictions + 4 * suggestions)


def merging_memory_mb(labels: int, shards: float) -> int:
    """Memory of a job that joins shards piece by piece: arrays of the labels and a panel of an
    index.
    """
    panel = shards * min(1, INDEX_PANEL_LABELS / max(labels, 1))
    return int(650 + 200 * labels / 1e6 + 0.4 * panel)
