"""The training file: how the training of each label went."""

from dataclasses import dataclass

from ovaflow.model.shard_file import read_statistics, write_statistics
from ovaflow.storage.artifact import create_artifact, open_artifact

KIND = "training"


@dataclass(frozen=True)
class Training:
    """Statistics of a finished training.

    Attributes
    ----------
    statistics : dict of str to ndarray, shape (l,)
        See :data:`ovaflow.model.shard_file.STATISTICS`.
    core_seconds : float
        Threads times wall seconds of the solver, over all shards.
    shards : int
        Number of shards.
    peak_rss_bytes : int
        Largest resident memory of a shard's job.
    """

    statistics: dict
    core_seconds: float
    shards: int
    peak_rss_bytes: int


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
        write_statistics(file, training.statistics)
        file.attrs["core_seconds"] = float(training.core_seconds)
        file.attrs["shards"] = int(training.shards)
        file.attrs["peak_rss_bytes"] = int(training.peak_rss_bytes)


def read_training(path, verify=False):
    """Read the training file.

    Parameters
    ----------
    path : path-like
    verify : bool
        Also compare the checksum of the whole content.

    Returns
    -------
    Training

    Raises
    ------
    InputError
        If the file is missing, foreign, of another format version or damaged.
    """
    with open_artifact(path, KIND, verify) as file:
        return Training(
            read_statistics(file),
            float(file.attrs["core_seconds"]),
            int(file.attrs["shards"]),
            int(file.attrs["peak_rss_bytes"]),
        )
