"""A forest grown in this process, without files."""

import numpy as np

from ovaflow.fastxml.model_file import ForestModel
from ovaflow.fastxml.training import grow_trees


def train_forest(dataset, forestry, threads=1):
    """Grow all trees of a forest.

    Parameters
    ----------
    dataset : Dataset
    forestry : Forestry
    threads : int
        They change no result.

    Returns
    -------
    ForestModel
        The one that shards of the same forest are merged into.
    """
    grown = grow_trees(dataset, range(forestry.trees), forestry, threads)
    counts = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels)
    return ForestModel(
        dataset.path,
        counts > 0,
        counts,
        checksum="",
        parameters={"train": forestry.parameters, "transform": dataset.parameters},
        inputs={"dataset": dataset.checksum},
        forest=grown.forest,
        given=dataset.names,
    )
