"""The training file: how the training of each label went."""

from dataclasses import dataclass, field

from ovaflow.model.shard_file import read_statistics, write_statistics
from ovaflow.storage.arrays import amount_of, create_array, map_array, number_of
from ovaflow.storage.artifact import create_artifact, inputs_of, open_artifact, parameters_of
from ovaflow.storage.refusals import damaged

KIND = "training"


@dataclass(frozen=True)
class Training:
    """What a finished training took."""

    # arrays (l,); see :data:`ovaflow.model.shard_file.STATISTICS`; empty where no problem was
    # solved for each label
    statistics: dict
    core_seconds: float  # threads times wall seconds of the solver, over all shards
    shards: int  # number of shards
    peak_rss_bytes: int  # largest resident memory of a shard's job
    # arrays (T,); what is known of each tree, for methods that grow some
    trees: dict = field(default_factory=dict)
    parameters: dict = field(default_factory=dict)  # settings of the training, of what was read from a file
    inputs: dict = field(default_factory=dict)  # checksums of the artifacts used, by kind, of what was read from a file


def write_training(path, training, parameters, inputs):
    with create_artifact(path, KIND, parameters, inputs) as file:
        if training.statistics:
            write_statistics(file, training.statistics)
        for name, values in training.trees.items():
            create_array(file, f"trees/{name}", values)
        file.attrs["core_seconds"] = float(training.core_seconds)
        file.attrs["shards"] = int(training.shards)
        file.attrs["peak_rss_bytes"] = int(training.peak_rss_bytes)


def read_training(path):
    with open_artifact(path, KIND) as file:
        statistics = read_statistics(file)
        trees = {name: map_array(values) for name, values in file["trees"].items()} if "trees" in file else {}
        for arrays in (statistics, trees):
            if len({array.shape for array in arrays.values()}) > 1:
                raise damaged(file, "arrays of different lengths")
        figures = amount_of(file), number_of(file, "shards", 0), number_of(file, "peak_rss_bytes", 0)
        return Training(statistics, *figures, trees, parameters_of(file), inputs_of(file))
