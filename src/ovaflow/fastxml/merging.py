"""Merging: the shards' trees become one model."""

from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.fastxml.forest import join_trees
from ovaflow.fastxml.model_file import ForestModel
from ovaflow.fastxml.training import TreeShard, grow_trees
from ovaflow.model.training_file import Training, require_alike
from ovaflow.sparse.jit import strict_kernel


def shape_of(tree, max_leaf):
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
def _fill_depths(children, depths):
    for node in range(len(children)):
        if children[node]:
            depths[children[node]] = depths[children[node] + 1] = depths[node] + 1


def model_of(dataset, forest, parameters):
    # trees see instances before they are scaled, where their norms are known
    unscaled = {} if dataset.train.norms is None else {"unscaled": True}
    trained = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels) > 0
    parameters = {"train": parameters, "transform": dataset.parameters | unscaled}
    return ForestModel.in_memory(dataset, trained, parameters, forest=forest)


def merge_trees(shards, dataset, model_path, training_path):
    """Join the shards of one forest into a model; its bytes do not depend on how trees were divided into shards."""
    opened = _read(shards, dataset)
    places = _places(opened, dataset)
    trees = [opened[shard].forest.tree(place) for shard, place in places]
    forest, parameters = join_trees(trees, dataset.n_features, dataset.n_labels), opened[0].parameters
    model_of(dataset, forest, parameters).write(model_path)
    shapes = [shape_of(tree, parameters["max_leaf"]) for tree in trees]
    statistics = {name: np.array([shape[name] for shape in shapes]) for name in shapes[0]}
    statistics["seconds"] = np.array([opened[shard].seconds[place] for shard, place in places])
    core_seconds, peak = sum(s.core_seconds for s in opened), max(s.peak_rss_bytes for s in opened)
    training = Training(core_seconds, len(opened), peak, trees=statistics, parameters=parameters)
    training.write(training_path, dataset=dataset)
    return len(forest.children)


def _read(paths, dataset):
    opened = []
    with Progress("checking shards", len(paths), "shards") as progress:
        for path in map(Path, paths):
            opened.append(TreeShard.open(path))
            require_alike(opened[-1], opened[0], dataset)
            progress.advance()
    return opened


def _places(opened, dataset):
    """Shard and place in it of each tree."""
    places = {}
    for number, shard in enumerate(opened):
        for place, tree in enumerate(shard.numbers.tolist()):
            if tree in places:
                message = f"tree {tree} is also in {opened[places[tree][0]].path}"
                remedy = "give the shards of one forest, each once"
                raise InputError(message, path=shard.path, remedy=remedy)
            places[tree] = number, place
    missing = sorted(set(range(opened[0].parameters["trees"])) - set(places))
    if missing:
        message = f"no shard given has tree {missing[0]} of the forest on {dataset.path}"
        remedy = "run train-trees for the missing shards and give all of them to merge-trees"
        raise InputError(message, remedy=remedy)
    return [places[tree] for tree in sorted(places)]


def train_forest(dataset, settings, threads=1):
    """Grow all trees in this process: the model that shards of the same forest merge into."""
    grown = grow_trees(dataset, range(settings.trees), settings, threads)
    return model_of(dataset, grown.forest, settings.recorded)
