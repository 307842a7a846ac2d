"""The training file: how the training of each label went."""

from dataclasses import dataclass, field

from ovaflow.model.shard_file import read_statistics, write_statistics
from ovaflow.storage.arrays import amount_of, create_array, map_array, number_of
from ovaflow.storage.artifact import create_artifact, inputs_of, open_artifact, parameters_of
from ovaflow.storage.damage import damaged

KIND = "training"


@dataclass(frozen=True)
class Training:
    """Statistics of a finished training.

    Attributes
    ----------
    statistics : dict of str to ndarray, shape (l,)
        See :data:`ovaflow.model.shard_file.STATISTICS`; empty where no problem was solved for each label.
    core_seconds : float
        Threads times wall seconds of the solver, over all shards.
    shards : int
        Number of shards.
    peak_rss_bytes : int
        Largest resident memory of a shard's job.
    trees : dict of str to ndarray, shape (T,)
        What is known of each tree, for methods that grow some.
    parameters : dict
        Settings of the training, of what was read from a file.
    inputs : dict of str to str
        Checksums of the artifacts used, by kind, of what was read from a file.
    """

    statistics: dict
    core_seconds: float
    shards: int
    peak_rss_bytes: int
    trees: dict = field(default_factory=dict)
    parameters: dict = field(default_factory=dict)
    inputs: dict = field(default_factory=dict)


def write_training(path, training, parameters, inputs):
    """Write the training file.

    Parameters
    ----------
    path : path-like
    training : Training
    parameters : dict
        Settings of the training.
    inputs : dict of str to str
        Checksums of the artifacts used, by kind.
    """
    with create_artifact(path, KIND, parameters, inputs) as file:
        if training.statistics:
            write_statistics(file, training.statistics)
        for name, values in training.trees.items():
            create_array(file, f"trees/{name}", values)
        file.attrs["core_seconds"] = float(training.core_seconds)
        file.attrs["shards"] = int(training.shards)
        file.attrs["peak_rss_bytes"] = int(training.peak_rss_bytes)


def read_training(path):
    """Read the training file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Training

    Raises
    ------
    InputError
        If the file is missing, foreign, of another format version or damaged.
    """
    with open_artifact(path, KIND) as file:
        statistics = read_statistics(file)
        trees = {name: map_array(values) for name, values in file["trees"].items()} if "trees" in file else {}
        for arrays in (statistics, trees):
            if len({array.shape for array in arrays.values()}) > 1:
                raise damaged(file, "arrays of different lengths")
        figures = amount_of(file), number_of(file, "shards", 0), number_of(file, "peak_rss_bytes", 0)
        return Training(statistics, *figures, trees, parameters_of(file), inputs_of(file))
