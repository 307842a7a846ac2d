"""A forest grown in this process, without files."""

import numpy as np

from ovaflow.fastxml.model_file import ForestModel
from ovaflow.fastxml.training import grow_trees


def train_forest(dataset, settings, threads=1):
    """Grow all trees in this process: the model that shards of the same forest merge into."""
    grown = grow_trees(dataset, range(settings.trees), settings, threads)
    counts = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels)
    return ForestModel(
        dataset.path,
        counts > 0,
        counts,
        checksum="",
        parameters={"train": settings.recorded, "transform": dataset.parameters},
        inputs={"dataset": dataset.checksum},
        forest=grown.forest,
        given=dataset.names,
    )
