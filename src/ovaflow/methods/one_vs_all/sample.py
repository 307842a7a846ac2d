"""Training a sample of the labels, one by one: its time and memory."""

import time

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import open_dataset
from ovaflow.estimate.demand import Demand
from ovaflow.estimate.sample import Sample, measure_setup, time_training
from ovaflow.initialization.label_tree import add_ancestors
from ovaflow.initialization.pretrained import match_model
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.machine.limits import read_peak_rss
from ovaflow.model.model_file import LabelWeights
from ovaflow.model.pruning import count_kept_weights
from ovaflow.sparse.panel import PANEL_WIDTH
from ovaflow.sparse.weight_rows import can_round_weights, count_feature_blocks
from ovaflow.training.label_jobs import LabelJobs
from ovaflow.training.plan import compute_sampling_error, draw_stratified_sample
from ovaflow.training.shard_job import train_labels

_NORMAL = 1.96  # quantile of 97.5 %
_BUSY = 0.05
"""Standard deviation of the processor time of equal work: 4.5 % between runs on two busy cores."""

_OBJECTS = 1000  # bytes of a solved label's Python objects besides its weights


def sample_labels(dataset, settings, earlier=None):
    """Solve some labels of a dataset file, one by one."""
    training = settings.training
    opened = open_dataset(dataset)
    seed = settings.seed
    start = time.process_time()
    if earlier is not None:
        earlier = match_model(LabelWeights.open(earlier), opened)
    inputs = compute_start_inputs(opened, training, earlier=earlier)
    # other jobs of a workflow compute the inputs
    input_seconds = time.process_time() - start
    counts = inputs.means.counts
    if not counts.any():
        remedy = "give a dataset whose training instances have labels"
        raise InputError("no label has positives", path=dataset, remedy=remedy)
    # the first labels touch new memory and cold caches: let them be the frequent ones, whose
    # multiplicities are small
    labels, multiplicities = (
        array[::-1] for array in draw_stratified_sample(counts, settings.sample, seed)
    )
    n = len(labels)
    solved = np.concatenate([labels, _company(labels, counts, seed)])
    if inputs.parents is not None:
        # a label that starts at its parent's solution needs the path up to the root
        solved = add_ancestors(solved, inputs.parents)
    train_labels(opened, inputs, np.unique(labels[[0, -1]]), training, title="warm up")
    job_seconds = time.process_time() - input_seconds
    setup_seconds, job_bytes = measure_setup(
        lambda: LabelJobs.from_dataset(opened, inputs, training), opened
    )
    shard, seconds = time_training(
        lambda: train_labels(opened, inputs, solved, training, title="sample")
    )
    thread_seconds = shard.statistics["seconds"]
    core = thread_seconds[:n] * max(seconds - setup_seconds, 0) / (thread_seconds.sum() or 1)
    stored = float(multiplicities @ np.diff(shard.weights.indptr)[:n])
    weights = float(
        multiplicities @ count_kept_weights(shard.weights, settings.smallest_kept_weight)[:n]
    )
    demand = Demand(
        core_seconds=float(multiplicities @ core),
        job_seconds=job_seconds,
        job_bytes=job_bytes,
        thread_bytes=max(0, read_peak_rss() - job_bytes),
        result_bytes=8 * stored + _OBJECTS * opened.n_labels,
    )
    sampling = compute_sampling_error(core, multiplicities, counts[labels])
    error = _NORMAL * float(np.hypot(sampling, _BUSY * demand.core_seconds))
    return Sample(
        n, int(np.count_nonzero(counts)), demand, _model_bytes(weights, opened), weights, error
    )


def _model_bytes(weights, dataset):
    """Bytes of the weights in a model file, and of what else these need for each label but the end
    of its row.
    """
    if not can_round_weights(dataset.parameters):
        return 8 * weights
    # a step, and the end of each segment but one
    return 4 * weights + dataset.n_labels * (8 * count_feature_blocks(dataset.n_features) - 4)


def _company(labels, counts, seed):
    """Labels solved after the sample, which bear the cost of passes with few labels in flight."""
    others = np.setdiff1d(np.flatnonzero(counts), labels)
    return np.random.default_rng(seed).choice(others, min(PANEL_WIDTH, len(others)), replace=False)
