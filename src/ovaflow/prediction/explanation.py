"""Explanations of scores: contributions of features, strongest features, and nearest labels.

The score of label j for the instance x is the sum of w_jf x_f over the features
f, the bias feature's contribution included, and a constant that only some
models have. Models without weights of labels, such as a forest, have a reason
in :attr:`Model.why_unexplainable`.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.features.blocks import NAMES, PAIRS, format_pair, make_feature_locator
from ovaflow.features.tokens import find_token_spans
from ovaflow.model.model_file import Model
from ovaflow.reranking.reranked_model import has_second_stage
from ovaflow.sparse.csr import CSR

if TYPE_CHECKING:
    from ovaflow.prediction.predictor import Predictor

ListedFeatures = list[tuple[int, float]]
"""Ids of features with weights or contributions, the largest first, ties by the smaller id."""

Spans = dict[int, list[tuple[int, int]]]
"""Positions in a text, (start, end) in code points, by feature."""


class LabelContributions(NamedTuple):
    """The parts of the score of a label for an instance."""

    label: int
    # sum of ``bias``, ``others`` and the contributions listed; in double precision, so the rounded
    # scores of predictions differ in the last digits
    score: float
    bias: float  # the same for every instance
    up: ListedFeatures  # features with a positive contribution
    down: ListedFeatures  # features with a negative contribution
    others: float  # sum of the contributions that are not listed


def compute_contributions(
    predictor: Predictor, x: CSR, label: int, top: int | None = None
) -> LabelContributions:
    """Compute the contributions of features to the score of a label for one instance.

    Parameters
    ----------
    predictor : Predictor
        The predictor.
    x : CSR, shape (1, d)
        The instance.
    label : int
        Id of the label.
    top : int, optional
        Number of features of each sign that are listed; all by default.

    Raises
    ------
    InputError
        If the model has no weights of the label.
    """
    model = predictor.model
    linear = _require_weights(model, label)
    if has_second_stage(model):
        x = model.select_first_stage_features(x)
    values = x.data.astype(np.float64) * linear.label_weights(label, x.indices)
    is_bias = x.indices == linear.bias_feature
    bias = math.fsum(values[is_bias]) + linear.intercept(label)
    features = x.indices[~is_bias]
    values = values[~is_bias]
    up, down, others = _list_by_sign(features, values, top)
    return LabelContributions(int(label), math.fsum([bias, *values]), bias, up, down, others)


def find_strongest_features(
    predictor: Predictor, label: int, top: int = 10
) -> tuple[ListedFeatures, ListedFeatures, float]:
    """Find the features with the largest weights of a label, ``top`` of each sign, and its bias."""
    model = _require_weights(predictor.model, label)
    weights = model.label_weights(label, np.arange(model.n_features))
    features = np.flatnonzero(weights)
    features = features[features != model.bias_feature]
    bias = float(weights[-1]) * model.bias + model.intercept(label)
    up, down, _ = _list_by_sign(features, weights[features].astype(np.float64), top)
    return up, down, bias


def find_nearest_labels(predictor: Predictor, label: int, top: int = 10) -> list[tuple[int, float]]:
    """Find the labels with the largest cosine of their weights without the bias.

    Only positive cosines count. No matrix of size l x l is computed.
    """
    cosines = _require_weights(predictor.model, label).cosines(label)
    cosines[~predictor.model.trained] = -np.inf
    cosines[label] = -np.inf
    best = np.argsort(-cosines, kind="stable")[:top]
    return [(int(other), float(cosines[other])) for other in best if cosines[other] > 0]


def describe_label(predictor: Predictor, label: int, top: int, nearest: int) -> dict[str, Any]:
    """Describe a label for JSON: ``top`` strongest features of each sign, and nearest labels."""
    up, down, bias = find_strongest_features(predictor, label, top)
    neighbours = []
    for other, cosine in find_nearest_labels(predictor, label, nearest):
        neighbours.append(make_label_entry(predictor, other) | {"cosine": cosine})
    return {
        "up": _make_weight_entries(predictor, up),
        "down": _make_weight_entries(predictor, down),
        "bias": bias,
        "nearest": neighbours,
    }


def make_label_entry(predictor: Predictor, label: int) -> dict[str, Any]:
    """Make the JSON of a label: its id and name, and its URI and notation if it has them."""
    names = predictor.label_names
    uris = predictor.label_uris
    notations = predictor.model.label_notations
    entry = {"id": int(label), "name": names[label] if len(names) else ""}
    if len(uris) and uris[label]:
        entry["uri"] = uris[label]
    if len(notations) and notations[label]:
        entry["notation"] = notations[label]
    return entry


def locate_contributions(
    predictor: Predictor, features: ListedFeatures, spans: Spans
) -> list[dict[str, Any]]:
    """Name features with their contributions, and their positions by :func:`find_spans`."""
    entries = []
    for feature, value in features:
        name = _get_feature_name(predictor, feature)
        entries.append({"feature": name, "contribution": value, "spans": spans.get(feature, [])})
    return entries


def _make_weight_entries(predictor: Predictor, features: ListedFeatures) -> list[dict[str, Any]]:
    entries = []
    for feature, weight in features:
        entries.append({"feature": _get_feature_name(predictor, feature), "weight": weight})
    return entries


def _get_feature_name(predictor: Predictor, feature: int) -> str:
    names = predictor.feature_names
    return names[feature] if len(names) else str(feature)


def find_spans(predictor: Predictor, text: str) -> Spans:
    """Find the positions in a text of the words, stems and the like from which features are made.

    Raises
    ------
    InputError
        If the model was made from features.
    """
    model = predictor.model
    if not predictor.takes_text:
        message = "made from features, not from texts: no words to find"
        raise InputError(message, path=model.path, remedy="give a model that was made from texts")
    transform = predictor.transform
    ids = model.feature_ids
    left_out = frozenset(transform.left_out)
    all_tokens = find_token_spans(
        text, html=bool(model.transform.get("html")), word_kind=transform.words
    )
    tokens = [span for span in all_tokens if span.token not in left_out]
    locate = make_feature_locator(transform.features)
    spans: Spans = {}
    for number, (token, starts, ends) in enumerate(tokens):
        for name, begin, end in locate(token):
            feature = ids.get(name) if begin < end else None
            if feature is not None:
                spans.setdefault(feature, []).append((starts[begin], ends[end - 1]))
        if PAIRS in transform.features and number + 1 < len(tokens):
            following = tokens[number + 1]
            feature = ids.get(format_pair(token, following.token))
            if feature is not None:
                spans.setdefault(feature, []).append((starts[0], following.ends[-1]))
    if NAMES in transform.features:
        for feature, first, last in transform.find_phrases([span.token for span in tokens]):
            span = (tokens[first].starts[0], tokens[last].ends[-1])
            spans.setdefault(feature, []).append(span)
    return spans


def _require_weights(model: Model, label: int) -> Any:
    """Return the linear part of a model.

    Raises
    ------
    InputError
        If the model has no weights of the label.
    """
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


def _list_by_sign(
    features: np.ndarray, values: np.ndarray, top: int | None
) -> tuple[ListedFeatures, ListedFeatures, float]:
    """List the ``top`` largest positive and negative values, and sum those not listed."""
    order = np.lexsort((features, -np.abs(values)))
    listed = []
    rest: list[float] = []
    for side in (order[values[order] > 0], order[values[order] < 0]):
        end = len(side) if top is None else top
        listed.append([(int(features[k]), float(values[k])) for k in side[:end]])
        rest.extend(values[side[end:]])
    up, down = listed
    return up, down, math.fsum(rest)


def get_display_name(entry: dict[str, Any]) -> str:
    """Return the name of a label for people: ``label 17`` for a label without a name."""
    if entry["name"].strip():
        return entry["name"]
    return f"label {entry['id']}"


def find_labels(predictor: Predictor, names: Sequence[str]) -> list[int]:
    """Find the ids of labels by URI or by name, whatever its case.

    Where labels share a name, it means the smallest id.

    Raises
    ------
    InputError
        If there is no such label.
    """
    if not names:
        return []
    known = []
    for label in range(predictor.n_labels):
        known.append(get_display_name(make_label_entry(predictor, label)))
    exact = _number_names(predictor.label_uris) | _number_names(known)
    folded = _number_names(name.casefold() for name in known)
    labels = []
    for name in names:
        found = exact.get(name, folded.get(name.casefold()))
        if found is None:
            close = difflib.get_close_matches(name.casefold(), folded, cutoff=0.5)
            candidates = " or ".join(repr(known[folded[match]]) for match in close)
            remedy = f"did you mean {candidates}?" if close else None
            raise InputError(f"no label {name!r}", path=predictor.model.path, remedy=remedy)
        labels.append(found)
    return labels


def _number_names(names: Iterable[str]) -> dict[str, int]:
    """Return the number of each name, the first one of equal names."""
    numbers: dict[str, int] = {}
    for number, name in enumerate(names):
        numbers.setdefault(name, number)
    return numbers
