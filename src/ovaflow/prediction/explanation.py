"""Why a label has its score: what each feature adds, a label's strongest features, its nearest labels.

The score of label j for the instance x is the sum of w_jf x_f over the features
f, the bias feature's part included, so the parts say all that there is to say.
Rembrandt with linear features decodes the projected instance, <d_j, W^T x> plus
a constant: the effective weights are w_j = W d_j. A forest has no such weights.
"""

import difflib
import math
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.tokens import token_spans
from ovaflow.model.model_file import ONE_VS_ALL, Model
from ovaflow.rembrandt.model_file import METHOD as REMBRANDT
from ovaflow.rembrandt.model_file import EmbeddingModel
from ovaflow.rembrandt.panels import from_panels
from ovaflow.sparse.jit import strict_kernel

EXPLAINED = (ONE_VS_ALL, REMBRANDT)
"""Methods with weights of labels; Rembrandt has them with linear features."""

_SUGGESTED = 3


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


class Explanation(NamedTuple):
    """What the score of a label is made of."""

    label: int
    # sum of ``bias``, ``others`` and the contributions listed; in double precision, so the rounded scores of
    # predictions differ in the last digits
    score: float
    bias: float  # the same for every instance
    # features that push the score up and down, and by how much; the strongest first, ties by the smaller
    # feature id
    up: list
    down: list
    others: float  # sum of the contributions that are not listed


class Strongest(NamedTuple):
    """Features with the largest weights of a label, the strongest first."""

    up: list  # features and their weights, positive and negative; the strongest first
    down: list
    bias: float  # as in :class:`Explanation`


def contributions(predictor, x, label, top=None):
    """What pushes a label's score up and down for one instance, ``top`` features of each sign."""
    weights = _trained_weights(predictor.model, label)
    parts = x.data.astype(np.float64) * weights.at(label, x.indices)
    is_bias = x.indices == weights.bias_feature
    bias = math.fsum(parts[is_bias]) + weights.constant(label)
    features, parts = x.indices[~is_bias], parts[~is_bias]
    up, down, others = _by_sign(features, parts, top)
    return Explanation(int(label), math.fsum([bias, *parts]), bias, up, down, others)


def strongest_features(predictor, label, top=10):
    """Features with the largest weights of a label, ``top`` of each sign."""
    weights = _trained_weights(predictor.model, label)
    features, values = weights.row(label)
    is_bias = features == weights.bias_feature
    bias = float(values[is_bias].sum()) * weights.bias_value + weights.constant(label)
    up, down, _ = _by_sign(features[~is_bias], values[~is_bias].astype(np.float64), top)
    return Strongest(up, down, bias)


def nearest_labels(predictor, label, top=10):
    """Labels by cosine of their weights without the bias, falling; one pass over the weights, nothing of size l x l."""
    cosines = _trained_weights(predictor.model, label).cosines(label)
    cosines[~predictor.model.trained] = -np.inf
    cosines[label] = -np.inf
    best = _largest(cosines, top)
    return [(int(other), float(cosines[other])) for other in best if cosines[other] > 0]


def words_in_text(predictor, text):
    """(start, end, feature) of each word of a text that the model knows."""
    model = predictor.model
    pattern = model.parameters.get("transform", {}).get("token_pattern")
    if pattern is None:
        raise InputError(
            "made from features, not from texts: no words to find",
            path=model.path,
            remedy="give a model that was made from texts",
        )
    ids = model.feature_ids
    return [(start, end, ids[token]) for start, end, token in token_spans(text, pattern) if token in ids]


def explains(model):
    """Whether a model has weights of labels."""
    return isinstance(model, Model) or (isinstance(model, EmbeddingModel) and model.projection.random is None)


def _trained_weights(model, label):
    if not explains(model):
        raise InputError(
            _why_not(model),
            path=model.path,
            remedy="give a model of one-vs-all, or of rembrandt with linear features",
        )
    if not 0 <= label < model.n_labels:
        raise InputError(
            f"no label {label}: the model has {model.n_labels:,}",
            path=model.path,
            remedy="give the name or the number of one of its labels",
        )
    if not model.trained[label]:
        raise InputError(
            f"label {label} had no training positives and so no classifier",
            path=model.path,
            remedy="give a label that training instances have",
        )
    return (SparseWeights if isinstance(model, Model) else EffectiveWeights)(model)


def _why_not(model):
    if isinstance(model, EmbeddingModel):
        return "random cosine features mix all features in each score, which is no sum over features"
    return "a label's score is the mean of the leaves an instance falls into, which is no sum over features"


def _by_sign(features, values, top):
    """Positive and negative values, the largest first, and the sum of those not listed."""
    order = np.lexsort((features, -np.abs(values)))
    up, down = order[values[order] > 0], order[values[order] < 0]
    listed, rest = [], []
    for side in (up, down):
        end = len(side) if top is None else top
        listed.append([(int(features[k]), float(values[k])) for k in side[:end]])
        rest.extend(values[side[end:]])
    return *listed, math.fsum(rest)


def _largest(values, top):
    """Places of the largest values, ties by the smaller place."""
    top = min(top, len(values))
    if top == 0:
        return np.empty(0, np.int64)
    least = np.partition(values, len(values) - top)[len(values) - top]
    candidates = np.flatnonzero(values >= least)
    return candidates[np.argsort(-values[candidates], kind="stable")][:top]


def shown_name(predictor, label):
    """Name of a label, or ``label 17`` where it has none."""
    names = predictor.label_names
    return names[label] if names and names[label].strip() else f"label {label}"


def find_labels(predictor, names):
    """Ids of named labels, upper or lower case; the smallest where labels share a name."""
    known = [shown_name(predictor, label) for label in range(predictor.n_labels)] if names else []
    exact, folded = _first_places(known), _first_places(name.casefold() for name in known)
    found = []
    for name in names:
        label = exact.get(name, folded.get(name.casefold()))
        if label is None:
            close = difflib.get_close_matches(name.casefold(), folded, n=_SUGGESTED, cutoff=0.5)
            words = [known[folded[each]] for each in close]
            raise InputError(
                f"no label {name!r}",
                path=predictor.model.path,
                remedy=f"did you mean {' or '.join(map(repr, words))}?" if words else None,
            )
        found.append(label)
    return found


def _first_places(names):
    places = {}
    for place, name in enumerate(names):
        places.setdefault(name, place)
    return places
