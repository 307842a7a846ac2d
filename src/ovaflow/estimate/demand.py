"""What a job requests from a scheduler: memory and time.

Snakemake's driver calls this for every job of every run, so nothing imported here compiles kernels.
"""

import math
import os
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import NamedTuple

import h5py

from ovaflow.storage.texts import read_json, read_lines, write_json

_KIND = "estimate"
_MARGIN = 1.25
_SCHEDULER = 200_000_000  # bytes of the scheduler's processes, which count as the job's
_SLOWER = 2.0


class Request(NamedTuple):
    mem_mb: int
    runtime: int


@dataclass(frozen=True)
class Demand:
    """Time and memory of training all labels or trees, for any number of jobs and threads."""

    core_seconds: float  # processor time of all labels or trees
    job_seconds: float  # time of a job before its first label and after its last
    job_bytes: int  # memory of a job, whatever it trains
    thread_bytes: int  # memory of each of its threads
    result_bytes: float  # weights or trees of all jobs

    def bytes_of(self, share, threads, pretrained=False):
        """Peak memory of a job that trains a share of all."""
        results = share * self.result_bytes
        # joining copies them, when no thread works any more
        peak = self.job_bytes + max(threads * self.thread_bytes + results, 2 * results)
        if pretrained:
            # an earlier model is assumed to have as many weights
            peak += results
        return peak

    def seconds_of(self, share, threads):
        """Wall time of a job that trains a share of all, on an idle machine."""
        return self.job_seconds + share * self.core_seconds / threads

    def request(self, share, threads, pretrained=False):
        """Request of a job that trains a share of all: a margin above its memory, twice its time."""
        memory = _MARGIN * self.bytes_of(share, threads, pretrained) + _SCHEDULER
        minutes = _SLOWER * self.seconds_of(share, threads) / 60
        return Request(100 * math.ceil(memory / 1e8), math.ceil(minutes) + 1)


def write_demand(path, demand):
    write_json(path, _KIND, vars(demand))


def _read_once(read):
    """Read a file again only after it was rewritten; FileNotFoundError if there is none yet."""
    read_version = lru_cache(lambda path, version: read(path))
    return wraps(read)(lambda path: read_version(path, os.stat(path).st_mtime_ns))


@_read_once
def read_demand(path):
    return Demand(**read_json(path, _KIND))


@_read_once
def shares_of_work(plan):
    """Each shard's share of the work in shards.tsv; the shards themselves check the plan."""
    work = defaultdict(float)
    for line in read_lines(plan, "plan")[1:]:
        shard, _, work_of_label = line.split("\t")
        work[int(shard)] += float(work_of_label)
    total = sum(work.values()) or 1.0
    return {shard: work_of_shard / total for shard, work_of_shard in work.items()}


class Shape(NamedTuple):
    """Training instances, features, labels and positives of a dataset file."""

    instances: int
    features: int
    labels: int
    positives: int


@_read_once
def shape_of(path):
    with h5py.File(path) as file:
        X, Y = file["train/X"], file["train/Y"]
        return Shape(
            instances=len(X["indptr"]) - 1,
            features=int(X.attrs["n_columns"]),
            labels=int(Y.attrs["n_columns"]),
            positives=len(Y["indices"]),
        )
