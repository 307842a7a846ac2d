"""The shard file of a forest: some of its trees and what they took."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ovaflow.fastxml.forest import Forest, read_forest, write_forest
from ovaflow.storage.arrays import amount_of, create_array, map_vector, number_of
from ovaflow.storage.artifact import create_artifact, inputs_of, open_artifact, parameters_of
from ovaflow.storage.damage import damaged

KIND = "tree-shard"


@dataclass(frozen=True)
class TreeShard:
    """An open shard file; the trees are mapped."""

    path: Path
    numbers: np.ndarray  # int32 (T,); of the trees within their forest, ascending
    forest: Forest
    seconds: np.ndarray  # float64 (T,)
    core_seconds: float
    peak_rss_bytes: int
    parameters: dict  # settings of the training
    inputs: dict  # checksums of the artifacts used, by kind


def write_tree_shard(path, numbers, grown, parameters, inputs):
    with create_artifact(path, KIND, parameters, inputs) as file:
        create_array(file, "numbers", np.asarray(numbers, np.int32))
        create_array(file, "seconds", np.asarray(grown.seconds, np.float64))
        write_forest(file.create_group("forest"), grown.forest)
        file.attrs["core_seconds"] = float(grown.core_seconds)
        file.attrs["peak_rss_bytes"] = int(grown.peak_rss_bytes)


def read_tree_shard(path):
    with open_artifact(path, KIND) as file:
        shard = TreeShard(
            path=Path(path),
            numbers=map_vector(file["numbers"], np.int32, 0),
            forest=read_forest(file["forest"]),
            seconds=map_vector(file["seconds"], np.float64, 0),
            core_seconds=amount_of(file),
            peak_rss_bytes=number_of(file, "peak_rss_bytes", 0),
            parameters=parameters_of(file),
            inputs=inputs_of(file),
        )
        if not len(shard.numbers) == len(shard.seconds) == shard.forest.n_trees:
            raise damaged(file, "arrays of different lengths")
    return shard
