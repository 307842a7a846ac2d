"""Figures for Prometheus of what a model is asked, beside what is normal for it."""

import numpy as np
from prometheus_client import Counter, Gauge, Summary

from ovaflow.model.top_k import NO_LABEL
from ovaflow.prediction.drift import first_labels_of, frequent_labels
from ovaflow.prediction.reference import read_reference

_OTHERS = "other labels"

_MODEL = ["model"]
_WORDS = Counter("ovaflow_words", "Words of texts.", _MODEL)
_UNKNOWN_WORDS = Counter("ovaflow_unknown_words", "Words without a feature.", _MODEL)
_FIRST_PROBABILITY = Summary("ovaflow_first_probability", "Probabilities of first labels.", _MODEL)
_FIRST_LABELS = Counter("ovaflow_first_labels", "Instances by first label.", [*_MODEL, "label"])


def _reference(name, text, *more):
    name = f"ovaflow_reference_{name}"
    labels = [*_MODEL, *more]
    return Gauge(name, f"{text} of the test set.", labels, multiprocess_mode="livemax")


_NORMAL_WORDS = _reference("unknown_words_ratio", "Share of unknown words")
_NORMAL_PROBABILITY = _reference("first_probability", "Mean probability of first labels")
_NORMAL_LABELS = _reference("first_labels_ratio", "Share of first labels", "label")


def counter_of(model):
    """A function that counts words, and the first of ids and scores (n, k), of each request."""
    checksum, frequent = model.checksum, frequent_labels(model)
    names = [*(model.label_names[label] for label in frequent), _OTHERS]
    words_asked, unknown_words = _WORDS.labels(checksum), _UNKNOWN_WORDS.labels(checksum)
    labels = [_FIRST_LABELS.labels(checksum, name) for name in names]
    _set_reference(model, names)

    def count(words, ids, scores):
        words_asked.inc(words.amount)
        unknown_words.inc(words.unknown.total())
        first = first_labels_of(frequent, ids, scores)
        for place in np.flatnonzero(first.counts):
            labels[place].inc(int(first.counts[place]))
        # scores may be negative, so that their sum is no counter
        if model.probabilistic:
            for probability in scores[ids[:, 0] != NO_LABEL, 0].tolist():
                _FIRST_PROBABILITY.labels(checksum).observe(probability)

    return count


def _set_reference(model, names):
    reference = read_reference(model)
    if reference is None:
        return
    if reference.words:
        _NORMAL_WORDS.labels(model.checksum).set(reference.unknown_share)
    first = reference.first
    if first is not None and first.records:
        for name, share in zip(names, first.shares.tolist(), strict=True):
            _NORMAL_LABELS.labels(model.checksum, name).set(share)
        if model.probabilistic:
            _NORMAL_PROBABILITY.labels(model.checksum).set(first.mean)
