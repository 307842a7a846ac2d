"""Training a sample of the labels, or a tree, in a separate process: its time and memory."""

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
from ovaflow.model.model_file import LabelWeights
from ovaflow.model.pruning import kept_per_row
from ovaflow.settings.models import GrowTrees, TrainLabels
from ovaflow.sparse.panel import WIDTH
from ovaflow.training.label_jobs import LabelJobs
from ovaflow.training.plan import sampling_error, stratified_sample
from ovaflow.training.shard_job import train_labels

_STEADY = 4.0
_REPEATS = 5
_NORMAL = 1.96  # quantile of 97.5 %
_BUSY = 0.05
"""Standard deviation of the processor time of equal work: 4.5 % between runs on two busy cores."""

_OBJECTS = 1000  # bytes of a solved label's Python objects besides its weights


@dataclass(frozen=True)
class Sample:
    solved: int  # labels or trees of the sample
    of: int  # all of them
    demand: Demand
    model_bytes: float  # weights or trees in the model
    weights: float  # number of weights
    core_error: float | None = None  # half of a 95 % interval of core_seconds; unknown from one tree


def sample_labels(dataset, settings, prune, n_labels, seed=0, earlier=None):
    """Solve some labels of a dataset file, one by one, with the settings of a training (a dict)."""
    training, opened = TrainLabels(**settings), open_dataset(dataset)
    start = time.process_time()
    if earlier is not None:
        earlier = match_model(LabelWeights.open(earlier), opened)
    inputs = compute_start_inputs(opened, training, earlier=earlier)
    # other jobs of a workflow compute the inputs
    input_seconds, counts = time.process_time() - start, inputs.means.counts
    if not counts.any():
        remedy = "give a dataset whose training instances have labels"
        raise InputError("no label has positives", path=dataset, remedy=remedy)
    # the first labels touch new memory and cold caches: let them be the frequent ones, whose
    # multiplicities are small
    labels, multiplicities = (array[::-1] for array in stratified_sample(counts, n_labels, seed))
    n, solved = len(labels), np.concatenate([labels, _company(labels, counts, seed)])
    if inputs.parents is not None:
        # a label that starts at its parent's solution needs the path up to the root
        solved = with_ancestors(solved, inputs.parents)
    train_labels(opened, inputs, np.unique(labels[[0, -1]]), training, title="warm up")
    job_seconds = time.process_time() - input_seconds
    setup_seconds, job_bytes = _measure_setup(lambda: LabelJobs.of(opened, inputs, training), opened)
    shard, seconds = _repeat(lambda: train_labels(opened, inputs, solved, training, title="sample"))
    thread_seconds = shard.statistics["seconds"]
    core = thread_seconds[:n] * max(seconds - setup_seconds, 0) / (thread_seconds.sum() or 1)
    stored = float(multiplicities @ np.diff(shard.weights.indptr)[:n])
    weights = float(multiplicities @ kept_per_row(shard.weights, prune)[:n])
    demand = Demand(
        core_seconds=float(multiplicities @ core),
        job_seconds=job_seconds,
        job_bytes=job_bytes,
        thread_bytes=max(0, peak_rss_bytes() - job_bytes),
        result_bytes=8 * stored + _OBJECTS * opened.n_labels,
    )
    sampling = sampling_error(core, multiplicities, counts[labels])
    error = _NORMAL * float(np.hypot(sampling, _BUSY * demand.core_seconds))
    return Sample(n, int(np.count_nonzero(counts)), demand, 8 * weights, weights, error)


def _company(labels, counts, seed):
    """Labels solved after the sample, which bear the cost of passes with few labels in flight."""
    others = np.setdiff1d(np.flatnonzero(counts), labels)
    return np.random.default_rng(seed).choice(others, min(WIDTH, len(others)), replace=False)


def sample_trees(dataset, settings):
    """Grow a tree of a dataset file with the settings of a forest (a dict)."""
    forestry, opened = GrowTrees(**settings), open_dataset(dataset)
    few = opened.train.take(np.arange(min(50, opened.train.X.n_rows)))
    grow_trees(replace(opened, train=few), [0], forestry, title="warm up")
    job_seconds = time.process_time()
    _, job_bytes = _measure_setup(lambda: gains_of(forestry, opened), opened)
    grown, seconds = _repeat(lambda: grow_trees(opened, [0], forestry, title="sample"))
    forest = grown.forest
    arrays = forest.children, forest.sizes, *forest.separators.arrays, *forest.distributions.arrays
    tree_bytes = sum(array.nbytes for array in arrays)
    of_thread, results = max(0, peak_rss_bytes() - job_bytes), float(forestry.trees * tree_bytes)
    demand = Demand(forestry.trees * seconds, job_seconds, job_bytes, of_thread, results)
    weights = len(forest.separators.data) + len(forest.distributions.data)
    return Sample(1, forestry.trees, demand, demand.result_bytes, float(forestry.trees * weights))


def _measure_setup(make, dataset):
    """Processor seconds of making what all threads share, and memory with it and the dataset."""
    start = time.process_time()
    setup = make()
    seconds = time.process_time() - start
    for array in (*dataset.train.X.arrays, *dataset.train.Y.arrays):
        # mapped pages count once they are read
        array.max(initial=0)
    rss = psutil.Process().memory_info().rss
    del setup
    return seconds, rss


def _repeat(train):
    """Result and processor seconds; a short training is repeated, as the first has cold caches."""
    seconds = []
    while sum(seconds) < _STEADY and len(seconds) < _REPEATS:
        start = time.process_time()
        result = train()
        seconds.append(time.process_time() - start)
    return result, float(np.mean(seconds[1:] or seconds))


_SAMPLES = {"one-vs-all": sample_labels, "fastxml": sample_trees}


def in_separate_process(method, **arguments):
    """Sample in a separate process, whose memory is that of a job."""
    request = json.dumps({"method": method, **arguments})
    command = [sys.executable, "-P", "-m", "ovaflow.estimate.sample"]

    def ignore_interrupts():
        # Ctrl-C reaches both processes; the parent reports it and ends the child
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    for _ in range(2):
        child = subprocess.run(command, input=request, stdout=subprocess.PIPE, text=True, preexec_fn=ignore_interrupts)
        if child.returncode:
            raise click.exceptions.Exit(child.returncode)
        sample = json.loads(child.stdout)
        # compiling kernels took time and memory; the next attempt only loads them
        if not sample.pop("compiled"):
            break
    sample["demand"] = Demand(**sample["demand"])
    return Sample(**sample)


def _main():
    arguments = json.load(sys.stdin)
    try:
        with install_recorder("numba:compile") as compilations:
            sample = _SAMPLES[arguments.pop("method")](**arguments)
    except InputError as error:
        print(f"ovaflow: error: {error}", file=sys.stderr)
        sys.exit(2)
    print(json.dumps(asdict(sample) | {"compiled": bool(compilations.buffer)}))


if __name__ == "__main__":
    _main()
