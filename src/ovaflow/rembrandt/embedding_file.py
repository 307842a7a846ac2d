"""The embedding file: an embedding of a dataset, for every run that wants it."""

from dataclasses import dataclass

import numpy as np

from ovaflow.rembrandt.embedding import Embedding
from ovaflow.sparse.panel import WIDTH
from ovaflow.storage.arrays import LARGEST_ID, amount_of, create_array, map_array, number_of
from ovaflow.storage.artifact import create_artifact, open_artifact, parameters_of, require_input
from ovaflow.storage.damage import damaged

KIND = "embedding"
_ARRAYS = ("vectors", "eigenvalues", "label_covariance", "projection")


@dataclass(frozen=True)
class EmbeddingFile:
    embedding: Embedding  # arrays are mapped
    core_seconds: float  # threads times wall seconds
    peak_rss_bytes: int
    parameters: dict


def write_embedding(path, embedding, settings, dataset, core_seconds, peak_rss_bytes):
    with create_artifact(path, KIND, embedding.made_with(settings), {"dataset": dataset}) as file:
        for name in _ARRAYS:
            if getattr(embedding, name).size:
                create_array(file, name, getattr(embedding, name))
        file.attrs["labels"] = np.int64(len(embedding.vectors))
        file.attrs["rank"] = np.int64(embedding.rank)
        file.attrs["iterations"] = np.int64(embedding.iterations)
        file.attrs["core_seconds"] = float(core_seconds)
        file.attrs["peak_rss_bytes"] = int(peak_rss_bytes)


def read_embedding(path, dataset=None):
    """Open an embedding file, made from the dataset of this checksum if one is given."""
    with open_artifact(path, KIND) as file:
        require_input(file, "dataset", dataset)
        arrays = {name: map_array(file[name]) for name in _ARRAYS if name in file}
        rank, labels = number_of(file, "rank", 1), number_of(file, "labels", 0, LARGEST_ID)
        _check_shapes(file, rank, labels)
        # a random embedding has no spectrum, one of features no labels
        absent = {"vectors": np.empty((labels, 0), np.float32)}
        absent |= dict.fromkeys(("eigenvalues", "label_covariance"), np.empty(0))
        arrays = absent | arrays
        parameters = parameters_of(file)
        iterations = number_of(file, "iterations", 0)
        embedding = Embedding(**arrays, rank=rank, iterations=iterations, ridge=parameters.get("ridge", 0.0))
        return EmbeddingFile(embedding, amount_of(file), number_of(file, "peak_rss_bytes", 0), parameters)


def _check_shapes(file, rank, labels):
    panels, vectors = file["projection"].shape, file["vectors"].shape if "vectors" in file else (labels, rank)
    if len(panels) != 3 or (panels[0], panels[2]) != (-(-rank // WIDTH), WIDTH) or vectors != (labels, rank):
        raise damaged(file, "arrays of other shapes than its rank and labels ask for")
