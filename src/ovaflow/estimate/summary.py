"""Figures of a whole training on this machine from a sample, and a number of jobs to use."""

import math

import h5py
import psutil

from ovaflow.console.progress import format_duration
from ovaflow.machine.limits import read_allowance
from ovaflow.settings.predict import AUTO_RERANK_SHARE
from ovaflow.storage.hdf5 import open_artifact, read_parameters

_LONG_JOB = 600.0
_WORTHWHILE = 20.0
_RESULTS_OF_A_JOB = 5e8
_OF_MEMORY = 0.9
_FILE = 1 << 16
_LABEL = 17


def summarize(sample, dataset, threads, shards, unit):
    """Figures of a training, for JSON: seconds on an idle machine, bytes, numbers."""
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
        unit: sample.of,
        "core_seconds": core_seconds,
        "core_seconds_error": sample.core_error,
        "core_seconds_with_rerank": _with_rerank(core_seconds, dataset),
        "wall_seconds": job_seconds * math.ceil(shards / at_a_time),
        "job_seconds": job_seconds,
        "jobs_at_a_time": at_a_time,
        "cores": cores,
        "job_bytes": int(demand.peak_bytes(1 / shards, threads)),
        "thread_bytes": demand.thread_bytes,
        "weights": sample.weights,
        "model_bytes": int(sample.model_bytes + _other_bytes(dataset)),
        "threads": threads,
        "shards": shards,
        "suggested_shards": suggested_shards,
        "suggested_threads": suggested_threads,
        "suggested_mem_mb": request.mem_mb,
        "suggested_runtime": request.runtime,
    }


def _with_rerank(core_seconds, dataset):
    """Processor time of both trainings of ``rerank: auto``; None of features, which are trained
    once.
    """
    with open_artifact(dataset, "dataset") as file:
        has_texts = "token_pattern" in read_parameters(file)
    return (2 - AUTO_RERANK_SHARE) * core_seconds if has_texts else None


def _other_bytes(dataset):
    """Bytes of a model file besides its weights or trees: mostly names, which are the dataset's."""
    with h5py.File(dataset) as file:
        size = _FILE + _LABEL * int(file["train/Y"].attrs["n_columns"])
        for name in ("label_names", "feature_names"):
            size += sum(array.nbytes for array in file.get(name, {}).values())
        if "idf" in file:
            size += file["idf"].nbytes
    return size


def suggest_jobs(demand, cores, memory):
    """Numbers of jobs, of at most ten minutes and one per core if the start-up pays, and of
    threads.
    """
    threads = 1
    # jobs that do not fit into memory get more threads each, which share most arrays
    while True:
        at_a_time = max(1, cores // threads)
        start_up = threads * _WORTHWHILE * demand.job_seconds
        worthwhile = min(at_a_time, int(demand.core_seconds / start_up))
        by_time = math.ceil(demand.core_seconds / threads / _LONG_JOB)
        by_results = math.ceil(demand.result_bytes / _RESULTS_OF_A_JOB)
        shards = max(1, by_time, worthwhile, by_results)
        if shards > at_a_time:
            shards = at_a_time * math.ceil(shards / at_a_time)
        together = min(shards, at_a_time) * demand.peak_bytes(1 / shards, threads)
        if 2 * threads > cores or together <= _OF_MEMORY * memory:
            return shards, threads
        threads *= 2


def describe_figures(figures, unit, sampled):
    """Figures in words; ``sampled`` says which units they are of."""
    jobs = f"{figures['shards']:,} jobs" if figures["shards"] > 1 else "one job"
    threads = f"{figures['threads']} threads" if figures["threads"] > 1 else "one thread"
    error = figures["core_seconds_error"]
    interval = f" ± {100 * error / figures['core_seconds']:.0f} %" if error else ""
    both = figures["core_seconds_with_rerank"]
    second = (
        [("with rerank", f"{format_duration(both)} of core time, the default for texts")]
        if both
        else []
    )
    return [
        ("sample", f"{figures[f'sampled_{unit}']:,} of {figures[unit]:,} {sampled}"),
        ("core time", format_duration(figures["core_seconds"]) + interval),
        *second,
        (
            "wall time",
            f"{format_duration(figures['wall_seconds'])}: {jobs} of {threads} and {format_duration(figures['job_seconds'])}, "
            f"{figures['jobs_at_a_time']:,} at a time on {figures['cores']} idle cores",
        ),
        (
            "memory",
            f"{figures['job_bytes'] / 1e6:,.0f} MB per job, {figures['thread_bytes'] / 1e6:,.0f} MB of it per thread",
        ),
        ("model", f"{figures['model_bytes'] / 1e6:,.0f} MB, {figures['weights']:,.0f} weights"),
        (
            "suggestion",
            f"shards: {figures['suggested_shards']}, threads: {figures['suggested_threads']}; "
            f"each job mem_mb={figures['suggested_mem_mb']} runtime={figures['suggested_runtime']} (min)",
        ),
    ]
