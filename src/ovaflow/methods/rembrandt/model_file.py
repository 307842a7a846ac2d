"""Models of Rembrandt, a projection and a decoder: their file, and prediction by blocked dense
products of both.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.methods.rembrandt.panels import from_panels, make_row_blocks, parallel_map
from ovaflow.methods.rembrandt.projection import Projection
from ovaflow.model.model_file import LinearScores, MethodModel
from ovaflow.model.top_k import insert_label, make_empty_ranking, select_labels
from ovaflow.sparse.jit import strict_kernel

METHOD = "rembrandt"
"""Name of the method in configs and models."""

_INSTANCES_PER_BLOCK = 256
"""Instances of a block, a whole of which is projected and scored at a time."""

_LABELS_PER_BLOCK = 4096
"""Labels of a block: 4 MiB of scores."""


@dataclass(frozen=True)
class EmbeddingModel(MethodModel, LinearScores):
    """An open model of Rembrandt; arrays are mapped."""

    projection: Projection
    decoder: np.ndarray  # float32 (l, D); one row per label, the weight of the constant last
    of_method: ClassVar[str] = METHOD
    why_unexplainable: ClassVar[str] = "random cosine features mix all features in each score"

    @classmethod
    def what_scores_are(cls, settings):
        return (
            "A score of Rembrandt comes from a decoder on the embedded instance; only scores of the same run can be "
            "compared."
        )

    @property
    def n_features(self):
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

    def prepare(self) -> None:
        _keep_best(np.zeros((1, 1), np.float32), 0, *make_empty_ranking(1, 1))

    def top_k(self, X, k, threads=1, quiet=True, allowed=None):
        trained = select_labels(self.trained, allowed)
        return predict_embedded(self.projection, self.decoder, trained, X, k, threads, quiet)

    def score(self, X, labels):
        with parallel_map(1):
            return self.projection.features(X) @ self.decoder[labels].T

    def score_each(self, X, ids, threads=1):
        with parallel_map(1):
            features = self.projection.features(X)
            return np.array(
                [self.decoder[labels] @ row for row, labels in zip(features, ids, strict=True)]
            )

    @property
    def linear(self):
        return self if self.projection.random is None else None

    def label_weights(self, label, features):
        """W d_j, the effective weights: the decoder's of the projected instance are <d_j, W^T x>."""
        rows = from_panels(self.projection.panels[:, features], self.projection.rank)
        return rows @ self.decoder[label, :-1].astype(np.float64)

    def intercept(self, label):
        return float(self.decoder[label, -1])

    def cosines(self, label):
        decoder = self.decoder[:, :-1]
        products = decoder @ (self.gram @ decoder[label])
        squares = np.einsum("jk,jk->j", decoder @ self.gram, decoder)
        lengths = np.sqrt(np.maximum(squares, 0))
        scale = lengths * lengths[label]
        return np.divide(products, scale, out=np.zeros(len(scale)), where=scale > 0)


def predict_embedded(projection, decoder, trained, X, k, threads=1, quiet=False):
    """Best k trained labels: ids int32 (n, k), -1 where there are fewer, and scores float32 (n, k)."""
    ids, best = make_empty_ranking(X.n_rows, k)

    def score(rows):
        features = projection.features(X.part(rows.start, rows.stop))
        for labels in make_row_blocks(len(decoder), _LABELS_PER_BLOCK):
            scores = features @ decoder[labels].T
            scores[:, ~trained[labels]] = -np.inf
            _keep_best(scores, labels.start, ids[rows], best[rows])
        return rows.stop - rows.start

    with (
        parallel_map(threads) as each,
        Progress("predicting", X.n_rows, "instances", quiet=quiet) as progress,
    ):
        for n_scored in each(score, make_row_blocks(X.n_rows, _INSTANCES_PER_BLOCK)):
            progress.advance(n_scored)
    return ids, best


@strict_kernel
def _keep_best(scores, first, ids, best) -> None:
    """Insert scores above the last of the best of each instance."""
    for i in range(len(scores)):
        for j in range(scores.shape[1]):
            if scores[i, j] > best[i, -1]:
                insert_label(scores[i, j], first + j, ids[i], best[i])
