"""Train a sample of the labels, one by one, to estimate the time and memory of all."""

import time

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.estimate.demand import Demand
from ovaflow.estimate.sample import Sample, measure_setup, time_training
from ovaflow.initialization.label_tree import add_ancestors
from ovaflow.initialization.pretrained import match_model
from ovaflow.initialization.starts import StartInputs, compute_start_inputs
from ovaflow.machine.limits import read_peak_rss
from ovaflow.model.model_file import LabelWeights
from ovaflow.model.pruning import count_kept_weights
from ovaflow.settings.train import SampleLabels, TrainLabels
from ovaflow.sparse.panel import PANEL_WIDTH
from ovaflow.sparse.weight_rows import can_round_weights, count_feature_blocks
from ovaflow.training.label_jobs import LabelJobs
from ovaflow.training.plan import compute_sampling_error, draw_stratified_sample
from ovaflow.training.shard_job import train_labels

_QUANTILE_975 = 1.96
"""97.5 % quantile of the normal distribution."""

_TIMING_DEVIATION = 0.05
"""Relative standard deviation of the processor time of equal work: 4.5 % on two busy cores."""

_LABEL_OBJECT_BYTES = 1000
"""Memory of a solved label's Python objects, apart from its weights."""


def sample_labels(
    dataset: StrPath, settings: SampleLabels, earlier: StrPath | None = None
) -> Sample:
    """Solve some labels of a dataset file, one by one, and scale their cost up to all labels.

    Parameters
    ----------
    dataset : path-like
        The dataset file.
    settings : SampleLabels
    earlier : path-like, optional
        Model from which the training starts.

    Returns
    -------
    Sample
    """
    training = settings.training
    opened = open_dataset(dataset)
    seed = settings.seed
    start = time.process_time()
    earlier_weights = None
    if earlier is not None:
        earlier_weights = match_model(LabelWeights.open(earlier), opened)
    inputs = compute_start_inputs(opened, training, earlier=earlier_weights)
    # other jobs of a workflow compute the inputs
    input_seconds = time.process_time() - start
    counts = inputs.means.counts
    if not counts.any():
        remedy = "give a dataset whose training instances have labels"
        raise InputError("no label has positives", path=dataset, remedy=remedy)
    labels, multiplicities = draw_stratified_sample(counts, settings.sample, seed)
    # the first labels touch new memory and cold caches: let them be the frequent ones, whose
    # multiplicities are small
    labels = labels[::-1]
    multiplicities = multiplicities[::-1]
    n = len(labels)
    solved = np.concatenate([labels, _draw_further_labels(labels, counts, seed)])
    if inputs.parents is not None:
        # a label that starts at its parent's solution needs the path up to the root
        solved = add_ancestors(solved, inputs.parents)
    _warm_up(opened, inputs, labels, training)
    job_seconds = time.process_time() - input_seconds
    setup_seconds, job_bytes = measure_setup(
        lambda: LabelJobs.from_dataset(opened, inputs, training), opened
    )
    shard, seconds = time_training(
        lambda: train_labels(opened, inputs, solved, training, title="sample")
    )
    thread_seconds = shard.statistics["seconds"]
    core = thread_seconds[:n] * max(seconds - setup_seconds, 0) / (thread_seconds.sum() or 1)
    n_stored = float(multiplicities @ np.diff(shard.weights.indptr)[:n])
    kept = count_kept_weights(shard.weights, settings.smallest_kept_weight)
    n_kept = float(multiplicities @ kept[:n])
    demand = Demand(
        core_seconds=float(multiplicities @ core),
        job_seconds=job_seconds,
        job_bytes=job_bytes,
        thread_bytes=max(0, read_peak_rss() - job_bytes),
        result_bytes=8 * n_stored + _LABEL_OBJECT_BYTES * opened.n_labels,
    )
    sampling_error = compute_sampling_error(core, multiplicities, counts[labels])
    timing_error = _TIMING_DEVIATION * demand.core_seconds
    return Sample(
        n,
        int(np.count_nonzero(counts)),
        demand,
        _estimate_model_bytes(n_kept, opened),
        n_kept,
        _QUANTILE_975 * float(np.hypot(sampling_error, timing_error)),
    )


def _warm_up(
    dataset: Dataset, inputs: StartInputs, labels: np.ndarray, training: TrainLabels
) -> None:
    """Solve the first and the last label, so that kernels are compiled."""
    train_labels(dataset, inputs, np.unique(labels[[0, -1]]), training, title="warm up")


def _estimate_model_bytes(n_weights: float, dataset: Dataset) -> float:
    """Estimate the bytes of the weights in a model file, and of the other arrays of each label.

    The end of each label's row is not among them.
    """
    if not can_round_weights(dataset.parameters):
        return 8 * n_weights
    # a step, and the end of each segment but one
    n_segments = count_feature_blocks(dataset.n_features)
    return 4 * n_weights + dataset.n_labels * (8 * n_segments - 4)


def _draw_further_labels(labels: np.ndarray, counts: np.ndarray, seed: int) -> np.ndarray:
    """Draw labels to solve after the sample.

    They bear the cost of the last passes, in which few labels share the products.
    """
    others = np.setdiff1d(np.flatnonzero(counts), labels)
    generator = np.random.default_rng(seed)
    return generator.choice(others, min(PANEL_WIDTH, len(others)), replace=False)
