"""Figures of a complete training on this machine, from a sample, and a suggested number of jobs."""

import math
from collections.abc import Mapping
from typing import Any

import h5py
import psutil

from ovaflow.console.errors import StrPath
from ovaflow.console.progress import format_duration
from ovaflow.estimate.demand import Demand
from ovaflow.machine.limits import read_allowance
from ovaflow.settings.predict import AUTO_RERANK_SHARE
from ovaflow.storage.hdf5 import open_artifact, read_parameters

_LONG_JOB_SECONDS = 600.0
"""Longest time of a suggested job."""
_WORTHWHILE_MULTIPLE = 20.0
"""Work of a suggested job, as a multiple of its start-up."""
_JOB_RESULT_BYTES = 5e8
"""Most bytes of results of a suggested job."""
_USED_MEMORY_SHARE = 0.9
"""Largest share of the memory that suggested jobs take."""
_FILE_BYTES = 1 << 16
"""Bytes of a model file without arrays."""
_LABEL_BYTES = 17
"""Bytes of a model's figures for each label."""


def summarize(
    sample: Any, dataset: StrPath, threads: int, shards: int, unit: str
) -> dict[str, Any]:
    """Compute the figures of a training, for JSON.

    Parameters
    ----------
    sample : ovaflow.estimate.sample.Sample
        Measurements of a sample.
    dataset : path-like
        The dataset.
    threads : int
        Threads of each job.
    shards : int
        Number of jobs.
    unit : str
        Plural of the units that are trained, such as ``labels``.

    Returns
    -------
    figures : dict
        Seconds on an idle machine, bytes and numbers, by name.
    """
    demand = sample.demand
    allowance = read_allowance()
    cores = allowance.cores
    memory = min(psutil.virtual_memory().total, allowance.memory)
    at_a_time = max(1, min(shards, cores // threads))
    job_seconds = demand.wall_seconds(1 / shards, min(threads, cores))
    suggested_shards, suggested_threads = suggest_jobs(demand, cores, memory)
    request = demand.request(1 / suggested_shards, suggested_threads)
    core_seconds = demand.core_seconds + shards * demand.job_seconds
    return {
        f"sampled_{unit}": sample.solved,
        unit: sample.total,
        "core_seconds": core_seconds,
        "core_seconds_error": sample.core_error,
        "core_seconds_with_rerank": _compute_seconds_with_rerank(core_seconds, dataset),
        "wall_seconds": job_seconds * math.ceil(shards / at_a_time),
        "job_seconds": job_seconds,
        "jobs_at_a_time": at_a_time,
        "cores": cores,
        "job_bytes": int(demand.peak_bytes(1 / shards, threads)),
        "thread_bytes": demand.thread_bytes,
        "weights": sample.weights,
        "model_bytes": int(sample.model_bytes + _count_other_bytes(dataset)),
        "threads": threads,
        "shards": shards,
        "suggested_shards": suggested_shards,
        "suggested_threads": suggested_threads,
        "suggested_mem_mb": request.mem_mb,
        "suggested_runtime": request.runtime,
    }


def _compute_seconds_with_rerank(core_seconds: float, dataset: StrPath) -> float | None:
    """Compute the processor time of both trainings of ``rerank: auto``.

    It is None for features without texts, which are trained once.
    """
    with open_artifact(dataset, "dataset") as file:
        has_texts = "token_pattern" in read_parameters(file)
    return (2 - AUTO_RERANK_SHARE) * core_seconds if has_texts else None


def _count_other_bytes(dataset: StrPath) -> int:
    """Count the bytes of a model file without its weights or trees: mostly names, those of the
    dataset.
    """
    with h5py.File(dataset) as file:
        size = _FILE_BYTES + _LABEL_BYTES * int(file["train/Y"].attrs["n_columns"])
        for name in ("label_names", "feature_names"):
            size += sum(array.nbytes for array in file.get(name, {}).values())
        if "idf" in file:
            size += file["idf"].nbytes
    return size


def suggest_jobs(demand: Demand, cores: int, memory: float) -> tuple[int, int]:
    """Suggest numbers of jobs and of threads.

    Jobs take at most ten minutes. There is one for each core if that is worth the start-up.

    Parameters
    ----------
    demand : Demand
        Demand of all labels or trees.
    cores : int
        Number of cores.
    memory : float
        Memory of all jobs that run at a time, in bytes.

    Returns
    -------
    shards : int
        Number of jobs.
    threads : int
        Threads of each job.
    """
    threads = 1
    # jobs that do not fit into memory get more threads each, which share most arrays
    while True:
        at_a_time = max(1, cores // threads)
        start_up = threads * _WORTHWHILE_MULTIPLE * demand.job_seconds
        worthwhile = min(at_a_time, int(demand.core_seconds / start_up))
        by_time = math.ceil(demand.core_seconds / threads / _LONG_JOB_SECONDS)
        by_results = math.ceil(demand.result_bytes / _JOB_RESULT_BYTES)
        shards = max(1, by_time, worthwhile, by_results)
        if shards > at_a_time:
            shards = at_a_time * math.ceil(shards / at_a_time)
        together = min(shards, at_a_time) * demand.peak_bytes(1 / shards, threads)
        if 2 * threads > cores or together <= _USED_MEMORY_SHARE * memory:
            return shards, threads
        threads *= 2


def describe_figures(figures: Mapping[str, Any], unit: str, sampled: str) -> list[tuple[str, str]]:
    """Describe the figures of :func:`summarize` in words.

    Parameters
    ----------
    figures : mapping
        The figures.
    unit : str
        Plural of the units that are trained, such as ``labels``.
    sampled : str
        The units of which the sample is taken, such as ``labels with positives``.

    Returns
    -------
    lines : list of pairs
        Names and descriptions.
    """
    jobs = f"{figures['shards']:,} jobs" if figures["shards"] > 1 else "one job"
    threads = f"{figures['threads']} threads" if figures["threads"] > 1 else "one thread"
    core_time = format_duration(figures["core_seconds"])
    error = figures["core_seconds_error"]
    if error:
        core_time += f" ± {100 * error / figures['core_seconds']:.0f} %"
    wall_time = format_duration(figures["wall_seconds"])
    job_time = format_duration(figures["job_seconds"])
    job_memory = f"{figures['job_bytes'] / 1e6:,.0f} MB per job"
    thread_memory = f"{figures['thread_bytes'] / 1e6:,.0f} MB of it per thread"
    request = f"mem_mb={figures['suggested_mem_mb']} runtime={figures['suggested_runtime']} (min)"
    lines = [
        ("sample", f"{figures[f'sampled_{unit}']:,} of {figures[unit]:,} {sampled}"),
        ("core time", core_time),
    ]
    both = figures["core_seconds_with_rerank"]
    if both:
        text = f"{format_duration(both)} of core time, the default for texts"
        lines.append(("with rerank", text))
    return [
        *lines,
        (
            "wall time",
            f"{wall_time}: {jobs} of {threads} and {job_time}, "
            f"{figures['jobs_at_a_time']:,} at a time on {figures['cores']} idle cores",
        ),
        ("memory", f"{job_memory}, {thread_memory}"),
        ("model", f"{figures['model_bytes'] / 1e6:,.0f} MB, {figures['weights']:,.0f} weights"),
        (
            "suggestion",
            f"shards: {figures['suggested_shards']}, threads: {figures['suggested_threads']}; "
            f"each job {request}",
        ),
    ]
