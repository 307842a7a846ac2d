"""Merging: the shards' trees become one model, tree by tree, in bounded memory."""

from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.fastxml.model_file import ForestModel
from ovaflow.fastxml.training import grow_trees, read_tree_shard
from ovaflow.model.model_file import KIND, write_common
from ovaflow.model.training_file import Training, write_training
from ovaflow.sparse.jit import strict_kernel
from ovaflow.storage.arrays import create_array
from ovaflow.storage.artifact import create_artifact

SHAPE = {
    "nodes": np.int64,
    "leaves": np.int64,
    "depth": np.int64,
    "mean_depth": np.float64,
    "balance": np.float64,
    "largest_leaf": np.int64,
    "labels_per_leaf": np.float64,
    "nonzeros": np.int64,
}
"""Names and dtypes of what is said of each tree."""


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


def transform_of(dataset):
    """How instances become those that the trees see: not scaled, where their norms are known."""
    return dataset.parameters | ({} if dataset.train.norms is None else {"unscaled": True})


def merge_trees(shards, dataset, model_path, training_path):
    """Join the shards of one forest into a model; its bytes do not depend on how trees were divided into shards."""
    opened = _read(shards, dataset)
    places = _places(opened, dataset)
    parameters, inputs = opened[0].parameters, {"dataset": dataset.checksum}
    trees = [(opened[shard].forest, place) for shard, place in places]
    counts = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels)
    given = {"train": parameters, "transform": transform_of(dataset)}
    with create_artifact(model_path, KIND, given, inputs) as file:
        _write_trees(file.create_group("forest"), trees, dataset)
        write_common(file, counts > 0, counts, dataset.names)
    shapes = [shape_of(forest.tree(place), parameters["max_leaf"]) for forest, place in trees]
    statistics = {name: np.array([shape[name] for shape in shapes], dtype) for name, dtype in SHAPE.items()}
    statistics["seconds"] = np.array([opened[shard].seconds[place] for shard, place in places])
    core_seconds, peak = sum(s.core_seconds for s in opened), max(s.peak_rss_bytes for s in opened)
    training = Training({}, core_seconds, len(opened), peak, trees=statistics)
    write_training(training_path, training, parameters, inputs)
    return int(statistics["nodes"].sum())


def _read(paths, dataset):
    opened = []
    with Progress("checking shards", len(paths), "shards") as progress:
        for path in map(Path, paths):
            opened.append(read_tree_shard(path))
            _check(opened[-1], opened[0], dataset)
            progress.advance()
    return opened


def _check(shard, first, dataset):
    if shard.inputs.get("dataset") != dataset.checksum:
        raise InputError(f"was not trained on {dataset.path}", path=shard.path, remedy="run train-trees again for it")
    names = shard.parameters.keys() | first.parameters.keys()
    differing = sorted(name for name in names if shard.parameters.get(name) != first.parameters.get(name))
    if differing:
        raise InputError(
            f"differs from {first.path} in {', '.join(differing)}", path=shard.path, remedy="train both alike"
        )


def _places(opened, dataset):
    """Shard and place in it of each tree."""
    found = {}
    for number, shard in enumerate(opened):
        for place, tree in enumerate(shard.numbers.tolist()):
            if tree in found:
                raise InputError(
                    f"tree {tree} stands in {opened[found[tree][0]].path} too",
                    path=shard.path,
                    remedy="give merge-trees the shards of one forest, each once",
                )
            found[tree] = number, place
    missing = sorted(set(range(opened[0].parameters["trees"])) - set(found))
    if missing:
        raise InputError(
            f"tree {missing[0]} of the forest on {dataset.path} stands in no shard given",
            remedy="run train-trees for the missing shards and give all of them to merge-trees",
        )
    return [found[tree] for tree in sorted(found)]


def _write_trees(group, trees, dataset):
    """Write a forest of which one tree is read at a time."""
    nodes = np.cumsum([0, *(forest.starts[place + 1] - forest.starts[place] for forest, place in trees)])
    create_array(group, "starts", nodes)
    for name in ("children", "sizes"):
        _write_parts(group, name, nodes[-1], (getattr(forest.tree(place), name) for forest, place in trees))
    for name, columns in (("separators", dataset.n_features), ("distributions", dataset.n_labels)):
        matrices = [getattr(forest.tree(place), name) for forest, place in trees]
        holder = group.create_group(name)
        holder.attrs["n_columns"] = np.int64(columns)
        lengths = np.concatenate([np.diff(matrix.indptr) for matrix in matrices])
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        create_array(holder, "indptr", indptr)
        for part in ("data", "indices"):
            _write_parts(holder, part, indptr[-1], (getattr(matrix, part) for matrix in matrices))


def _write_parts(group, name, length, parts):
    stored, end = None, 0
    for part in parts:
        if stored is None:
            stored = create_array(group, name, shape=(length,), dtype=part.dtype)
        if len(part):
            stored[end : end + len(part)] = part
        end += len(part)


def train_forest(dataset, settings, threads=1):
    """Grow all trees in this process: the model that shards of the same forest merge into."""
    grown = grow_trees(dataset, range(settings.trees), settings, threads)
    counts = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels)
    return ForestModel(
        dataset.path,
        counts > 0,
        counts,
        checksum="",
        parameters={"train": settings.recorded, "transform": transform_of(dataset)},
        inputs={"dataset": dataset.checksum},
        forest=grown.forest,
        given=dataset.names,
    )
