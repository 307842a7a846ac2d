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
from ovaflow.data.blocks import PAIRS, name_of_pair, names_of_word, places_in_word
from ovaflow.data.tokens import token_spans
from ovaflow.model.model_file import ONE_VS_ALL, Model
from ovaflow.rembrandt.model_file import METHOD as REMBRANDT
from ovaflow.rembrandt.model_file import EmbeddingModel
from ovaflow.rembrandt.panels import from_panels
from ovaflow.sparse.jit import strict_kernel

EXPLAINED = (ONE_VS_ALL, REMBRANDT)
"""Methods with weights of labels; Rembrandt has them with linear features."""


def _weights(model, label, features):
    """Weights of a label at some features; Rembrandt's are W d_j."""
    if isinstance(model, EmbeddingModel):
        rows = from_panels(model.projection.panels[:, features], model.projection.rank)
        return rows @ model.decoder[label, :-1].astype(np.float64)
    entries = slice(*model.weights.indptr[label : label + 2])
    vector = np.zeros(model.n_features, np.float32)
    vector[model.weights.indices[entries]] = model.weights.data[entries]
    return vector[features]


def _constant(model, label):
    """What a label's score has besides its weights."""
    return float(model.decoder[label, -1]) if isinstance(model, EmbeddingModel) else 0.0


def _bias_feature(model):
    return model.n_features - 1 if model.bias else -1


def _cosines(model, label):
    """Cosines of the weights of a label and of all labels, without the bias feature."""
    if isinstance(model, EmbeddingModel):
        decoder = model.decoder[:, :-1]
        products = decoder @ (model.gram @ decoder[label])
        squares = np.einsum("jk,jk->j", decoder @ model.gram, decoder)
        lengths = np.sqrt(np.maximum(squares, 0))
        scale = lengths * lengths[label]
        return np.divide(products, scale, out=np.zeros(len(scale)), where=scale > 0)
    vector, bias_feature = _weights(model, label, slice(None)), _bias_feature(model)
    if bias_feature >= 0:
        vector[bias_feature] = 0
    out = np.empty(model.n_labels)
    _fill_cosines(*model.weights.arrays, vector, bias_feature, out)
    length = np.linalg.norm(vector.astype(np.float64))
    return out / length if length else out


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
    model = _require_weights(predictor.model, label)
    parts = x.data.astype(np.float64) * _weights(model, label, x.indices)
    is_bias = x.indices == _bias_feature(model)
    bias = math.fsum(parts[is_bias]) + _constant(model, label)
    features, parts = x.indices[~is_bias], parts[~is_bias]
    up, down, others = _by_sign(features, parts, top)
    return Explanation(int(label), math.fsum([bias, *parts]), bias, up, down, others)


def strongest_features(predictor, label, top=10):
    """Features with the largest weights of a label, ``top`` of each sign."""
    model = _require_weights(predictor.model, label)
    weights = _weights(model, label, np.arange(model.n_features))
    features = np.flatnonzero(weights)
    plain = features[features != _bias_feature(model)]
    bias = float(weights[-1]) * model.bias + _constant(model, label)
    up, down, _ = _by_sign(plain, weights[plain].astype(np.float64), top)
    return Strongest(up, down, bias)


def nearest_labels(predictor, label, top=10):
    """Labels by cosine of their weights without the bias, falling; one pass over the weights, nothing of size l x l."""
    cosines = _cosines(_require_weights(predictor.model, label), label)
    cosines[~predictor.model.trained] = -np.inf
    cosines[label] = -np.inf
    best = np.argsort(-cosines, kind="stable")[:top]
    return [(int(other), float(cosines[other])) for other in best if cosines[other] > 0]


def words_in_text(predictor, text):
    """(start, end, feature) of each word, pair, prefix, stem or piece of a word of a text that the model knows."""
    model = predictor.model
    if not predictor.takes_text:
        raise InputError(
            "made from features, not from texts: no words to find",
            path=model.path,
            remedy="give a model that was made from texts",
        )
    transform, ids, found = predictor.transform, model.feature_ids, []
    names_of, left_out = names_of_word(transform.features), frozenset(transform.left_out)
    spans = [span for span in token_spans(text, model.transform.get("html")) if span.token not in left_out]
    for number, (token, starts, ends) in enumerate(spans):
        for name in dict.fromkeys(names_of(token)):
            if name in ids:
                places = places_in_word(name, token)
                found += [(starts[begin], ends[end - 1], ids[name]) for begin, end in places]
        if PAIRS in transform.features and number + 1 < len(spans):
            following = spans[number + 1]
            name = name_of_pair(token, following.token)
            if name in ids:
                found.append((starts[0], following.ends[-1], ids[name]))
    return found


def explains(model):
    """Whether a model has weights of labels."""
    return isinstance(model, Model) or (isinstance(model, EmbeddingModel) and model.projection.random is None)


def _require_weights(model, label):
    """The model, refused where it has no weights of the label."""
    remedy = "give the name or the number of one of its labels"
    if not explains(model):
        mixed = "random cosine features mix all features in each score"
        means = "a label's score is the mean of the leaves an instance falls into"
        message = f"{mixed if isinstance(model, EmbeddingModel) else means}, which is not a sum over features"
        remedy = "give a model of one-vs-all, or of rembrandt with linear features"
    elif not 0 <= label < model.n_labels:
        message = f"no label {label}: the model has {model.n_labels:,}"
    elif not model.trained[label]:
        message = f"label {label} had no training positives and so no classifier"
    else:
        return model
    raise InputError(message, path=model.path, remedy=remedy)


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


def shown_name(predictor, label):
    """Name of a label, or ``label 17`` where it has none."""
    names = predictor.label_names
    return names[label] if names and names[label].strip() else f"label {label}"


def find_labels(predictor, names):
    """Ids of labels given by URI, or by name in upper or lower case; the smallest where labels share a name."""
    known = [shown_name(predictor, label) for label in range(predictor.n_labels)] if names else []
    uris = predictor.label_uris if names else []
    exact = {name: label for label, name in reversed([*enumerate(known), *enumerate(uris)])}
    folded = {name.casefold(): label for label, name in reversed([*enumerate(known)])}
    found = []
    for name in names:
        label = exact.get(name, folded.get(name.casefold()))
        if label is None:
            close = difflib.get_close_matches(name.casefold(), folded, cutoff=0.5)
            meant = " or ".join(repr(known[folded[each]]) for each in close)
            raise InputError(
                f"no label {name!r}",
                path=predictor.model.path,
                remedy=f"did you mean {meant}?" if close else None,
            )
        found.append(label)
    return found
