"""A one-vs-all model trained in this process, without files."""

import numpy as np

from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.model.model_file import Model
from ovaflow.model.pruning import prune
from ovaflow.training.shard_job import train_labels


def train_model(dataset, training, threshold, threads=1, earlier=None):
    """Train all labels of a dataset; the model is the one that shards of the same training are merged into."""
    inputs = compute_start_inputs(dataset, training, threads, earlier=earlier)
    done = train_labels(dataset, inputs, np.arange(dataset.n_labels, dtype=np.int32), training, threads)
    return Model(
        dataset.path,
        done.trained,
        inputs.means.counts,
        checksum="",
        parameters={"train": training.recorded, "prune": threshold, "transform": dataset.parameters},
        inputs={"dataset": dataset.checksum},
        weights=prune(done.weights, threshold),
        given=dataset.names,
    )
