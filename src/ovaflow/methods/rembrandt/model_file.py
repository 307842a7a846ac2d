"""Models of Rembrandt, a projection and a decoder: their file, and prediction.

Instances are predicted by blocked dense products with both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ovaflow.console.progress import Progress
from ovaflow.methods.rembrandt.panels import from_panels, make_row_blocks, parallel_map
from ovaflow.methods.rembrandt.projection import Projection
from ovaflow.model.model_file import LinearScores, MethodModel
from ovaflow.model.top_k import insert_label, make_empty_ranking, select_labels
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel

METHOD = "rembrandt"
"""Name of the method in configs and models."""

_INSTANCES_PER_BLOCK = 256
"""Instances that are projected and scored at a time."""

_LABELS_PER_BLOCK = 4096
"""Labels that are scored at a time: 4 MiB of scores."""


@dataclass(frozen=True)
class EmbeddingModel(MethodModel, LinearScores):
    """An open model of Rembrandt; arrays are mapped."""

    projection: Projection
    decoder: np.ndarray  # float32 (l, D); one row per label, the weight of the constant last
    of_method: ClassVar[str] = METHOD
    why_unexplainable: ClassVar[str] = "random cosine features mix all features in each score"

    @classmethod
    def what_scores_are(cls, settings: Mapping[str, Any]) -> str:
        """Explain the scores to people."""
        return (
            "A score of Rembrandt comes from a decoder on the embedded instance; only scores of the"
            " same run can be compared."
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.projection.panels.shape[1]

    @cached_property
    def gram(self) -> np.ndarray:
        """W^T W of the projection without the bias feature, float32 of shape (k, k)."""
        rows = slice(-1 if self.bias else None)
        W = from_panels(self.projection.panels[:, rows], self.projection.rank, np.float32)
        return W.T @ W

    @property
    def nonzeros(self) -> int:
        """Number of weights of the projection and the decoder."""
        n_weights = self.n_features * self.projection.rank + self.decoder.size
        random = self.projection.random
        if random is not None:
            n_weights += random.frequencies.size + random.phases.size
        return n_weights

    def prepare(self) -> None:
        """Compile the kernel of prediction."""
        ids, best = make_empty_ranking(1, 1)
        _keep_best(np.zeros((1, 1), np.float32), 0, ids, best)

    def top_k(
        self,
        X: CSR,
        k: int,
        threads: int = 1,
        *,
        quiet: bool = True,
        allowed: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the best k labels, of those that are allowed; see :func:`predict_embedded`."""
        trained = select_labels(self.trained, allowed)
        return predict_embedded(self.projection, self.decoder, trained, X, k, threads, quiet=quiet)

    def score(self, X: CSR, labels: np.ndarray) -> np.ndarray:
        """Compute scores of select_labels labels, float32 (n, m)."""
        with parallel_map(1):
            return self.projection.features(X) @ self.decoder[labels].T

    def score_each(self, X: CSR, ids: np.ndarray, threads: int = 1) -> np.ndarray:
        """Compute scores of other labels for each instance: float32 (n, k) for ids (n, k)."""
        with parallel_map(1):
            features = self.projection.features(X)
            rows = zip(features, ids, strict=True)
            return np.array([self.decoder[labels] @ row for row, labels in rows])

    @property
    def linear(self) -> Self | None:
        """The model, if its scores are linear in the features."""
        return self if self.projection.random is None else None

    def label_weights(self, label: int, features: np.ndarray | slice) -> np.ndarray:
        """Compute W d_j: the decoder's score of a projected instance is <d_j, W^T x>."""
        rows = from_panels(self.projection.panels[:, features], self.projection.rank)
        return rows @ self.decoder[label, :-1].astype(np.float64)

    def intercept(self, label: int) -> float:
        """Return the weight of the constant."""
        return float(self.decoder[label, -1])

    def cosines(self, label: int) -> np.ndarray:
        """Compute the cosines of the effective weights of a label and of all labels."""
        decoder = self.decoder[:, :-1]
        products = decoder @ (self.gram @ decoder[label])
        squares = np.einsum("jk,jk->j", decoder @ self.gram, decoder)
        lengths = np.sqrt(np.maximum(squares, 0))
        scale = lengths * lengths[label]
        return np.divide(products, scale, out=np.zeros(len(scale)), where=scale > 0)


def predict_embedded(
    projection: Projection,
    decoder: np.ndarray,
    trained: np.ndarray,
    X: CSR,
    k: int,
    threads: int = 1,
    *,
    quiet: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the best k trained labels of each instance.

    Parameters
    ----------
    projection : Projection
    decoder : ndarray of float32, shape (l, D)
        One row per label.
    trained : ndarray of bool, shape (l,)
        Labels that may be predicted.
    X : CSR, shape (n, d)
    k : int
    threads : int, default=1
    quiet : bool, default=False
        Show no progress.

    Returns
    -------
    ids : ndarray of int32, shape (n, k)
        Best labels first; -1 where there are fewer.
    scores : ndarray of float32, shape (n, k)
    """
    ids, best = make_empty_ranking(X.n_rows, k)

    def score_block(rows: slice) -> int:
        features = projection.features(X.part(rows.start, rows.stop))
        for labels in make_row_blocks(len(decoder), _LABELS_PER_BLOCK):
            scores = features @ decoder[labels].T
            scores[:, ~trained[labels]] = -np.inf
            _keep_best(scores, labels.start, ids[rows], best[rows])
        return rows.stop - rows.start

    progress = Progress("predicting", X.n_rows, "instances", quiet=quiet)
    with parallel_map(threads) as parallel, progress:
        for n_scored in parallel(score_block, make_row_blocks(X.n_rows, _INSTANCES_PER_BLOCK)):
            progress.advance(n_scored)
    return ids, best


@strict_kernel
def _keep_best(scores: np.ndarray, first: int, ids: np.ndarray, best: np.ndarray) -> None:
    """Insert scores (m, labels from ``first`` on) into the best ones (m, k) of each instance."""
    for i in range(len(scores)):
        for j in range(scores.shape[1]):
            if scores[i, j] > best[i, -1]:
                insert_label(scores[i, j], first + j, ids[i], best[i])
