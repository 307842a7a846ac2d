"""A served model file, and its answers to requests as plain objects."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from fastapi import HTTPException
from pydantic import BaseModel

from ovaflow.console.errors import InputError, StrPath
from ovaflow.features.columns import FormField
from ovaflow.machine.limits import read_memory_left
from ovaflow.prediction.answer import shorten_float
from ovaflow.prediction.explanation import describe_label, make_label_entry
from ovaflow.prediction.familiarity import WordCount
from ovaflow.prediction.languages import list_alternatives, list_languages
from ovaflow.prediction.predictor import (
    FeaturesAndFamiliarity,
    Predictor,
    count_known_features,
    remark_on_memory,
)
from ovaflow.prediction.question import Question
from ovaflow.prediction.reasons import explain_labels
from ovaflow.prediction.sources import (
    NamedColumns,
    get_vocabulary_name,
    join_text_columns,
    remark_on_columns,
)
from ovaflow.reading.instances import FIELD_SEPARATOR
from ovaflow.serving.excluded_labels import ExcludedLabels
from ovaflow.serving.label_search import LabelSearch
from ovaflow.sparse.csr import CSR

_MAX_PATTERNS = 10
"""Patterns of a request; each is compared with the names and URIs of all labels."""


def _ignore_words(word_count: WordCount) -> None:
    pass


@dataclass(frozen=True)
class ServedModel:
    """A model, with its second stage if there is one.

    Attributes
    ----------
    predictor : Predictor
        The model.
    remark : str
        What the operator should know about it; empty if all is well.
    count : callable
        Counts the words of texts that are asked about.
    excluded : ExcludedLabels or None
        Labels that are suggested to no client.
    language : str or None
        Language of the labels' names; None: the model's own.
    """

    predictor: Predictor
    remark: str = ""
    count: Callable[[WordCount], None] = _ignore_words
    excluded: ExcludedLabels | None = None
    language: str | None = None

    @property
    def model(self) -> Any:
        """The model file."""
        return self.predictor.model

    @property
    def has_explanations(self) -> bool:
        """True if scores are sums over features."""
        return self.model.linear is not None

    @property
    def vocabulary(self) -> str | None:
        """Name of the subject vocabulary: that of its file, without suffixes."""
        return get_vocabulary_name(self.model)

    @cached_property
    def languages(self) -> dict[str, Self]:
        """The same model for each language in which it has names of labels."""
        languages = {}
        for language in list_languages(self.model):
            predictor = self.predictor.in_language(language)
            languages[language] = replace(self, predictor=predictor, language=language)
        return languages

    @property
    def form_fields(self) -> list[FormField]:
        """Fields of a form for the columns that the model reads next to the text."""
        if not self.predictor.takes_text:
            return []
        columns = self.predictor.transform.columns
        if not columns:
            return []
        return columns.form_fields

    def in_language(self, language: str | None) -> Self:
        """Return the same model with names in a language; None: its own language."""
        if language is None:
            return self
        if language not in self.languages:
            reason = "does not know the language of its labels' names"
            if self.languages:
                reason = f"has names of labels in {', '.join(self.languages)} only"
            raise HTTPException(409, f"language: the served model {reason}")
        return self.languages[language]

    def without_excluded(self) -> Self:
        """Return the same model without the labels that are excluded now."""
        if self.excluded is None:
            return self
        return replace(self, predictor=self.excluded.apply(self.predictor))

    def for_request(self, request: Any) -> Self:
        """Return the model that answers a request: in its language, without excluded labels."""
        return self.in_language(request.language).without_excluded()

    @cached_property
    def label_search(self) -> LabelSearch:
        """Search of labels, by names in this language."""
        predictor = self.predictor
        return LabelSearch(
            predictor.label_names if len(predictor.label_names) else [""] * predictor.n_labels,
            list_alternatives(self.model, self.language),
            predictor.label_uris,
            self.model.label_notations,
        )

    def warm_up(self) -> None:
        """Load kernels, names, vocabulary and index, and answer a made-up request of each kind."""
        predictor = self.predictor
        predictor.prepare()
        x = predictor.from_features([{}])
        predictor.top_k(x, 1)
        self.label_search.find("a", 0, 1)
        trained = np.flatnonzero(self.model.trained[:1000])
        if self.has_explanations and len(trained):
            describe_label(predictor, int(trained[0]), 1, 1)
            text = "" if predictor.takes_text else None
            explain_labels(predictor, x, trained[:1], 1, text)

    def predict(self, request: Any) -> dict[str, Any]:
        """Predict the best labels of the instances of a request, and the number of labels that fit
        each.
        """
        question = request.question
        self._check_question(question)
        read = self._read_instances(request)
        if read.familiarity is not None:
            self.count(read.familiarity.word_count)
        predictions = [answer.as_json() for answer in self.predictor.answer(read, question)]
        return {
            "model": self.model.checksum,
            "probabilities": self.model.probabilistic,
            "predictions": predictions,
        }

    def explain(self, request: Any) -> dict[str, Any]:
        """Explain the scores of the best labels, or of the labels of the request."""
        if not self.has_explanations:
            reason = "the served model has no weights of labels, so its scores cannot be explained"
            raise HTTPException(409, reason)
        X = self._read_instances(request).X
        text = None
        if request.text is not None:
            text = self._join_columns(request.text).replace(FIELD_SEPARATOR, " ")
        labels = self._list_labels_to_explain(X, request)
        explained = explain_labels(self.predictor, X, labels, request.words, text)
        return {
            "model": self.model.checksum,
            "labels": _shorten_floats([label.as_json() for label in explained]),
            "features": int(count_known_features(self.predictor, X)[0]),
        }

    def find_labels(self, search: str, offset: int, limit: int) -> dict[str, Any]:
        """Find labels by words of their names, by notation and by URI, a page of them."""
        found = self.label_search.find(search, offset, limit)
        page = []
        for label, found_by in found.labels:
            entry = self._describe_label(label)
            if found_by is not None:
                entry["found_by"] = found_by
            page.append(entry)
        return {"model": self.model.checksum, "total": found.total, "labels": page}

    def describe_label(self, label: int, words: int, nearest: int) -> dict[str, Any]:
        """Describe a label by its strongest words and its nearest labels."""
        self._require_label(label)
        answer = {"model": self.model.checksum, "label": self._describe_label(label)}
        if not self.has_explanations or not self.model.trained[label]:
            return answer | dict.fromkeys(("up", "down", "bias", "nearest"))
        return answer | _shorten_floats(describe_label(self.predictor, label, words, nearest))

    def health(self) -> dict[str, Any]:
        """Describe the served model for operators."""
        predictor = self.predictor
        columns = NamedColumns.from_model(self.model).by_kind if predictor.takes_text else None
        answer = {
            "status": "ready",
            "model": self.model.checksum,
            "method": self.model.method,
            "vocabulary": self.vocabulary,
            "labels": predictor.n_labels,
            "features": predictor.n_features,
            "takes_text": predictor.takes_text,
            "columns": columns,
            "probabilities": self.model.probabilistic,
            "explanations": self.has_explanations,
            "languages": list(self.languages),
            "trained_languages": self.predictor.usual.languages,
            "remark": self.remark,
        }
        if self.excluded is None:
            return answer | {"left_out": 0, "left_out_failed": None}
        return answer | self.excluded.health()

    def _read_instances(self, request: Any) -> FeaturesAndFamiliarity:
        """Read the features and the familiarity of the instances of a request."""
        predictor = self.predictor
        if request.features is None:
            if not predictor.takes_text:
                reason = "the served model was trained on features: send features, not texts"
                raise HTTPException(409, reason)
            texts = _list_texts(request)
            beside = [predictor.beside(_get_columns(text)) for text in texts]
            return predictor.read_texts([self._join_columns(text) for text in texts], beside)
        rows = request.features
        if not isinstance(rows, list):
            rows = [rows]
        try:
            with np.errstate(all="ignore"):
                X = predictor.from_features(rows)
        except InputError as error:
            raise HTTPException(422, f"features: {self._remove_path(error)}") from None
        if not np.isfinite(X.data).all():
            reason = "the model's transform gives no finite numbers for these values"
            raise HTTPException(422, f"features: {reason}")
        missing = None
        if predictor.columns:
            missing = [list(predictor.columns)] * X.n_rows
        return FeaturesAndFamiliarity(X, missing=missing)

    def _join_columns(self, text: str | BaseModel) -> str:
        """Return a text as the model reads it, sent as one or by its columns."""
        if isinstance(text, str):
            return text
        return join_text_columns(self.model, _get_columns(text))

    def _check_question(self, question: Question) -> None:
        """Refuse a question that the model cannot answer, and labels that it does not have."""
        try:
            question.require(self.model)
        except InputError as error:
            raise HTTPException(409, f"the served model {self._remove_path(error)}") from None
        choice = {"include": question.include, "exclude": question.exclude}
        for field, entries in choice.items():
            patterns = [entry for entry in entries if "*" in entry]
            if len(patterns) > _MAX_PATTERNS:
                raise HTTPException(422, f"{field}: more than {_MAX_PATTERNS} patterns")
        try:
            self.predictor.allowed_labels(question)
        except InputError as error:
            detail = str(error)
            # the first unknown entry has a place, of which clients learn more than of the error
            for field, entries in choice.items():
                unknown = list(self.predictor.finder.unknown(entries))
                if unknown:
                    detail = f"{field}.{unknown[0]}: no such label; see /labels"
                    break
            raise HTTPException(404, detail) from None

    def _list_labels_to_explain(self, X: CSR, request: Any) -> list[int]:
        if request.labels is None:
            [answer] = self.predictor.answer(X, top_k=request.top_k)
            return [label.id for label in answer.labels]
        for label in request.labels:
            self._require_label(label)
            if not self.model.trained[label]:
                reason = f"label {label} had no training positives, so nothing explains it"
                raise HTTPException(404, reason)
        return request.labels

    def _describe_label(self, label: int) -> dict[str, Any]:
        entry = make_label_entry(self.predictor, label)
        positives = int(self.model.counts[label])
        return entry | {"positives": positives, "trained": bool(self.model.trained[label])}

    def _require_label(self, label: int) -> None:
        if not 0 <= label < self.predictor.n_labels:
            last = self.predictor.n_labels - 1
            raise HTTPException(404, f"no label {label}: their ids run from 0 to {last}")

    def _remove_path(self, error: InputError) -> str:
        """Return the message of an error without the path of the model."""
        return str(error).removeprefix(f"{self.model.path}: ")


def _list_texts(request: Any) -> list[str | BaseModel]:
    """List the texts of a request for one or several."""
    return getattr(request, "texts", None) or [request.text]


def _get_columns(text: str | BaseModel) -> dict[str, Any]:
    """Return the columns that were sent; of a plain text none."""
    if isinstance(text, str):
        return {}
    return text.model_dump(by_alias=True)


def _shorten_floats(answer: Any) -> Any:
    """Return an answer whose numbers have the fewest digits that give the same float32 again."""
    if isinstance(answer, dict):
        return {key: _shorten_floats(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_shorten_floats(value) for value in answer]
    if isinstance(answer, float | np.float32):
        return shorten_float(np.float32(answer))
    return answer


def open_served_model(
    path: StrPath, reranker: StrPath | None = None, *, rerank: bool = True
) -> ServedModel:
    """Open a model, with its second stage as :meth:`Predictor.open` finds it."""
    predictor = Predictor.open(path, reranker, rerank=rerank)
    remarks = [
        remark_on_columns(predictor.model),
        remark_on_memory(predictor, read_memory_left()),
    ]
    return ServedModel(predictor, "; ".join(remark for remark in remarks if remark))
