"""The embedding file: an embedding of a dataset, for every run that wants it."""

from dataclasses import dataclass

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.rembrandt.embedding import Embedding
from ovaflow.storage.arrays import map_array
from ovaflow.storage.artifact import create_artifact, inputs_of, open_artifact, parameters_of

KIND = "embedding"
_ARRAYS = ("vectors", "eigenvalues", "label_covariance", "projection")


@dataclass(frozen=True)
class EmbeddingFile:
    """An open embedding file.

    Attributes
    ----------
    embedding : Embedding
        Arrays are mapped.
    core_seconds : float
        Threads times wall seconds.
    peak_rss_bytes : int
    parameters : dict
    """

    embedding: Embedding
    core_seconds: float
    peak_rss_bytes: int
    parameters: dict


def write_embedding(path, embedding, settings, dataset, core_seconds, peak_rss_bytes):
    """Write an embedding file.

    Parameters
    ----------
    path : path-like
    embedding : Embedding
    settings : EmbeddingSettings
    dataset : str
        Checksum of the dataset file.
    core_seconds : float
    peak_rss_bytes : int
    """
    with create_artifact(path, KIND, settings.parameters(embedding), {"dataset": dataset}) as file:
        for name in _ARRAYS:
            if getattr(embedding, name).size:
                file.create_dataset(name, data=getattr(embedding, name))
        file.attrs["labels"] = np.int64(len(embedding.vectors))
        file.attrs["rank"] = np.int64(embedding.rank)
        file.attrs["iterations"] = np.int64(embedding.iterations)
        file.attrs["core_seconds"] = float(core_seconds)
        file.attrs["peak_rss_bytes"] = int(peak_rss_bytes)


def read_embedding(path, dataset=None):
    """Open an embedding file.

    Parameters
    ----------
    path : path-like
    dataset : str, optional
        Checksum of the dataset file that it must have been made from.

    Returns
    -------
    EmbeddingFile

    Raises
    ------
    InputError
        If the file is missing, foreign, damaged, or belongs to another dataset file.
    """
    with open_artifact(path, KIND) as file:
        if dataset is not None and inputs_of(file)["dataset"] != dataset:
            raise InputError("made from another dataset file", path=path, remedy="run `ovaflow embed` again")
        arrays = {name: map_array(file[name]) for name in _ARRAYS if name in file}
        # a random embedding has no spectrum, one of features no labels
        absent = {"vectors": np.empty((int(file.attrs["labels"]), 0), np.float32)}
        absent |= dict.fromkeys(("eigenvalues", "label_covariance"), np.empty(0))
        arrays = absent | arrays
        parameters = parameters_of(file)
        numbers = {name: int(file.attrs[name]) for name in ("rank", "iterations")}
        embedding = Embedding(**arrays, **numbers, ridge=parameters.get("ridge", 0.0))
        seconds, peak = float(file.attrs["core_seconds"]), int(file.attrs["peak_rss_bytes"])
        return EmbeddingFile(embedding, seconds, peak, parameters)
