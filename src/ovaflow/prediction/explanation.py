"""Why a label has its score: what each feature adds, strongest features, nearest labels.

The score of label j for the instance x is the sum of w_jf x_f over the features
f, the bias feature's contribution included, and a constant that only some
models have. Models without weights of labels, such as a forest, have a reason
in :attr:`Model.why_unexplainable`.
"""

import difflib
import math
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.features.blocks import NAMES, PAIRS, format_pair, make_feature_locator
from ovaflow.features.tokens import find_token_spans


class LabelContributions(NamedTuple):
    """What the score of a label for an instance is made of."""

    label: int
    # sum of ``bias``, ``others`` and the contributions listed; in double precision, so the rounded
    # scores of predictions differ in the last digits
    score: float
    bias: float  # the same for every instance
    # features that push the score up and down, and their contributions; the strongest first, ties
    # by the smaller feature id
    up: list
    down: list
    others: float  # sum of the contributions that are not listed


def compute_contributions(predictor, x, label, top=None):
    """What pushes a label's score up and down for one instance, ``top`` features of each sign."""
    linear = _require_weights(predictor.model, label)
    model = predictor.model
    if model.probabilistic:
        x = model.features_of_first_stage(x)
    values = x.data.astype(np.float64) * linear.label_weights(label, x.indices)
    is_bias = x.indices == linear.bias_feature
    bias = math.fsum(values[is_bias]) + linear.intercept(label)
    features = x.indices[~is_bias]
    values = values[~is_bias]
    up, down, others = _by_sign(features, values, top)
    return LabelContributions(int(label), math.fsum([bias, *values]), bias, up, down, others)


def find_strongest_features(predictor, label, top=10):
    """Features with the largest weights of a label, ``top`` of each sign, and its bias."""
    model = _require_weights(predictor.model, label)
    weights = model.label_weights(label, np.arange(model.n_features))
    features = np.flatnonzero(weights)
    features = features[features != model.bias_feature]
    bias = float(weights[-1]) * model.bias + model.intercept(label)
    up, down, _ = _by_sign(features, weights[features].astype(np.float64), top)
    return up, down, bias


def find_nearest_labels(predictor, label, top=10):
    """Labels by falling cosine of their weights without the bias; needs nothing of size l x l."""
    cosines = _require_weights(predictor.model, label).cosines(label)
    cosines[~predictor.model.trained] = -np.inf
    cosines[label] = -np.inf
    best = np.argsort(-cosines, kind="stable")[:top]
    return [(int(other), float(cosines[other])) for other in best if cosines[other] > 0]


def describe_label(predictor, label, top, nearest):
    up, down, bias = find_strongest_features(predictor, label, top)
    neighbours = []
    for other, cosine in find_nearest_labels(predictor, label, nearest):
        neighbours.append(make_label_entry(predictor, other) | {"cosine": cosine})
    weights = {"up": _weights(predictor, up), "down": _weights(predictor, down)}
    return weights | {"bias": bias, "nearest": neighbours}


def make_label_entry(predictor, label):
    """A label for JSON: its id and name, and its URI and notation where it has them."""
    names = predictor.label_names
    notations = predictor.model.label_notations
    entry = {"id": int(label), "name": names[label] if len(names) else ""}
    for key, values in (("uri", predictor.label_uris), ("notation", notations)):
        if len(values) and values[label]:
            entry[key] = values[label]
    return entry


def locate_contributions(predictor, features, spans):
    """Features by name with what they add, and their places in the text, by :func:`spans_in_text`."""
    entries = []
    for feature, value in features:
        name = _feature_name(predictor, feature)
        places = spans.get(feature, [])
        entries.append({"feature": name, "contribution": value, "spans": places})
    return entries


def _weights(predictor, features):
    return [{"feature": _feature_name(predictor, j), "weight": weight} for j, weight in features]


def _feature_name(predictor, feature):
    names = predictor.feature_names
    return names[feature] if len(names) else str(feature)


def find_spans(predictor, text):
    """Places in a text, (start, end), of the words, stems and the like that stand for each feature,
    by feature.
    """
    model = predictor.model
    if not predictor.takes_text:
        message = "made from features, not from texts: no words to find"
        raise InputError(message, path=model.path, remedy="give a model that was made from texts")
    transform = predictor.transform
    ids = model.feature_ids
    spans = {}
    places_of = make_feature_locator(transform.features)
    left_out = frozenset(transform.left_out)
    tokens = find_token_spans(text, model.transform.get("html"))
    tokens = [span for span in tokens if span.token not in left_out]
    for number, (token, starts, ends) in enumerate(tokens):
        for name, begin, end in places_of(token):
            if begin < end and (feature := ids.get(name)) is not None:
                spans.setdefault(feature, []).append((starts[begin], ends[end - 1]))
        if PAIRS in transform.features and number + 1 < len(tokens):
            following = tokens[number + 1]
            if (feature := ids.get(format_pair(token, following.token))) is not None:
                spans.setdefault(feature, []).append((starts[0], following.ends[-1]))
    if NAMES in transform.features:
        for feature, first, last in transform.phrases_in([span.token for span in tokens]):
            place = tokens[first].starts[0], tokens[last].ends[-1]
            spans.setdefault(feature, []).append(place)
    return spans


def _require_weights(model, label):
    """The part of a model that explains its scores; refused where this has no weights of the label."""
    remedy = "give the name or the number of one of its labels"
    if model.linear is None:
        message = f"its scores are not sums over features: {model.why_unexplainable}"
        remedy = "give a model whose scores are sums over features, such as one of one-vs-all"
    elif not 0 <= label < model.n_labels:
        message = f"no label {label}: the model has {model.n_labels:,}"
    elif not model.trained[label]:
        message = f"label {label} had no training positives and so no classifier"
    else:
        return model.linear
    raise InputError(message, path=model.path, remedy=remedy)


def _by_sign(features, values, top):
    """Positive and negative values, the largest first, and the sum of those not listed."""
    order = np.lexsort((features, -np.abs(values)))
    up = order[values[order] > 0]
    down = order[values[order] < 0]
    listed = []
    rest = []
    for side in (up, down):
        end = len(side) if top is None else top
        listed.append([(int(features[k]), float(values[k])) for k in side[:end]])
        rest.extend(values[side[end:]])
    return *listed, math.fsum(rest)


def get_display_name(entry):
    """Name of a label for people, ``label 17`` where it has none."""
    return entry["name"] if entry["name"].strip() else f"label {entry['id']}"


def find_labels(predictor, names):
    """Ids of labels by URI or by name, whatever its case; the smallest where labels share a name."""
    if not names:
        return []
    known = [
        get_display_name(make_label_entry(predictor, label)) for label in range(predictor.n_labels)
    ]
    exact = {
        mark: label
        for marks in (predictor.label_uris, known)
        for label, mark in reversed([*enumerate(marks)])
    }
    folded = {name.casefold(): label for label, name in reversed([*enumerate(known)])}
    labels = [exact.get(name, folded.get(name.casefold())) for name in names]
    if None in labels:
        name = names[labels.index(None)]
        close = difflib.get_close_matches(name.casefold(), folded, cutoff=0.5)
        candidates = " or ".join(repr(known[folded[each]]) for each in close)
        remedy = f"did you mean {candidates}?" if close else None
        raise InputError(f"no label {name!r}", path=predictor.model.path, remedy=remedy)
    return labels
