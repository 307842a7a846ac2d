"""Training all labels of a one-vs-all model in this process."""

import numpy as np

from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.pruning import prune
from ovaflow.training.shard_job import train_labels


def train_model(dataset, training, threshold, threads=1, earlier=None):
    """Train all labels of a dataset; the model is the one that shards of the same training are merged into."""
    inputs = compute_start_inputs(dataset, training, threads, earlier=earlier)
    labels = np.arange(dataset.n_labels, dtype=np.int32)
    done = train_labels(dataset, inputs, labels, training, threads)
    parameters = {"train": training.recorded, "prune": threshold}
    weights = prune(done.weights, threshold)
    return OneVsAll.in_memory(dataset, done.trained, parameters, weights=weights)
