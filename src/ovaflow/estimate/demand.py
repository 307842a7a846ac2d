"""What a job asks a scheduler for: memory and time.

Snakemake's driver asks for every job of every run, so nothing imported here compiles kernels.
"""

import math
import os
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import NamedTuple

import h5py

from ovaflow.console.errors import InputError
from ovaflow.storage.refusals import remake
from ovaflow.storage.texts import read_json, read_lines, write_json

_KIND = "estimate"
_MARGIN = 1.25
_SCHEDULER = 200_000_000  # bytes of the scheduler's processes, which count with the job
_SLOWER = 2.0


class Request(NamedTuple):
    """What a job asks for: megabytes and minutes."""

    mem_mb: int
    runtime: int


@dataclass(frozen=True)
class Demand:
    """What training all labels, or trees, takes, whatever the number of jobs and threads."""

    core_seconds: float  # of processor time, of all labels or trees
    job_seconds: float  # of a job before its first label and after its last
    job_bytes: int  # of a job, whatever it trains
    thread_bytes: int  # of each of its threads
    result_bytes: float  # weights, or trees, of all jobs

    def bytes_of(self, share, threads, pretrained=False):
        """Peak memory of a job that trains a share of all."""
        results = share * self.result_bytes
        # they are copied when they are joined, when no thread works any more
        peak = self.job_bytes + max(threads * self.thread_bytes + results, 2 * results)
        # an earlier model is taken to have as many weights
        return peak + (results if pretrained else 0)

    def seconds_of(self, share, threads):
        """Wall time of a job that trains a share of all, on an idle machine."""
        return self.job_seconds + share * self.core_seconds / threads

    def request(self, share, threads, pretrained=False):
        """What a job that trains a share of all asks for: a margin above its memory, twice its time."""
        memory = _MARGIN * self.bytes_of(share, threads, pretrained) + _SCHEDULER
        minutes = _SLOWER * self.seconds_of(share, threads) / 60
        return Request(100 * math.ceil(memory / 1e8), math.ceil(minutes) + 1)


def write_demand(path, demand):
    """Write an estimate, as JSON."""
    write_json(path, _KIND, vars(demand))


def _read_once(read):
    """Read a file again only after it was written again; FileNotFoundError if there is none yet."""
    read_version = lru_cache(lambda path, version: read(path))
    return wraps(read)(lambda path: read_version(path, os.stat(path).st_mtime_ns))


@_read_once
def read_demand(path):
    """Read an estimate."""
    try:
        return Demand(**read_json(path, _KIND))
    except TypeError as error:
        raise InputError(f"not an estimate ({error})", path=path, remedy=remake(_KIND)) from None


@_read_once
def shares_of_work(plan):
    """Each shard's share of the work in shards.tsv; the shards themselves check the plan."""
    work = defaultdict(float)
    try:
        for line in read_lines(plan, "plan")[1:]:
            shard, _, more = line.split("\t")
            work[int(shard)] += float(more)
    except ValueError as error:
        raise InputError(f"not a plan ({error})", path=plan, remedy=remake("plan")) from None
    total = sum(work.values()) or 1.0
    return {shard: of_shard / total for shard, of_shard in work.items()}


class Shape(NamedTuple):
    """Training instances, features, labels and positives of a dataset file."""

    instances: int
    features: int
    labels: int
    positives: int


@_read_once
def shape_of(path):
    """Shape of a dataset file."""
    with h5py.File(path) as file:
        X, Y = file["train/X"], file["train/Y"]
        return Shape(len(X["indptr"]) - 1, int(X.attrs["n_columns"]), int(Y.attrs["n_columns"]), len(Y["indices"]))


def dense_megabytes(columns, **rows):
    """Megabytes of float32 matrices with so many columns, and rows for instances, features, labels."""
    return 4 * columns * sum(rows.values()) / 1e6
