"""Models of Rembrandt, a projection and a decoder: their file, and prediction by blocked dense products of both."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.model.model_file import KIND, ModelFile, read_common, require_method, write_common
from ovaflow.rembrandt.panels import from_panels, in_blocks, row_blocks
from ovaflow.rembrandt.projection import Projection, read_projection, write_projection
from ovaflow.sparse.best import NO_LABEL, insert_label
from ovaflow.sparse.jit import strict_kernel
from ovaflow.storage.arrays import create_array, map_array
from ovaflow.storage.artifact import create_artifact, open_artifact

METHOD = "rembrandt"
"""Name of the method in configs and models."""

_INSTANCES = 256
"""Instances of a block, a whole of which is projected and scored at a time."""

_LABELS = 4096
"""Labels of a block: 4 MiB of scores."""


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
        rows = slice(-1 if self.bias else None)
        W = from_panels(self.projection.panels[:, rows], self.projection.rank, np.float32)
        return W.T @ W

    @property
    def nonzeros(self):
        """Number of weights of the projection and the decoder."""
        random = self.projection.random
        drawn = 0 if random is None else random.frequencies.size + random.phases.size
        return self.n_features * self.projection.rank + drawn + self.decoder.size


def open_model(path):
    require_method(path, METHOD, "embedding")
    with open_artifact(path, KIND) as file:
        projection, decoder = read_projection(file["projection"]), map_array(file["decoder"])
        return EmbeddingModel(**read_common(file, path), projection=projection, decoder=decoder)


def save_model(path, model):
    with create_artifact(path, KIND, model.parameters, model.inputs) as file:
        write_projection(file.create_group("projection"), model.projection)
        create_array(file, "decoder", np.asarray(model.decoder, np.float32))
        write_common(file, model.trained, model.counts, model.names)


def predict(model, X, k, threads, quiet):
    return predict_embedded(model.projection, model.decoder, model.trained, X, k, threads, quiet)


def score(model, X, labels):
    """Scores of chosen labels: float32 (n, m)."""
    with in_blocks(1):
        return model.projection.features(X) @ model.decoder[labels].T


def predict_embedded(projection, decoder, trained, X, k, threads=1, quiet=False):
    """Best k trained labels: ids int32 (n, k), -1 where there are fewer, and scores float32 (n, k)."""
    if X.n_columns != projection.panels.shape[1]:
        raise ValueError(f"instances have {X.n_columns} features, the model has {projection.panels.shape[1]}")
    ids = np.full((X.n_rows, k), NO_LABEL, np.int32)
    best = np.full((X.n_rows, k), -np.inf, np.float32)

    def score(rows):
        features = projection.features(X.part(rows.start, rows.stop))
        for labels in row_blocks(len(decoder), _LABELS):
            scores = features @ decoder[labels].T
            scores[:, ~trained[labels]] = -np.inf
            _keep_best(scores, labels.start, ids[rows], best[rows])
        return rows.stop - rows.start

    with in_blocks(threads) as each, Progress("predicting", X.n_rows, "instances", quiet=quiet) as progress:
        for n_scored in each(score, row_blocks(X.n_rows, _INSTANCES)):
            progress.advance(n_scored)
    return ids, best


def load_kernels():
    _keep_best(np.zeros((1, 1), np.float32), 0, np.full((1, 1), NO_LABEL, np.int32), np.zeros((1, 1), np.float32))


@strict_kernel
def _keep_best(scores, first, ids, best):
    """Insert scores above the last of the best of each instance."""
    for i in range(len(scores)):
        for j in range(scores.shape[1]):
            if scores[i, j] > best[i, -1]:
                insert_label(scores[i, j], first + j, ids[i], best[i])
