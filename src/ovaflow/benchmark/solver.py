"""Measuring the solver on a sample of labels."""

import time

import numpy as np

from ovaflow.benchmark.sample import sample_labels, sample_subtrees
from ovaflow.solver.problem import Status
from ovaflow.training.memory import peak_rss_bytes
from ovaflow.training.shard_job import train_labels
from ovaflow.training.start_inputs import compute_start_inputs


def benchmark_solver(dataset, n_labels, seed, threads, training, earlier=None):
    """Train a sample of labels and say what that cost.

    Parameters
    ----------
    dataset : Dataset
    n_labels : int
        With the label-tree start whole subtrees are trained, and perhaps some labels more.
    seed : int
    threads : int
    training : Training
    earlier : Earlier, optional
        For the pretrained start.

    Returns
    -------
    dict
        Means over the sample: ``ms_per_label`` (threads times wall time) and
        ``cpu_ms_per_label`` (less what other programs took of the cores),
        ``newton_per_label``, ``cg_per_label``, ``full_passes_per_label``
        (products with all of X), ``objective_per_label``; also
        ``peak_rss_bytes``, ``labels``, ``not_converged`` and the settings.
    """
    inputs = compute_start_inputs(dataset, training, threads, earlier=earlier)
    means = inputs.means
    if inputs.parents is None:
        labels = sample_labels(means.counts, n_labels, seed)
    else:
        labels = sample_subtrees(means.counts, inputs.parents, n_labels, seed)
    by_count = labels[np.argsort(means.counts[labels])]
    train_labels(dataset, inputs, by_count[[0, -1]] if len(labels) > 1 else labels, training, title="warm up")
    began = time.process_time()
    done = train_labels(dataset, inputs, labels, training, threads, title="benchmark")
    cpu_seconds = time.process_time() - began
    mean = {name: float(values.mean()) for name, values in done.statistics.items()}
    return {
        "ms_per_label": 1e3 * done.core_seconds / len(labels),
        "cpu_ms_per_label": 1e3 * cpu_seconds / len(labels),
        "newton_per_label": mean["newton_steps"],
        "cg_per_label": mean["cg_steps"],
        "full_passes_per_label": mean["full_passes"],
        "objective_per_label": mean["objective"],
        "nonzeros_per_label": len(done.weights.data) / len(labels),
        "peak_rss_bytes": peak_rss_bytes(),
        "labels": len(labels),
        "not_converged": int((done.statistics["status"] != Status.CONVERGED).sum()),
        "threads": threads,
        "initialization": training.initialization,
        "C": training.C,
        "loss": training.loss,
        "regularization": training.regularization,
        "weighting": training.weighting,
        "epsilon": training.epsilon,
    }
