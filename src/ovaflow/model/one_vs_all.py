"""The one-vs-all model: sparse weights of each label."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ovaflow.model.model_file import LabelWeights, LinearScores, MethodModel, write_model
from ovaflow.model.top_k import KeptIndex, load_kernels, scores_of, scores_of_each
from ovaflow.sparse.jit import strict_kernel


@dataclass(frozen=True)
class OneVsAll(LabelWeights, MethodModel, LinearScores):
    """An open model of one-vs-all."""

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

    def write(self, path):
        weights = self.weights
        pieces = [(weights.data, weights.indices)]
        arrays = np.diff(weights.indptr), pieces, weights.n_columns, self.trained, self.counts
        write_model(path, *arrays, self.names, self.parameters, self.inputs)

    def prepare(self):
        load_kernels()

    def prepare_for_single(self):
        load_kernels()
        self._index.build()

    @cached_property
    def _index(self):
        return KeptIndex(self)

    def top_k(self, X, k, threads=1, quiet=True, allowed=None):
        return self._index.top_k(X, k, threads, quiet, allowed)

    def score(self, X, labels):
        return scores_of(self.weights, X, labels)

    def score_each(self, X, ids, threads=1):
        return scores_of_each(self.weights, X, ids, threads)

    def label_weights(self, label, features):
        entries = slice(*self.weights.indptr[label : label + 2])
        vector = np.zeros(self.n_features, np.float32)
        vector[self.weights.indices[entries]] = self.weights.data[entries]
        return vector[features]

    def cosines(self, label):
        vector, bias_feature = self.label_weights(label, slice(None)), self.bias_feature
        if bias_feature >= 0:
            vector[bias_feature] = 0
        cosines = np.empty(self.n_labels)
        _fill_cosines(*self.weights.arrays, vector, bias_feature, cosines)
        length = np.linalg.norm(vector.astype(np.float64))
        return cosines / length if length else cosines


@strict_kernel
def _fill_cosines(data, indices, indptr, vector, left_out, out):
    """out_j = <w_j, v> / |w_j| without one feature."""
    for j in range(len(out)):
        product = square = 0.0
        for k in range(indptr[j], indptr[j + 1]):
            if indices[k] != left_out:
                product += data[k] * vector[indices[k]]
                square += data[k] * data[k]
        out[j] = product / np.sqrt(square) if square > 0 else 0.0
