"""Training a sample of the labels, or a tree, in a process of its own: its time and its memory."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace

import click
import numpy as np
import psutil
from numba.core.event import install_recorder

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.estimate.demand import Demand
from ovaflow.fastxml.training import gains_of, grow_trees
from ovaflow.initialization.label_tree import with_ancestors
from ovaflow.initialization.pretrained import match_model
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.machine.limits import peak_rss_bytes
from ovaflow.model.model_file import open_model
from ovaflow.model.pruning import kept_per_row
from ovaflow.settings.models import GrowTrees, TrainLabels
from ovaflow.sparse.panel import WIDTH
from ovaflow.training.label_jobs import LabelJobs
from ovaflow.training.plan import sampling_error, stratified_sample
from ovaflow.training.shard_job import train_labels

_STEADY = 4.0
_REPEATS = 5
_FEW = 50
_NORMAL = 1.96  # quantile of 97.5 %
_BUSY = 0.05
"""Standard deviation of the processor time of the same work: between runs on two busy cores it was 4.5 %."""

_OBJECTS = 1000
"""Bytes that Python's objects of a solved label take besides its weights."""


@dataclass(frozen=True)
class Sample:
    """What some labels, or a tree, took, and what all of them take."""

    solved: int  # labels or trees
    of: int
    demand: Demand
    model_bytes: float  # of the weights or trees in the model
    weights: float  # their number
    core_error: float | None = None  # half of a 95 % interval of core_seconds; unknown from one tree


def sample_labels(dataset, settings, prune, n_labels, seed=0, earlier=None):
    """Solve some labels of a dataset file, one after the other, with the settings of a training (a dict).

    Weights below ``prune`` are not in the model; ``earlier`` is the path of a model for the pretrained start.
    """
    training, opened = TrainLabels(**settings), open_dataset(dataset)
    began = time.process_time()
    earlier = None if earlier is None else match_model(open_model(earlier), opened)
    inputs = compute_start_inputs(opened, training, earlier=earlier)
    elsewhere, counts = time.process_time() - began, inputs.means.counts
    if not counts.any():
        raise InputError(
            "no label has positives", path=dataset, remedy="give a dataset whose training instances have labels"
        )
    # the first labels touch new memory and read cold caches, so these are the frequent ones, which represent few
    labels, represented = (found[::-1] for found in stratified_sample(counts, n_labels, seed))
    # the way up to the root comes with a label that starts at its parent's solution
    filled = np.concatenate([labels, _company(labels, counts, seed)])
    solved = filled if inputs.parents is None else with_ancestors(filled, inputs.parents)
    train_labels(opened, inputs, labels[[0, -1]] if len(labels) > 1 else labels, training, title="warm up")
    job_seconds = time.process_time() - elsewhere
    setup, job_bytes = _shared(lambda: LabelJobs.of(opened, inputs, training), opened)
    done, seconds = _repeated(lambda: train_labels(opened, inputs, solved, training, title="sample"))
    spent = done.statistics["seconds"]
    core = spent[: len(labels)] * max(seconds - setup, 0) / (spent.sum() or 1)
    stored, kept = (
        float(represented @ rows[: len(labels)])
        for rows in (np.diff(done.weights.indptr), kept_per_row(done.weights, prune))
    )
    demand = Demand(
        core_seconds=float(represented @ core),
        job_seconds=job_seconds,
        job_bytes=job_bytes,
        thread_bytes=max(0, peak_rss_bytes() - job_bytes),
        result_bytes=8 * stored + _OBJECTS * opened.n_labels,
    )
    error = _NORMAL * np.hypot(sampling_error(core, represented, counts[labels]), _BUSY * demand.core_seconds)
    return Sample(len(labels), int(np.count_nonzero(counts)), demand, 8 * kept, kept, float(error))


def _company(labels, counts, seed):
    """Labels solved after the sample, so that its last ones share each pass over all instances as in a training.

    They pay for passes with few labels in flight, of which a sample has as many as a whole shard.
    """
    others = np.setdiff1d(np.flatnonzero(counts), labels)
    return np.random.default_rng(seed).choice(others, min(WIDTH, len(others)), replace=False)


def sample_trees(dataset, settings):
    """Grow a tree of a dataset file with the settings of a forest (a dict), or a few small ones."""
    forestry, opened = GrowTrees(**settings), open_dataset(dataset)
    first = np.arange(min(_FEW, opened.train.X.n_rows))
    few = opened.train.take(first)
    grow_trees(replace(opened, train=few), [0], forestry, title="warm up")
    job_seconds = time.process_time()
    _, job_bytes = _shared(lambda: gains_of(forestry, opened), opened)
    grown, seconds = _repeated(lambda: grow_trees(opened, [0], forestry, title="sample"))
    forest = grown.forest
    arrays = forest.children, forest.sizes, *forest.separators.arrays, *forest.distributions.arrays
    tree_bytes = sum(array.nbytes for array in arrays)
    demand = Demand(
        core_seconds=forestry.trees * seconds,
        job_seconds=job_seconds,
        job_bytes=job_bytes,
        thread_bytes=max(0, peak_rss_bytes() - job_bytes),
        result_bytes=float(forestry.trees * tree_bytes),
    )
    numbers = len(forest.separators.data) + len(forest.distributions.data)
    return Sample(1, forestry.trees, demand, demand.result_bytes, float(forestry.trees * numbers))


def _shared(make, dataset):
    """Processor seconds of making what all threads share, and the process's memory with it and the dataset."""
    began = time.process_time()
    made = make()
    seconds = time.process_time() - began
    for array in (*dataset.train.X.arrays, *dataset.train.Y.arrays):
        # mapped: its pages count once they are read
        array.max(initial=0)
    rss = psutil.Process().memory_info().rss
    del made
    return seconds, rss


def _repeated(train):
    """What is trained, and processor seconds; what is short is trained again, for its first time finds cold caches."""
    spent = []
    while sum(spent) < _STEADY and len(spent) < _REPEATS:
        began = time.process_time()
        done = train()
        spent.append(time.process_time() - began)
    return done, float(np.mean(spent[1:] or spent))


_SAMPLES = {"one-vs-all": sample_labels, "fastxml": sample_trees}


def in_own_process(method, **arguments):
    """Sample in a process of its own, whose memory is that of a job."""
    asked = json.dumps({"method": method, **arguments})
    command = [sys.executable, "-P", "-m", "ovaflow.estimate.sample"]

    def ignore_interrupts():
        # Ctrl-C reaches both processes; this one says so, and ends the other
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    for _ in range(2):
        done = subprocess.run(command, input=asked, stdout=subprocess.PIPE, text=True, preexec_fn=ignore_interrupts)
        if done.returncode:
            raise click.exceptions.Exit(done.returncode)
        found = json.loads(done.stdout)
        # kernels that had to be compiled took time and memory; now they are there
        if not found.pop("compiled"):
            break
    return Sample(**found | {"demand": Demand(**found["demand"])})


def _answer():
    asked = json.load(sys.stdin)
    try:
        with install_recorder("numba:compile") as compiled:
            found = _SAMPLES[asked.pop("method")](**asked)
    except InputError as error:
        print(f"ovaflow: error: {error}", file=sys.stderr)
        sys.exit(2)
    print(json.dumps(asdict(found) | {"compiled": bool(compiled.buffer)}))


if __name__ == "__main__":
    _answer()
