"""Measure the cost of the solver on a sample of labels."""

import json
import time

import click
import numpy as np

from ovaflow.cli.options import (
    DATASET_ARGUMENT,
    FILE_TYPE,
    THREADS_OPTION,
    number_option,
    step_options,
)
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.initialization.pretrained import EarlierModel, match_model
from ovaflow.initialization.spanning_tree import ROOT_PARENT
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.machine.limits import read_peak_rss
from ovaflow.model.model_file import LabelWeights
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.problem import Status
from ovaflow.training.shard_job import train_labels


def measure(
    dataset: Dataset,
    n_labels: int,
    seed: int,
    threads: int,
    training: TrainLabels,
    earlier: EarlierModel | None = None,
) -> dict:
    """Train random labels, or random subtrees with the label-tree start, and average over them."""
    inputs = compute_start_inputs(dataset, training, threads, earlier=earlier)
    means = inputs.means
    if inputs.parents is None:
        labels = sample_labels(means.counts, n_labels, seed)
    else:
        labels = sample_subtrees(means.counts, inputs.parents, n_labels, seed)
    by_count = labels[np.argsort(means.counts[labels])]
    train_labels(dataset, inputs, np.unique(by_count[[0, -1]]), training, title="warm up")
    wall = time.perf_counter()
    cpu = time.process_time()
    shard = train_labels(dataset, inputs, labels, training, threads=threads, title="benchmark")
    wall = time.perf_counter() - wall
    cpu = time.process_time() - cpu
    mean = {name: float(values.mean()) for name, values in shard.statistics.items()}
    recorded = ("initialization", "C", "loss", "regularization", "weighting", "epsilon")
    return {
        "ms_per_label": 1e3 * threads * wall / len(labels),
        "cpu_ms_per_label": 1e3 * cpu / len(labels),
        "newton_per_label": mean["newton_steps"],
        "cg_per_label": mean["cg_steps"],
        "full_passes_per_label": mean["full_passes"],
        "objective_per_label": mean["objective"],
        "nonzeros_per_label": len(shard.weights.data) / len(labels),
        "peak_rss_bytes": read_peak_rss(),
        "labels": len(labels),
        "not_converged": int((shard.statistics["status"] != Status.CONVERGED).sum()),
        "threads": threads,
        **{name: getattr(training, name) for name in recorded},
    }


def sample_labels(counts: np.ndarray, n_labels: int, seed: int) -> np.ndarray:
    """Draw random labels with positives, ascending; all if there are at most ``n_labels``."""
    candidates = np.flatnonzero(counts)
    size = min(n_labels, len(candidates))
    return np.sort(np.random.default_rng(seed).choice(candidates, size, replace=False))


def sample_subtrees(
    counts: np.ndarray, parents: np.ndarray, n_labels: int, seed: int
) -> np.ndarray:
    """Draw labels with positives of random subtrees of the root, at least ``n_labels`` if possible,
    ascending.
    """
    top = np.arange(len(parents))
    while (parents[top] != ROOT_PARENT).any():
        top = np.where(parents[top] == ROOT_PARENT, top, parents[top])
    members = np.bincount(top[counts > 0], minlength=len(parents))
    subtrees = np.random.default_rng(seed).permutation(np.flatnonzero(members))
    enough = np.searchsorted(np.cumsum(members[subtrees]), n_labels) + 1
    return np.flatnonzero(np.isin(top, subtrees[:enough]) & (counts > 0))


@click.command()
@DATASET_ARGUMENT
@number_option("--labels", 200, "Size of the sample.")
@number_option("--seed", 0, "Seed of the sample.", least=0)
@THREADS_OPTION
@step_options("train-shard")
@click.option(
    "--earlier", type=FILE_TYPE, help="Model that --initialization=pretrained starts from."
)
@click.option("--reference", is_flag=True, help="Use the plain solver, one label at a time.")
def main(dataset, *, labels, seed, threads, earlier, reference, settings) -> None:
    """Train a random sample of the labels of DATASET (dataset.h5) and print one line of JSON."""
    opened = open_dataset(dataset)
    start = None
    if earlier is not None:
        start = match_model(LabelWeights.open(earlier), opened)
    settings = settings.model_copy(update={"reference": reference})
    click.echo(json.dumps(measure(opened, labels, seed, threads, settings, start)))


if __name__ == "__main__":
    main()
