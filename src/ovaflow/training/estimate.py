"""What training will take, from solving a sample of the labels."""

import math
import time
from dataclasses import asdict, dataclass

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import clock
from ovaflow.data.dataset import KIND
from ovaflow.initialization.label_tree import with_ancestors
from ovaflow.machine.capacity import Capacity, read_capacity
from ovaflow.model.pruning import kept_per_row
from ovaflow.solver.problem import L1
from ovaflow.sparse.csr import rows_of
from ovaflow.sparse.panel import WIDTH
from ovaflow.storage.artifact import open_artifact
from ovaflow.storage.texts import write_json
from ovaflow.training.fast_path import FAST_PATHS, Samples, WorkingSets
from ovaflow.training.label_jobs import LabelJobs
from ovaflow.training.memory import JobMemory, Shape, Touched, job_memory, megabytes_to_request
from ovaflow.training.sampling import Total, stratified_sample, total_of
from ovaflow.training.shard_job import train_labels
from ovaflow.training.shard_request import ESTIMATE, WRITTEN_PER_SECOND, Demand, minutes_of
from ovaflow.training.start_inputs import compute_start_inputs

JOB_SECONDS = 0.9
"""Of a job before and after training: interpreter, imports, reading (measured)."""

LOADING_SECONDS = 0.2
"""Of a job while training: kernels are loaded from their cache (measured)."""

_STEADY = 2.0
_REPEATS = 5
_LONG_JOB = 600.0
_WORTHWHILE = 20.0
_WEIGHTS_OF_A_JOB = 1e9
_FILE = 1 << 16
_NOTABLE = 1.2
_OF_A_NODE = 0.9


@dataclass(frozen=True)
class Sample:
    """What solving some of the labels showed.

    Attributes
    ----------
    labels : int
        Size of the sample.
    trained : int
        Labels with positives.
    setup_seconds : float
        Time that each job takes before its first label.
    slowdown : float
        Wall time by core time while the sample was solved: above 1 where other
        processes wanted the same cores.
    label_seconds, stored, kept : Total
        Core time, weights in the shards and weights in the model, of all labels.
    pretrained : bool
        The labels start from an earlier model.
    fast_path : type
        One of :data:`ovaflow.training.fast_path.FAST_PATHS`.
    transposed : bool
        See :class:`~ovaflow.training.memory.Touched`.
    """

    labels: int
    trained: int
    setup_seconds: float
    slowdown: float
    label_seconds: Total
    stored: Total
    kept: Total
    pretrained: bool = False
    fast_path: type = WorkingSets
    transposed: bool = False


@dataclass(frozen=True)
class Estimate:
    """What training all labels will take.

    Attributes
    ----------
    sample : Sample
    threads, shards : int
        As asked for.
    capacity : ovaflow.machine.capacity.Capacity
        Of this machine.
    at_a_time : int
        Jobs that run side by side on them.
    core_seconds : float
        Threads times wall seconds of the solver, over all jobs.
    job_seconds, wall_seconds : float
        Of one job, and of all, on a machine that does nothing else (see
        :attr:`Sample.slowdown` for this one).
    memory : JobMemory
        Of one job.
    model_bytes : int
    suggestion : dict
        ``shards``, ``threads``, and of each job ``mem_mb`` and ``runtime`` (minutes).
    """

    sample: Sample
    threads: int
    shards: int
    capacity: Capacity
    at_a_time: int
    core_seconds: float
    job_seconds: float
    wall_seconds: float
    memory: JobMemory
    model_bytes: int
    suggestion: dict


def estimate_training(dataset, training, prune, n_labels, threads, shards, seed=0, earlier=None):
    """Solve a sample of the labels and say what all of them will take.

    Parameters
    ----------
    dataset : Dataset
    training : Training
    prune : float
        Weights below it are not in the model.
    n_labels : int
        About as many labels are solved.
    threads : int
        Of each job.
    shards : int
        Jobs.
    seed : int
        Of the sample.
    earlier : Earlier, optional
        For the pretrained start.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If no label has positives, or the shards would be pruned more than the model.
    """
    if prune < training.stored_threshold:
        raise InputError(
            f"a model pruned at {prune:g} needs weights below the stored threshold {training.stored_threshold:g}",
            remedy=f"give --stored-threshold={prune:g}",
        )
    inputs = compute_start_inputs(dataset, training, earlier=earlier)
    means = inputs.means
    if not means.counts.any():
        raise InputError(
            "no label has positives", path=dataset.path, remedy="give a dataset whose training instances have labels"
        )
    capacity = read_capacity()
    cores, at_a_time = capacity.cores, min(shards, capacity.jobs(threads))
    jobs, setup = _timed(lambda: LabelJobs.of(dataset, inputs, training))
    suited = jobs.suits_fast_path(means.counts)
    strata = stratified_sample(means.counts, suited, n_labels, seed)
    busy = min(cores, threads * at_a_time)
    sample = _solve(dataset, inputs, training, prune, strata, busy, setup)
    return _conclude(dataset, means.counts, suited, sample, threads, shards, capacity, at_a_time)


def _timed(call):
    """Result and processor seconds, which other processes on the machine hardly change."""
    began = time.process_time()
    result = call()
    return result, time.process_time() - began


def _solve(dataset, inputs, training, prune, strata, busy, setup):
    labels = np.concatenate([stratum.labels for stratum in strata])
    # kernels are loaded first; with too few labels a thread the columns of the fast path stay empty
    train_labels(dataset, inputs, labels[[0, -1]] if len(labels) > 1 else labels, training, title="warm up")
    threads = max(1, min(busy, len(labels) // (4 * WIDTH)))
    # a label's time depends on its parent's solution, so that the way up to the root is solved with it
    solved = labels if inputs.parents is None else with_ancestors(labels, inputs.parents)
    done, wall, core = _solve_repeatedly(
        lambda: train_labels(dataset, inputs, solved, training, threads, "sample"), setup
    )
    seconds, sampled = wall * core / wall.sum(), slice(len(labels))
    return Sample(
        len(labels),
        int(np.count_nonzero(inputs.means.counts)),
        setup,
        float(wall.sum() / core) if core else 1.0,
        total_of(strata, seconds[sampled]),
        total_of(strata, np.diff(done.weights.indptr)[sampled]),
        total_of(strata, kept_per_row(done.weights, prune)[sampled]),
        inputs.earlier is not None,
        FAST_PATHS[training.settings.loss],
        training.settings.regularization == L1,
    )


def _solve_repeatedly(solve, setup):
    """Solve more than once what is too short to be timed; mean wall seconds of each label, core seconds of all."""
    wall, core, repeats = 0.0, 0.0, 0
    while core < _STEADY and repeats < _REPEATS:
        done, seconds = _timed(solve)
        wall = wall + done.statistics["seconds"]
        core += max(seconds - setup, 0.0)
        repeats += 1
    return done, wall / repeats, core / repeats


def _conclude(dataset, counts, suited, sample, threads, shards, capacity, at_a_time):
    shape = Shape.of(dataset)
    job_seconds = _job_seconds(sample, min(threads, capacity.cores), shards)
    overhead = threads * shards * (sample.setup_seconds + LOADING_SECONDS)
    return Estimate(
        sample=sample,
        threads=threads,
        shards=shards,
        capacity=capacity,
        at_a_time=at_a_time,
        core_seconds=sample.label_seconds.value + overhead,
        job_seconds=job_seconds,
        wall_seconds=job_seconds * math.ceil(shards / at_a_time),
        memory=_job_memory(dataset, shape, counts, suited, sample, threads, shards),
        model_bytes=_model_bytes(dataset, shape, sample.kept.value),
        suggestion=_suggest(dataset, shape, counts, suited, sample, capacity),
    )


def _job_seconds(sample, threads, shards):
    solving = sample.label_seconds.value / (threads * shards)
    writing = 8 * sample.stored.value / shards / WRITTEN_PER_SECOND
    return JOB_SECONDS + LOADING_SECONDS + sample.setup_seconds + solving + writing


def _job_memory(dataset, shape, counts, suited, sample, threads, shards):
    touched = touched_by(dataset.train.X, counts, suited, threads * shards, sample.fast_path)
    touched = touched._replace(transposed=sample.transposed)
    weights = int(sample.stored.value / shards)
    return job_memory(shape, threads, shape.labels // shards, weights, touched, sample.pretrained)


def touched_by(X, counts, suited, workers, fast_path=WorkingSets):
    """How much of its arrays a thread touches, from random rows in the number of its labels' problems.

    Parameters
    ----------
    X : CSR, shape (n, d)
    counts : ndarray of int64, shape (l,)
    suited : ndarray of bool, shape (l,)
        Labels that are solved on the fast path.
    workers : int
        Threads of all jobs together, among which labels are divided.
    fast_path : type
        :class:`~ovaflow.training.fast_path.WorkingSets` or
        :class:`~ovaflow.training.fast_path.Samples`.

    Returns
    -------
    Touched
    """
    plain = bool(((counts > 0) & ~suited).any())
    if not suited.any():
        return Touched(0, 0, 0, screened=False, plain=plain)
    in_column = max(int(suited.sum()) / workers / WIDTH, 2)
    of_column, of_thread = np.quantile(counts[suited], [1 - 1 / in_column, 1 - 1 / (WIDTH * in_column)])
    n_rows = fast_path.largest_problem(int(of_column), X.n_rows)
    part = rows_of(X, np.random.default_rng(0).choice(X.n_rows, n_rows, replace=False))
    entries = fast_path.largest_problem(int(of_thread), X.n_rows) * len(X.data) // X.n_rows
    sampled = fast_path is Samples
    return Touched(n_rows, len(np.unique(part.indices)), entries, not sampled, plain, sampled)


def _model_bytes(dataset, shape, weights):
    names = ("label_names", "feature_names")
    with open_artifact(dataset.path, KIND) as file:
        stored = [file[name][part] for name in names if name in file for part in ("utf8", "offsets")]
        stored += [file["idf"]] if "idf" in file else []
        beside = sum(item.size * item.dtype.itemsize for item in stored)
    return int(8 * weights) + 17 * shape.labels + beside + _FILE


def _suggest(dataset, shape, counts, suited, sample, capacity):
    """Jobs of ten minutes at most, one on each core if that is worth their start, with a gigabyte of weights each.

    Where so many jobs do not fit a node's memory, each has more threads, which
    share what is not theirs alone; more jobs than run at a time are whole rounds
    of them, so that no core waits for the last.
    """
    start = JOB_SECONDS + LOADING_SECONDS + sample.setup_seconds
    seconds, threads = sample.label_seconds.value, 1
    by_weights = math.ceil(16 * sample.stored.value / _WEIGHTS_OF_A_JOB)
    while True:
        at_a_time = capacity.jobs(threads)
        worthwhile = min(at_a_time, int(seconds / (threads * _WORTHWHILE * start)))
        shards = max(1, math.ceil(seconds / threads / _LONG_JOB), worthwhile, by_weights)
        if shards > at_a_time:
            shards = at_a_time * math.ceil(shards / at_a_time)
        memory = _job_memory(dataset, shape, counts, suited, sample, threads, shards)
        if 2 * threads > max(capacity.nodes) or _fit(memory, min(shards, at_a_time), capacity):
            break
        threads *= 2
    minutes = minutes_of(_job_seconds(sample, threads, shards))
    return {"shards": shards, "threads": threads, "mem_mb": megabytes_to_request(memory), "runtime": minutes}


def _fit(memory, jobs, capacity):
    """Whether jobs side by side fit the nodes' memory, with one copy of the features on each."""
    on_a_node = math.ceil(jobs / len(capacity.nodes))
    return on_a_node * (memory.total - memory.features) + memory.features <= _OF_A_NODE * capacity.memory


def write_demand(path, estimate):
    """Write what the shards' requests are made from, see :mod:`ovaflow.training.shard_request`.

    Parameters
    ----------
    path : path-like
        JSON.
    estimate : Estimate
        Of one shard and one thread, which has the largest labels.
    """
    sample, memory = estimate.sample, estimate.memory
    demand = Demand(
        seconds=sample.label_seconds.value,
        error=sample.label_seconds.error,
        start_seconds=JOB_SECONDS + LOADING_SECONDS + sample.setup_seconds,
        weights=sample.stored.value,
        shared_bytes=memory.total - memory.thread - memory.weights - memory.earlier,
        thread_bytes=memory.thread,
    )
    write_json(path, ESTIMATE, asdict(demand))


def as_record(estimate):
    """Figures of an estimate, flat, for one line of JSON.

    Parameters
    ----------
    estimate : Estimate

    Returns
    -------
    dict
        Seconds, bytes and numbers; ``*_error`` is the half width of the 95 %
        range as a share.
    """
    sample, memory = estimate.sample, estimate.memory
    return {
        "core_seconds": estimate.core_seconds,
        "core_seconds_error": sample.label_seconds.error,
        "wall_seconds": estimate.wall_seconds,
        "job_seconds": estimate.job_seconds,
        "jobs_at_a_time": estimate.at_a_time,
        "slowdown": sample.slowdown,
        "job_bytes": memory.total,
        "thread_bytes": memory.thread,
        "weights": sample.kept.value,
        "weights_error": sample.kept.error,
        "stored_weights": sample.stored.value,
        "model_bytes": estimate.model_bytes,
        "labels": sample.trained,
        "sampled_labels": sample.labels,
        "threads": estimate.threads,
        "shards": estimate.shards,
        "cores": estimate.capacity.cores,
        **{f"suggested_{name}": value for name, value in estimate.suggestion.items()},
    }


def describe(estimate):
    """Lines for a person.

    Parameters
    ----------
    estimate : Estimate

    Returns
    -------
    list of (str, str)
        What, and how much.
    """
    sample, memory, suggestion = estimate.sample, estimate.memory, estimate.suggestion
    shared = (memory.features + memory.screen) / 1e6
    jobs = f"{estimate.shards:,} jobs" if estimate.shards > 1 else "one job"
    threads = f"{estimate.threads} threads" if estimate.threads > 1 else "one thread"
    return [
        ("solved", f"{sample.labels:,} of {sample.trained:,} labels with positives"),
        ("core time", f"{clock(estimate.core_seconds)}{_range(sample.label_seconds)}"),
        (
            "wall time",
            f"{clock(estimate.wall_seconds)}: {jobs} of {threads} and {clock(estimate.job_seconds)}, "
            f"{estimate.at_a_time} at a time on {estimate.capacity.cores} idle cores{_load(sample.slowdown)}",
        ),
        (
            "memory",
            f"{memory.total / 1e6:,.0f} MB a job: {memory.thread / 1e6:,.0f} MB each thread, "
            f"{shared:,.0f} MB features, {memory.weights / 1e6:,.0f} MB weights",
        ),
        ("machine", estimate.capacity.describe(estimate.shards, estimate.threads)),
        ("model", f"{estimate.model_bytes / 1e6:,.0f} MB, {sample.kept.value:,.0f} weights{_range(sample.kept)}"),
        (
            "suggestion",
            "shards: {shards}, threads: {threads}; each job mem_mb={mem_mb} runtime={runtime} (min)".format(
                **suggestion
            ),
        ),
    ]


def _range(total):
    return f" ± {100 * total.error:.0f} % (sampling, 95 %)" if total.error else ""


def _load(slowdown):
    return f" ({slowdown:.1f} times as long under the present load)" if slowdown >= _NOTABLE else ""
