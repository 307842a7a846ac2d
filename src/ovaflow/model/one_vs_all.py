"""The one-vs-all model: sparse weights of each label."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ovaflow.console.errors import StrPath
from ovaflow.model.model_file import LabelWeights, LinearScores, MethodModel, require_finite
from ovaflow.model.top_k import (
    LazyIndex,
    Ranking,
    load_kernels,
    score_labels,
    score_labels_of_each,
)
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel
from ovaflow.sparse.weight_rows import BLOCK_BITS, Segments, decode_weights, make_segments


@dataclass(frozen=True)
class OneVsAll(LabelWeights, MethodModel, LinearScores):
    """An open model of one-vs-all."""

    zero_decides = True

    @classmethod
    def what_scores_are(cls, settings: Mapping[str, Any]) -> str:
        if settings.get("loss") == "logistic":
            return (
                "A score is the log-odds by the label’s own classifier, as reliable as the "
                "training data."
            )
        return (
            "Scores rank the labels of an instance. A score is the margin of the label’s own "
            "classifier, not a probability: a label with a score below 0 may well be right. "
            "predict: {rerank: 0.2} gives probabilities."
        )

    @property
    def nonzeros(self) -> int:
        return len(self.weights.data)

    def write(self, path: StrPath, **made_from: Any) -> None:
        weights = self.weights
        require_finite(weights.data, 0, weights.indptr, range(len(weights.indptr)))
        super().write(path, **made_from)

    def prepare(self) -> None:
        load_kernels(self.weights)

    def prepare_for_single(self) -> None:
        load_kernels(self.weights)
        self._index.build()

    @cached_property
    def _index(self) -> LazyIndex:
        return LazyIndex(self)

    def top_k(
        self,
        X: CSR,
        k: int,
        threads: int = 1,
        *,
        quiet: bool = True,
        allowed: np.ndarray | None = None,
    ) -> Ranking:
        return self._index.top_k(X, k, threads, quiet=quiet, allowed=allowed)

    def score(self, X: CSR, labels: np.ndarray) -> np.ndarray:
        return score_labels(self.weights, X, labels)

    def score_each(self, X: CSR, ids: np.ndarray, threads: int = 1) -> np.ndarray:
        return score_labels_of_each(self.weights, X, ids, threads)

    def label_weights(self, label: int, features: np.ndarray | slice) -> np.ndarray:
        vector = np.zeros(self.n_features, np.float32)
        row = decode_weights(self.weights, label, label + 1)
        vector[row.indices] = row.data
        return vector[features]

    def cosines(self, label: int) -> np.ndarray:
        vector = self.label_weights(label, slice(None))
        bias_feature = self.bias_feature
        if bias_feature >= 0:
            vector[bias_feature] = 0
        cosines = np.empty(self.n_labels)
        _fill_cosines(make_segments(self.weights), vector, bias_feature, cosines)
        length = np.linalg.norm(vector.astype(np.float64))
        return cosines / length if length else cosines


@strict_kernel
def _fill_cosines(
    weights: Segments, vector: np.ndarray, omitted_feature: int, out: np.ndarray
) -> None:
    """Fill out_j = <w_j, v> / |w_j| without one feature, whatever the step of w_j."""
    for j in range(len(out)):
        product = np.float64(0.0)
        square = np.float64(0.0)
        for segment in range(j * weights.blocks, (j + 1) * weights.blocks):
            offset = (segment % weights.blocks) << BLOCK_BITS
            for k in range(weights.indptr[segment], weights.indptr[segment + 1]):
                feature = offset + weights.indices[k]
                weight = np.float32(weights.data[k])
                if feature != omitted_feature:
                    product += weight * vector[feature]
                    square += weight * weight
        out[j] = product / np.sqrt(square) if square > 0 else 0.0
