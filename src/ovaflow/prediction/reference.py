"""What is normal for a model, reference.json: words, languages and first labels of its test set."""

from collections import Counter
from pathlib import Path

import numpy as np

from ovaflow.prediction.drift import (
    FirstLabels,
    Reference,
    Words,
    first_labels_of,
    frequent_labels,
)
from ovaflow.prediction.familiarity import trained_languages
from ovaflow.prediction.predictor import FeaturesAndWords, Predictor
from ovaflow.storage.texts import read_json, write_json

KIND = "reference"

FILE_NAME = "reference.json"
"""The file lies next to the model that it belongs to."""

_USUAL = 200  # unknown words that are kept
_MOST = 20_000  # test texts that are read again, evenly spread over all


def write_reference(path, predictions, dataset, model):
    """Write what is normal for a model, given its predictions for the test set."""
    frequent, ranking = frequent_labels(model), predictions.ranking
    read = _read_test_set(dataset, model)
    words = read.words
    content = {
        "model": model.checksum,
        "words": words.amount,
        "unknown_words": words.unknown.total(),
        "usual": [word for word, _ in words.unknown.most_common(_USUAL)],
        "languages": dict(Counter(filter(None, read.familiarity.languages))) if read.familiarity else {},
        "scores": _entry(first_labels_of(frequent, predictions.ids, predictions.scores)),
    }
    if ranking is not None:
        first = first_labels_of(frequent, ranking.first_ids, ranking.scores)
        ranked = first_labels_of(frequent, ranking.ids, ranking.probabilities)
        content |= {"scores": _entry(first), "probabilities": _entry(ranked)}
        content["reranker"] = predictions.inputs["reranker"]
    write_json(path, KIND, content)


def _read_test_set(dataset, model):
    """Words and languages of test texts, whose beginnings the dataset has; none where it has features."""
    n = dataset.test.X.n_rows
    amount = min(n, _MOST)
    texts = dataset.test_texts(np.arange(amount) * n // max(amount, 1))
    if not texts:
        return FeaturesAndWords(dataset.test.X, Words.sum([]))
    return Predictor(model).read_texts(texts)


def _entry(first):
    return {"sum": first.total, "records": first.counts.tolist()}


def read_reference(model):
    """The :class:`Reference` next to an open model; None without one of this model."""
    path = Path(model.path).with_name(FILE_NAME)
    if not path.exists():
        return None
    content = read_json(path, KIND)
    if content["model"] != model.checksum:
        return None
    parts = content["words"], content["unknown_words"], frozenset(content["usual"])
    # those of earlier versions have no languages
    languages = trained_languages(content.get("languages", {}))
    return Reference(*parts, _first(content, model), languages)


def _first(content, model):
    name = "scores"
    if model.probabilistic:
        name = "probabilities"
        if content.get("reranker") != model.reranker.checksum:
            return None
    first = FirstLabels(content[name]["sum"], np.array(content[name]["records"]))
    return first if first.records else None
