"""What a shard asks a scheduler for: memory and time, from what a sample of the labels took.

Snakemake's driver asks for every shard of every run, so that nothing is imported here that compiles kernels.
"""

import math
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.storage.remedies import remake
from ovaflow.storage.texts import read_json, read_lines

ESTIMATE, PLAN = "estimate", "plan"
"""Kinds of files."""

LABEL = 1000
"""Bytes that Python's objects of a solved label take beside its weights."""

WRITTEN_PER_SECOND = 150e6
"""Bytes of weights that are written and hashed in a second (measured)."""

_MARGIN = 1.25
_SCHEDULER = 200_000_000
_SLOWER = 2.0


@dataclass(frozen=True)
class Demand:
    """What training all labels of a dataset takes, whatever the number of shards and threads.

    Attributes
    ----------
    seconds : float
        Core time of all labels.
    error : float
        Half width of its 95 % range, as a share.
    start_seconds : float
        Of a job before its first label and after its last.
    weights : float
        Stored in all shards.
    shared_bytes : int
        Of a job, whatever its labels and threads.
    thread_bytes : int
        Of each thread, at the largest label.
    """

    seconds: float
    error: float
    start_seconds: float
    weights: float
    shared_bytes: int
    thread_bytes: int


class Part(NamedTuple):
    """A shard's part of the whole.

    Attributes
    ----------
    labels : int
    share : float
        Of the estimated work.
    """

    labels: int
    share: float


class Request(NamedTuple):
    """What a job asks for.

    Attributes
    ----------
    mem_mb, runtime : int
        Megabytes, minutes.
    """

    mem_mb: int
    runtime: int


def with_margin(n_bytes):
    """Megabytes to ask a scheduler for, so that a job of this peak runs.

    Parameters
    ----------
    n_bytes : int

    Returns
    -------
    int
        With a margin, and what the scheduler's own processes take in the same job.
    """
    return math.ceil((_MARGIN * n_bytes + _SCHEDULER) / 1e8) * 100


def minutes_of(seconds):
    """Minutes to ask a scheduler for, twice what an idle machine like this one needs and one more.

    Parameters
    ----------
    seconds : float

    Returns
    -------
    int
    """
    return math.ceil(_SLOWER * seconds / 60) + 1


def request_of(demand, part, threads, pretrained=False):
    """Memory and time of a shard.

    Parameters
    ----------
    demand : Demand
    part : Part
    threads : int
    pretrained : bool
        Its labels start from an earlier model, taken to have as many weights.

    Returns
    -------
    Request
        Memory by the formula of :mod:`ovaflow.training.memory`; time at the
        upper end of the estimate's range.
    """
    weights = demand.weights * part.share
    peak = max(threads * demand.thread_bytes + 8 * weights, 16 * weights) + LABEL * part.labels
    earlier = 8 * weights if pretrained else 0
    solving = demand.seconds * (1 + demand.error) * part.share / threads
    seconds = demand.start_seconds + solving + 8 * weights / WRITTEN_PER_SECOND
    return Request(with_margin(demand.shared_bytes + earlier + peak), minutes_of(seconds))


def shard_request(estimate, plan, shard, threads, pretrained=False):
    """Memory and time of a shard, from the files that say what it takes.

    Parameters
    ----------
    estimate : path-like
        By :func:`ovaflow.training.estimate.write_demand`.
    plan : path-like
        shards.tsv
    shard, threads : int
    pretrained : bool
        See :func:`request_of`.

    Returns
    -------
    Request

    Raises
    ------
    FileNotFoundError
        If one of them is not there yet.
    InputError
        If one is not what it should be.
    """
    demand, parts = _read_demand(estimate, _version(estimate)), _read_parts(plan, _version(plan))
    return request_of(demand, parts.get(shard, Part(0, 0.0)), threads, pretrained)


def _version(path):
    return os.stat(path).st_mtime_ns


@lru_cache
def _read_demand(path, version):
    try:
        return Demand(**read_json(path, ESTIMATE))
    except TypeError as error:
        raise InputError(f"no estimate ({error})", path=path, remedy=remake(ESTIMATE)) from None


@lru_cache
def _read_parts(path, version):
    """Labels and share of the work of each shard; the shards check the plan itself."""
    labels, work = {}, {}
    try:
        for line in read_lines(path, PLAN)[1:]:
            shard, _, more = line.split("\t")
            labels[shard] = labels.get(shard, 0) + 1
            work[shard] = work.get(shard, 0.0) + float(more)
        total = sum(work.values()) or 1.0
        return {int(shard): Part(labels[shard], work[shard] / total) for shard in labels}
    except ValueError as error:
        raise InputError(f"no plan ({error})", path=path, remedy=remake(PLAN)) from None
