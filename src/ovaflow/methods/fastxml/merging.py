"""Merging: the shards' trees become one model."""

import numpy as np

from ovaflow.methods.fastxml.forest import join_trees
from ovaflow.methods.fastxml.model_file import ForestModel
from ovaflow.sparse.jit import strict_kernel


def describe_tree(tree, max_leaf):
    """Describe one tree; balance is mean depth over log2(n / max_leaf), 1 when perfectly balanced."""
    depths = np.zeros(len(tree.children), np.int64)
    _fill_depths(tree.children, depths)
    leaf = tree.children == 0
    n = int(tree.sizes[0])
    mean_depth = float((depths[leaf] * tree.sizes[leaf]).sum() / max(n, 1))
    return {
        "nodes": len(leaf),
        "leaves": int(leaf.sum()),
        "depth": int(depths.max()),
        "mean_depth": mean_depth,
        "balance": mean_depth / float(np.log2(n / max_leaf)) if n > max_leaf else 1.0,
        "largest_leaf": int(tree.sizes[leaf].max()),
        "labels_per_leaf": len(tree.distributions.data) / int(leaf.sum()),
        "nonzeros": len(tree.separators.data),
    }


@strict_kernel
def _fill_depths(children, depths) -> None:
    for node in range(len(children)):
        if children[node]:
            depths[children[node]] = depths[children[node] + 1] = depths[node] + 1


def join_shards(pieces, dataset):
    """The model of all trees, each as a shard and the tree's place in it."""
    trees = [shard.forest.tree(place) for shard, place in pieces]
    forest = join_trees(trees, dataset.n_features, dataset.n_labels)
    # trees see instances before they are scaled, where their norms are known
    unscaled = {} if dataset.train.norms is None else {"unscaled": True}
    trained = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels) > 0
    parameters = {"train": pieces[0][0].parameters, "transform": dataset.parameters | unscaled}
    return ForestModel.in_memory(dataset, trained, parameters, forest=forest)


def describe_trees(pieces):
    """Statistics of trees by their names: arrays of one number for each tree."""
    shapes = [
        describe_tree(shard.forest.tree(place), shard.parameters["max_leaf"])
        for shard, place in pieces
    ]
    statistics = {name: np.array([shape[name] for shape in shapes]) for name in shapes[0]}
    return statistics | {"seconds": np.array([shard.seconds[place] for shard, place in pieces])}
