"""Models of Rembrandt, a projection and a decoder: their file and their scores."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.model.model_file import KIND, ModelFile, method_of, read_common, write_common
from ovaflow.rembrandt.panels import from_panels
from ovaflow.rembrandt.projection import Projection, read_projection, write_projection
from ovaflow.rembrandt.scoring import load_kernels, predict_embedded, scores_of
from ovaflow.storage.arrays import create_array, map_vector
from ovaflow.storage.artifact import create_artifact, open_artifact
from ovaflow.storage.refusals import damaged

__all__ = ["METHOD", "EmbeddingModel", "load_kernels", "open_model", "predict", "save_model", "score"]

METHOD = "rembrandt"
"""Name of the method in configs and models."""


@dataclass(frozen=True)
class EmbeddingModel(ModelFile):
    """An open model of Rembrandt; arrays are mapped."""

    projection: Projection
    decoder: np.ndarray  # float32 (l, D); one row per label, the weight of the constant last

    @property
    def n_features(self):
        """Number of features, bias feature included."""
        return self.projection.panels.shape[1]

    @cached_property
    def gram(self):
        """W^T W of the projection without the bias feature, float32 of shape (k, k)."""
        rows = slice(-1 if self.parameters.get("transform", {}).get("bias", 0) else None)
        W = from_panels(self.projection.panels[:, rows], self.projection.rank, np.float32)
        return W.T @ W

    @property
    def nonzeros(self):
        """Number of weights of the projection and the decoder."""
        random = self.projection.random
        drawn = 0 if random is None else random.frequencies.size + random.phases.size
        return self.n_features * self.projection.rank + drawn + self.decoder.size


def open_model(path):
    if method_of(path) != METHOD:
        raise InputError(
            f"a model of {method_of(path)}, which has no embedding", path=path, remedy="give a model of rembrandt"
        )
    with open_artifact(path, KIND) as file:
        projection = read_projection(file["projection"])
        decoder = map_vector(file["decoder"], np.float32, ndim=2)
        if decoder.shape[1] != projection.n_features:
            raise damaged(file, "a decoder of other features")
        common = read_common(file, path, len(decoder), projection.panels.shape[1])
        return EmbeddingModel(**common, projection=projection, decoder=decoder)


def save_model(path, model):
    with create_artifact(path, KIND, model.parameters, model.inputs) as file:
        write_projection(file.create_group("projection"), model.projection)
        create_array(file, "decoder", np.asarray(model.decoder, np.float32))
        write_common(file, model.trained, model.counts, model.names)


def predict(model, X, k, threads, quiet):
    return predict_embedded(model.projection, model.decoder, model.trained, X, k, threads, quiet)


def score(model, X, labels):
    return scores_of(model.projection, model.decoder, X, labels)
