"""The one-vs-all model: sparse weights of each label."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ovaflow.model.model_file import LabelWeights, LinearScores, MethodModel, require_finite
from ovaflow.model.top_k import LazyIndex, load_kernels, score_labels, score_labels_of_each
from ovaflow.sparse.jit import strict_kernel
from ovaflow.sparse.weight_rows import BLOCK_BITS, decode_weights, make_segments


@dataclass(frozen=True)
class OneVsAll(LabelWeights, MethodModel, LinearScores):
    """An open model of one-vs-all."""

    zero_decides = True

    @classmethod
    def what_scores_are(cls, settings):
        if settings.get("loss") == "logistic":
            return "A score is the log-odds by the label’s own classifier, as reliable as the training data."
        return (
            "Scores rank the labels of an instance. A score is the margin of the label’s own classifier, not a "
            "probability: a label with a score below 0 may well be right. predict: {rerank: 0.2} gives probabilities."
        )

    @property
    def nonzeros(self):
        return len(self.weights.data)

    def write(self, path) -> None:
        weights = self.weights
        require_finite(weights.data, 0, weights.indptr, range(len(weights.indptr)))
        super().write(path)

    def prepare(self) -> None:
        load_kernels(self.weights)

    def prepare_for_single(self) -> None:
        load_kernels(self.weights)
        self._index.build()

    @cached_property
    def _index(self):
        return LazyIndex(self)

    def top_k(self, X, k, threads=1, quiet=True, allowed=None):
        return self._index.top_k(X, k, threads, quiet, allowed)

    def score(self, X, labels):
        return score_labels(self.weights, X, labels)

    def score_each(self, X, ids, threads=1):
        return score_labels_of_each(self.weights, X, ids, threads)

    def label_weights(self, label, features):
        vector = np.zeros(self.n_features, np.float32)
        row = decode_weights(self.weights, label, label + 1)
        vector[row.indices] = row.data
        return vector[features]

    def cosines(self, label):
        vector = self.label_weights(label, slice(None))
        bias_feature = self.bias_feature
        if bias_feature >= 0:
            vector[bias_feature] = 0
        cosines = np.empty(self.n_labels)
        _fill_cosines(make_segments(self.weights), vector, bias_feature, cosines)
        length = np.linalg.norm(vector.astype(np.float64))
        return cosines / length if length else cosines


@strict_kernel
def _fill_cosines(weights, vector, left_out, out) -> None:
    """out_j = <w_j, v> / |w_j| without one feature, whatever the step of w_j."""
    data, indices, indptr, _, blocks = weights
    for j in range(len(out)):
        product = square = 0.0
        for segment in range(j * blocks, (j + 1) * blocks):
            offset = (segment % blocks) << BLOCK_BITS
            for k in range(indptr[segment], indptr[segment + 1]):
                feature = offset + indices[k]
                weight = np.float32(data[k])
                if feature != left_out:
                    product += weight * vector[feature]
                    square += weight * weight
        out[j] = product / np.sqrt(square) if square > 0 else 0.0
