"""Answers to requests: plain objects, made by one model each."""

import numpy as np
from fastapi import HTTPException

from ovaflow.console.errors import InputError
from ovaflow.data.readers.texts import FIELD
from ovaflow.data.tokens import normal_form
from ovaflow.prediction.answers import labels_of
from ovaflow.prediction.explanation import contributions, nearest_labels, strongest_features, words_in_text
from ovaflow.prediction.sources import text_of_columns


def predict(served, request):
    """Best labels of the instances of a request."""
    if request.probabilities or request.thresholds:
        _needs_calibration(served)
    X = _instances(served, request)
    asked = request.top_k, 1, served.calibration, request.probabilities, request.thresholds
    rows = zip(labels_of(served.predictor, X, *asked), known_features(served, X), strict=True)
    predictions = [
        {"labels": [_predicted(served, label) for label in labels], "features": known} for labels, known in rows
    ]
    return {"model": served.checksum, "predictions": predictions}


def explain(served, request):
    """Why the best labels, or those asked for, have their scores."""
    if not served.explains:
        raise HTTPException(409, "the served model has no weights of labels, so its scores cannot be explained")
    if request.probabilities:
        _needs_calibration(served)
    X = _instances(served, request)
    text = None if request.text is None else _text(served.predictor.model, request.text).replace(FIELD, " ")
    places = {} if text is None else _places(served.predictor, text)
    labels = [
        _explained(served, contributions(served.predictor, X, label, request.words), places, request.probabilities)
        for label in _chosen_labels(served, X, request)
    ]
    return {"model": served.checksum, "labels": labels, "features": known_features(served, X)[0]}


def find_labels(served, search, offset, limit):
    """Labels whose names contain a string, whatever the case, or that have it as notation or URI.

    Names that begin with it come first.
    """
    wanted = normal_form(search.strip())
    if wanted:
        found = [label for label, name in enumerate(served.search_forms) if wanted in name]
        found.sort(key=lambda label: not served.search_forms[label].startswith(wanted))
        marks = served.predictor.model.label_notations, served.predictor.label_uris
        found += [label for mark in marks for label, given in enumerate(mark) if given == search.strip()]
    else:
        found = range(served.predictor.n_labels)
    page = [_label(served, label) for label in found[offset : offset + limit]]
    return {"model": served.checksum, "total": len(found), "labels": page}


def describe_label(served, label, words, nearest):
    """A label with its strongest words and nearest labels."""
    _needs_label(served, label)
    answer = {"model": served.checksum, "label": _label(served, label), "up": None, "down": None, "nearest": None}
    if not served.explains or not served.predictor.model.trained[label]:
        return answer
    strongest = strongest_features(served.predictor, label, words)
    near = nearest_labels(served.predictor, label, nearest)
    return answer | {
        "up": _weights(served, strongest.up),
        "down": _weights(served, strongest.down),
        "nearest": [{**_identity(served, other), "cosine": _rounded(cosine)} for other, cosine in near],
    }


def health(served):
    """What is served."""
    predictor = served.predictor
    return {
        "status": "ready",
        "model": served.checksum,
        "method": predictor.model.parameters.get("train", {}).get("method", "one-vs-all"),
        "vocabulary": served.vocabulary,
        "labels": predictor.n_labels,
        "features": predictor.n_features,
        "takes_text": predictor.takes_text,
        "probabilities": served.calibration is not None,
        "explanations": served.explains,
        "remark": served.remark,
    }


def _instances(served, request):
    """Features of the instances of a request."""
    predictor = served.predictor
    if request.features is None:
        texts = getattr(request, "texts", None) or [request.text]
        if not predictor.takes_text:
            raise HTTPException(409, "the served model was trained on features: send features, not texts")
        return predictor.from_texts([_text(predictor.model, text) for text in texts])
    rows = request.features if isinstance(request.features, list) else [request.features]
    try:
        with np.errstate(all="ignore"):
            X = predictor.from_features(rows)
    except InputError as error:
        # without the path of the model
        raise HTTPException(422, "features: " + str(error).removeprefix(f"{predictor.model.path}: ")) from None
    if not np.isfinite(X.data).all():
        raise HTTPException(422, "features: the model's transform gives no finite numbers for these values")
    return X


def _text(model, given):
    """A text as the model reads it, given as such or by its columns."""
    return given if isinstance(given, str) else text_of_columns(model, given.model_dump(by_alias=True))


def known_features(served, X):
    """How many features of each instance are not the bias feature."""
    transform = served.predictor.model.parameters.get("transform", {})
    return (np.diff(X.indptr) - (transform.get("bias", 0.0) != 0)).tolist()


def _chosen_labels(served, X, request):
    if request.labels is None:
        return [label.id for label in next(labels_of(served.predictor, X, request.top_k))]
    for label in request.labels:
        _needs_label(served, label)
        if not served.predictor.model.trained[label]:
            raise HTTPException(404, f"label {label} had no training positives, so nothing explains it")
    return request.labels


def _predicted(served, label):
    entry = {**_identity(served, label.id), "score": _rounded(label.score)}
    return entry if label.probability is None else entry | {"probability": _rounded(label.probability)}


def _explained(served, explanation, places, probabilities):
    label = explanation.label
    entry = {**_identity(served, label), "score": _rounded(explanation.score)}
    if probabilities:
        pair = np.array([label]), np.array([explanation.score])
        entry["probability"] = _rounded(served.calibration.probabilities(*pair)[0])
    return entry | {
        "bias": _rounded(explanation.bias),
        "up": _contributions(served, explanation.up, places),
        "down": _contributions(served, explanation.down, places),
        "others": _rounded(explanation.others),
    }


def _contributions(served, parts, places):
    return [
        {"feature": _feature(served, feature), "contribution": _rounded(value), "spans": places.get(feature, [])}
        for feature, value in parts
    ]


def _places(predictor, text):
    places = {}
    for start, end, feature in words_in_text(predictor, text):
        places.setdefault(feature, []).append((start, end))
    return places


def _weights(served, features):
    return [{"feature": _feature(served, feature), "weight": _rounded(weight)} for feature, weight in features]


def _label(served, label):
    model = served.predictor.model
    positives, trained = int(model.counts[label]), bool(model.trained[label])
    return {**_identity(served, label), "positives": positives, "trained": trained}


def _identity(served, label):
    given = {"uri": served.predictor.label_uris, "notation": served.predictor.model.label_notations}
    known = {key: values[label] for key, values in given.items() if len(values) and values[label]}
    return {"id": label, "name": _name(served, label), **known}


def _name(served, label):
    names = served.predictor.label_names
    return names[label] if len(names) else ""


def _feature(served, feature):
    names = served.predictor.feature_names
    return names[feature] if len(names) else str(feature)


def _needs_label(served, label):
    if not 0 <= label < served.predictor.n_labels:
        raise HTTPException(404, f"no label {label}: their ids run from 0 to {served.predictor.n_labels - 1}")


def _needs_calibration(served):
    if served.calibration is None:
        raise HTTPException(409, "the served model has no calibration, so it has no probabilities or thresholds")


def _rounded(value):
    """Fewest digits that give the same float32 again."""
    return float(str(np.float32(value)))
