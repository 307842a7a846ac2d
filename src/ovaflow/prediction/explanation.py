"""Why a label has its score: what each feature adds, a label's strongest features, its nearest labels.

The score of label j for the instance x is the sum of w_jf x_f over the features
f, the bias feature's part included, so the parts say all that there is to say.
Rembrandt with linear features decodes the projected instance, <d_j, W^T x> plus
a constant: the effective weights are w_j = W d_j. A forest has no such weights.
"""

import math
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.word_places import word_places
from ovaflow.model.model_file import ONE_VS_ALL, Model
from ovaflow.prediction.label_weights import EffectiveWeights, SparseWeights
from ovaflow.rembrandt.model_file import METHOD as REMBRANDT
from ovaflow.rembrandt.model_file import EmbeddingModel

EXPLAINED = (ONE_VS_ALL, REMBRANDT)
"""Methods with weights of labels; Rembrandt has them with linear features."""


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
    return [(start, end, ids[token]) for start, end, token in word_places(text, pattern) if token in ids]


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
