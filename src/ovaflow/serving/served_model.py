"""A model file that is being served: what it answers to requests, as plain objects."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from fastapi import HTTPException

from ovaflow.console.errors import InputError
from ovaflow.features.tokens import normal_form
from ovaflow.machine.limits import read_memory_left
from ovaflow.prediction.answer import shorten_float
from ovaflow.prediction.explanation import describe_label, make_label_entry
from ovaflow.prediction.languages import list_languages
from ovaflow.prediction.predictor import (
    FeaturesAndFamiliarity,
    Predictor,
    count_known_features,
    remark_on_memory,
)
from ovaflow.prediction.reasons import explain_labels
from ovaflow.prediction.sources import (
    NamedColumns,
    get_vocabulary_name,
    join_text_columns,
    remark_on_columns,
)
from ovaflow.reading.instances import FIELD_SEPARATOR

_MAX_PATTERNS = 10
"""Most patterns of a request; each is compared with the names and URIs of all labels."""


@dataclass(frozen=True)
class ServedModel:
    """A model, with its second stage if there is one, and what the operator should know about it."""

    predictor: Predictor
    remark: str = ""
    # called with the WordCount of texts that are asked about
    count: Callable = lambda word_count: None
    left_out: Any = None  # a LeftOut

    @property
    def model(self):
        return self.predictor.model

    @property
    def explains(self):
        """Whether scores are sums over features, so that they can be explained."""
        return self.model.linear is not None

    @property
    def vocabulary(self):
        """Name of the subject vocabulary: that of its file, without suffixes."""
        return get_vocabulary_name(self.model)

    @cached_property
    def languages(self):
        """The same model for each language in which it has names of labels."""
        languages = {}
        for language in list_languages(self.model):
            languages[language] = replace(self, predictor=self.predictor.in_language(language))
        return languages

    @property
    def form_fields(self):
        """How a form asks for the columns that the model reads beside the text."""
        columns = self.predictor.transform.columns if self.predictor.takes_text else None
        return columns.form_fields if columns else []

    def in_language(self, language):
        """The same model with names in a language; without one, its own."""
        if language is None:
            return self
        if language not in self.languages:
            reason = "does not know the language of its labels' names"
            if self.languages:
                reason = f"has names of labels in {', '.join(self.languages)} only"
            raise HTTPException(409, f"language: the served model {reason}")
        return self.languages[language]

    def offered(self):
        """The same model without labels that are now left out for everyone."""
        return (
            self
            if self.left_out is None
            else replace(self, predictor=self.left_out.of(self.predictor))
        )

    def for_request(self, request):
        """What answers a request: with names in its language, without labels that are left out."""
        return self.in_language(request.language).offered()

    @cached_property
    def search_forms(self):
        return [normal_form(name) for name in self.predictor.label_names]

    def warm_up(self) -> None:
        """Load kernels, names, vocabulary and index, and answer a made-up request of each kind."""
        predictor = self.predictor
        predictor.prepare()
        x = predictor.from_features([{}])
        predictor.top_k(x, 1)
        for of_labels in (self.search_forms, predictor.label_uris, self.model.label_notations):
            assert len(of_labels) in (0, predictor.n_labels)
        trained = np.flatnonzero(self.model.trained[:1000])
        if self.explains and len(trained):
            describe_label(predictor, int(trained[0]), 1, 1)
            explain_labels(predictor, x, trained[:1], 1, "" if predictor.takes_text else None)

    def predict(self, request):
        """Best labels of the instances of a request, and how many labels of each fit."""
        question = request.question
        self._check(question)
        read = self._instances(request)
        if read.familiarity is not None:
            self.count(read.familiarity.word_count)
        predictions = [answer.as_json() for answer in self.predictor.answer(read, question)]
        return {
            "model": self.model.checksum,
            "probabilities": self.model.probabilistic,
            "predictions": predictions,
        }

    def explain(self, request):
        """Why the best labels, or those of the request, have their scores."""
        if not self.explains:
            reason = "the served model has no weights of labels, so its scores cannot be explained"
            raise HTTPException(409, reason)
        X = self._instances(request).X
        text = (
            None if request.text is None else self._text(request.text).replace(FIELD_SEPARATOR, " ")
        )
        labels = self._labels_to_explain(X, request)
        explained = [
            each.as_json()
            for each in explain_labels(self.predictor, X, labels, request.words, text)
        ]
        return {
            "model": self.model.checksum,
            "labels": _shorten_floats(explained),
            "features": int(count_known_features(self.predictor, X)[0]),
        }

    def find_labels(self, search, offset, limit):
        """Labels whose names contain a string, those that begin with it first, or with this
        notation or URI.
        """
        searched = normal_form(search.strip())
        if searched:
            labels = [label for label, name in enumerate(self.search_forms) if searched in name]
            labels.sort(key=lambda label: not self.search_forms[label].startswith(searched))
            for names in (self.model.label_notations, self.predictor.label_uris):
                labels += [label for label, name in enumerate(names) if name == search.strip()]
        else:
            labels = range(self.predictor.n_labels)
        page = [self._label(label) for label in labels[offset : offset + limit]]
        return {"model": self.model.checksum, "total": len(labels), "labels": page}

    def describe_label(self, label, words, nearest):
        self._require_label(label)
        answer = {"model": self.model.checksum, "label": self._label(label)}
        if not self.explains or not self.model.trained[label]:
            return answer | dict.fromkeys(("up", "down", "bias", "nearest"))
        return answer | _shorten_floats(describe_label(self.predictor, label, words, nearest))

    def health(self):
        predictor = self.predictor
        return {
            "status": "ready",
            "model": self.model.checksum,
            "method": self.model.method,
            "vocabulary": self.vocabulary,
            "labels": predictor.n_labels,
            "features": predictor.n_features,
            "takes_text": predictor.takes_text,
            "columns": NamedColumns.of(self.model).by_kind if predictor.takes_text else None,
            "probabilities": self.model.probabilistic,
            "explanations": self.explains,
            "languages": list(self.languages),
            "trained_languages": self.predictor.usual.languages,
            "remark": self.remark,
        } | (self.left_out.health() if self.left_out else {"left_out": 0, "left_out_failed": None})

    def _instances(self, request):
        """Features and familiarity of the instances of a request."""
        predictor = self.predictor
        if request.features is None:
            texts = _list_texts(request)
            if not predictor.takes_text:
                reason = "the served model was trained on features: send features, not texts"
                raise HTTPException(409, reason)
            beside = [predictor.beside(_get_columns(text)) for text in texts]
            return predictor.read_texts([self._text(text) for text in texts], beside)
        rows = request.features if isinstance(request.features, list) else [request.features]
        try:
            with np.errstate(all="ignore"):
                X = predictor.from_features(rows)
        except InputError as error:
            raise HTTPException(422, f"features: {self._without_path(error)}") from None
        if not np.isfinite(X.data).all():
            reason = "the model's transform gives no finite numbers for these values"
            raise HTTPException(422, f"features: {reason}")
        return FeaturesAndFamiliarity(
            X, missing=[list(predictor.columns)] * X.n_rows if predictor.columns else None
        )

    def _text(self, text):
        """A text as the model reads it, sent as such or by its columns."""
        if isinstance(text, str):
            return text
        return join_text_columns(self.model, _get_columns(text))

    def _check(self, question) -> None:
        """Refuse what the model cannot answer, and labels that it does not have."""
        try:
            question.require(self.model)
        except InputError as error:
            raise HTTPException(409, f"the served model {self._without_path(error)}") from None
        choice = {"include": question.include, "exclude": question.exclude}
        for field, entries in choice.items():
            if sum("*" in entry for entry in entries) > _MAX_PATTERNS:
                raise HTTPException(422, f"{field}: more than {_MAX_PATTERNS} patterns")
        try:
            self.predictor.allowed_labels(question)
        except InputError as error:
            places = [
                f"{field}.{place}"
                for field in choice
                for place in self.predictor.finder.unknown(choice[field])
            ]
            reasons = [*(f"{place}: no such label; see /labels" for place in places), str(error)]
            raise HTTPException(404, reasons[0]) from None

    def _labels_to_explain(self, X, request):
        if request.labels is None:
            [answer] = self.predictor.answer(X, top_k=request.top_k)
            return [label.id for label in answer.labels]
        for label in request.labels:
            self._require_label(label)
            if not self.model.trained[label]:
                reason = f"label {label} had no training positives, so nothing explains it"
                raise HTTPException(404, reason)
        return request.labels

    def _label(self, label):
        positives = int(self.model.counts[label])
        trained = bool(self.model.trained[label])
        return make_label_entry(self.predictor, label) | {
            "positives": positives,
            "trained": trained,
        }

    def _require_label(self, label) -> None:
        if not 0 <= label < self.predictor.n_labels:
            last = self.predictor.n_labels - 1
            raise HTTPException(404, f"no label {label}: their ids run from 0 to {last}")

    def _without_path(self, error):
        """What is wrong, without the path of the model."""
        return str(error).removeprefix(f"{self.model.path}: ")


def _list_texts(request):
    return getattr(request, "texts", None) or [request.text]


def _get_columns(text):
    """What was sent by column; nothing of a plain text."""
    return {} if isinstance(text, str) else text.model_dump(by_alias=True)


def _shorten_floats(answer):
    """An answer whose numbers have the fewest digits that give the same float32 again."""
    if isinstance(answer, dict):
        return {key: _shorten_floats(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_shorten_floats(value) for value in answer]
    return shorten_float(np.float32(answer)) if isinstance(answer, float | np.float32) else answer


def open_served_model(path, reranker=None, rerank=True):
    """Open a model, with its second stage as :meth:`Predictor.open` finds it."""
    predictor = Predictor.open(path, reranker, rerank)
    remarks = remark_on_columns(predictor.model), remark_on_memory(predictor, read_memory_left())
    return ServedModel(predictor, "; ".join(filter(None, remarks)))
