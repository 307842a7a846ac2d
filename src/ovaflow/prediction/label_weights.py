"""Weights of labels, as explanations read them, and how alike two labels are.

Both classes have the same face: ``row`` (features of a label and their
weights), ``at`` (its weights of chosen features), ``constant`` (what is added
to its score whatever the instance), ``cosines`` (with the weights of every
other label, the bias left out), ``bias_feature`` and ``bias_value``.
"""

import numpy as np

from ovaflow.rembrandt.panels import from_panels
from ovaflow.sparse.jit import strict_kernel


class SparseWeights:
    """Weights of one-vs-all."""

    def __init__(self, model):
        self._weights = model.weights
        self.bias_feature, self.bias_value = _bias_of(model)

    def row(self, label):
        entries = slice(*self._weights.indptr[label : label + 2])
        return self._weights.indices[entries], self._weights.data[entries]

    def at(self, label, features):
        columns, values = self.row(label)
        if len(columns) == 0:
            return np.zeros(len(features), np.float32)
        places = np.minimum(np.searchsorted(columns, features), len(columns) - 1)
        return np.where(columns[places] == features, values[places], np.float32(0))

    def constant(self, label):
        return 0.0

    def cosines(self, label):
        columns, values = self.row(label)
        vector = np.zeros(self._weights.n_columns, np.float32)
        vector[columns] = values
        if self.bias_feature >= 0:
            vector[self.bias_feature] = 0
        out = np.empty(self._weights.n_rows)
        _cosines(*self._weights.arrays, vector, self.bias_feature, out)
        length = np.linalg.norm(vector.astype(np.float64))
        return out / length if length else out


class EffectiveWeights:
    """Weights of Rembrandt with linear features: W d_j, and the decoder's constant."""

    def __init__(self, model):
        self._model = model
        self.bias_feature, self.bias_value = _bias_of(model)

    def row(self, label):
        features = np.arange(self._model.n_features)
        return features, self.at(label, features)

    def at(self, label, features):
        projection = self._model.projection
        rows = from_panels(projection.panels[:, features], projection.rank)
        return rows @ self._model.decoder[label, :-1].astype(np.float64)

    def constant(self, label):
        return float(self._model.decoder[label, -1])

    def cosines(self, label):
        decoder, gram = self._model.decoder[:, :-1], self._model.gram
        products = decoder @ (gram @ decoder[label])
        squares = np.einsum("jk,jk->j", decoder @ gram, decoder)
        lengths = np.sqrt(np.maximum(squares, 0))
        scale = lengths * lengths[label]
        return np.divide(products, scale, out=np.zeros(len(scale)), where=scale > 0)


def _bias_of(model):
    """Number and value of the bias feature, -1 and 0 where there is none."""
    value = float(model.parameters.get("transform", {}).get("bias", 0))
    return (model.n_features - 1, value) if value else (-1, 0.0)


@strict_kernel
def _cosines(data, indices, indptr, vector, left_out, out):
    """out_j = <w_j, v> / |w_j| without one feature."""
    for j in range(len(out)):
        product = square = 0.0
        for k in range(indptr[j], indptr[j + 1]):
            if indices[k] != left_out:
                product += data[k] * vector[indices[k]]
                square += data[k] * data[k]
        out[j] = product / np.sqrt(square) if square > 0 else 0.0
