"""Merge shards of trees into one model."""

from collections.abc import Sequence

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.methods.fastxml.forest import Forest, join_trees
from ovaflow.methods.fastxml.model_file import ForestModel
from ovaflow.methods.fastxml.training import TreeShard
from ovaflow.sparse.jit import strict_kernel


def describe_tree(tree: Forest, max_leaf: int) -> dict[str, float]:
    """Compute the statistics of one tree.

    Its balance is the mean depth of a training instance over log2(n / max_leaf), which is 1 for a
    perfectly balanced tree.
    """
    depths = np.zeros(len(tree.children), np.int64)
    _fill_depths(tree.children, depths)
    leaf = tree.children == 0
    n = int(tree.sizes[0])
    mean_depth = float((depths[leaf] * tree.sizes[leaf]).sum() / max(n, 1))
    balance = 1.0
    if n > max_leaf:
        balance = mean_depth / float(np.log2(n / max_leaf))
    return {
        "nodes": len(leaf),
        "leaves": int(leaf.sum()),
        "depth": int(depths.max()),
        "mean_depth": mean_depth,
        "balance": balance,
        "largest_leaf": int(tree.sizes[leaf].max()),
        "labels_per_leaf": len(tree.distributions.data) / int(leaf.sum()),
        "nonzeros": len(tree.separators.data),
    }


@strict_kernel
def _fill_depths(children: np.ndarray, depths: np.ndarray) -> None:
    """Compute the depth of each node; that of the root is 0."""
    for node in range(len(children)):
        child = children[node]
        if child:
            depths[child] = depths[node] + 1
            depths[child + 1] = depths[node] + 1


def join_shards(pieces: Sequence[tuple[TreeShard, int]], dataset: Dataset) -> ForestModel:
    """Make the model of all trees, each given by its shard and its number there."""
    trees = [shard.forest.tree(number) for shard, number in pieces]
    forest = join_trees(trees, dataset.n_features, dataset.n_labels)
    transform = dataset.parameters
    if dataset.train.norms is not None:
        # trees see instances before they are scaled, where their norms are known
        transform = transform | {"unscaled": True}
    trained = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels) > 0
    first_shard, _ = pieces[0]
    parameters = {"train": first_shard.parameters, "transform": transform}
    return ForestModel.in_memory(dataset, trained, parameters, forest=forest)


def describe_trees(pieces: Sequence[tuple[TreeShard, int]]) -> dict[str, np.ndarray]:
    """Compute statistics of trees: by name, an array of one number for each tree."""
    descriptions = [
        describe_tree(shard.forest.tree(number), shard.parameters["max_leaf"])
        for shard, number in pieces
    ]
    statistics = {
        name: np.array([description[name] for description in descriptions])
        for name in descriptions[0]
    }
    statistics["seconds"] = np.array([shard.seconds[number] for shard, number in pieces])
    return statistics
