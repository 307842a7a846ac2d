"""The predictor: labels with scores of texts or features, by an open model."""

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ovaflow.console.errors import InputError, StrPath
from ovaflow.dataset.dataset import Split
from ovaflow.features.columns import count_column_features
from ovaflow.features.normalize import make_model_features
from ovaflow.features.tfidf import Features, Sequences, TfIdf, WordTerms, apply_tfidf_to_counts
from ovaflow.features.tokens import (
    Tokens,
    make_tokens_from_counts,
    remove_words,
    tokenize_in_batches,
)
from ovaflow.labels.choice import LabelFinder
from ovaflow.model.index import index_path
from ovaflow.model.model_file import Model, open_any_model
from ovaflow.prediction.answer import Answer
from ovaflow.prediction.familiarity import UNKNOWN_FAMILIARITY, Familiarity
from ovaflow.prediction.languages import find_names_in_language
from ovaflow.prediction.predictions import attach_second_stage
from ovaflow.prediction.question import (
    Question,
    RankedLabels,
    estimate_missed_labels,
    make_answers,
)
from ovaflow.prediction.usual_texts import UsualTexts, read_usual_texts
from ovaflow.reading.markup import remove_markup
from ovaflow.reranking.reranked_model import RerankedModel
from ovaflow.reranking.suggestions import Suggestions
from ovaflow.sparse.csr import CSR, from_scipy, select_columns

_CACHED_CHOICES = 64
"""Number of choices of labels that are cached; each takes a byte for each label."""

_MIN_CHECKED_ROWS = 10
"""Fewer rows may all have length 1 by chance, so their lengths are not checked."""


class FeaturesAndFamiliarity(NamedTuple):
    """Features of instances, and if they are texts their familiarity."""

    X: CSR
    familiarity: Familiarity | None = None
    # names of the columns that each instance lacks; None if the model reads no columns
    missing: list[list[str]] | None = None


class Predictor:
    """An open model of any method.

    Arrays are mapped: processes that open the same file share its pages.

    Parameters
    ----------
    model : ovaflow.model.model_file.Model
        A model of any method; :meth:`open` reads one.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._names: Sequence[str] | None = None
        self._finder: LabelFinder | None = None
        self._languages: dict[str, Self] = {}
        # bool (l,): the only labels that are predicted; None: all
        self.offered: np.ndarray | None = None

    @classmethod
    def open(cls, path: StrPath, reranker: StrPath | None = None, *, rerank: bool = True) -> Self:
        """Open a model file, with its second stage.

        Parameters
        ----------
        path : path-like
            A model.h5.
        reranker : path-like, optional
            A reranker.h5; by default the one next to the model, if there is one.
        rerank : bool
            False: the model alone, which gives scores.

        Returns
        -------
        Predictor

        Raises
        ------
        InputError
            If the file is missing, foreign, of an unknown method or another format version, or
            damaged.
        """
        model = open_any_model(path)
        return cls(attach_second_stage(model, reranker) if rerank else model)

    def prepare(self) -> None:
        """Prepare for many calls: load kernels and names, and build the index if it is not on disk.

        Otherwise the first calls are slower, and the 17th instance builds the index in memory.
        """
        self.model.prepare_for_single()
        if self.takes_text:
            self.from_texts([""])

    @property
    def label_names(self) -> Sequence[str]:
        """Names of the labels, in id order."""
        return self.model.label_names if self._names is None else self._names

    @property
    def label_uris(self) -> Sequence[str]:
        """URIs of the labels, in id order; empty without a subject vocabulary."""
        return self.model.label_uris

    @property
    def feature_names(self) -> Sequence[str]:
        """Names of the features without the bias feature; empty when the source had none."""
        return self.model.feature_names

    @property
    def n_labels(self) -> int:
        """Number of labels, untrained ones included."""
        return self.model.n_labels

    @property
    def n_features(self) -> int:
        """Number of features, bias feature included."""
        return self.model.n_features

    @property
    def takes_text(self) -> bool:
        """True if the model was made from texts."""
        return "token_pattern" in self.model.transform

    def from_texts(self, texts: Iterable[str], beside: Sequence[tuple] | None = None) -> CSR:
        """Make the features of texts.

        Parameters
        ----------
        texts : iterable of str
            Read once.
        beside : sequence of tuple, optional
            Values of each record in the model's columns of numbers and categories, by
            :meth:`beside`; none by default.

        Returns
        -------
        CSR, shape (n, d)

        Raises
        ------
        InputError
            If the model was made from features.
        """
        return self.read_texts(texts, beside).X

    @property
    def columns(self) -> Sequence[str]:
        """Names of the columns of numbers and categories that the model reads next to texts."""
        if not self.takes_text or not self.transform.columns:
            return ()
        return self.transform.columns.column_names

    def beside(self, record: Mapping[str, Any]) -> tuple:
        """Return the values of a record in :attr:`columns`, for :meth:`from_texts`.

        Parameters
        ----------
        record : mapping of str to object
            Values by column; a missing value is None, or has no entry.

        Returns
        -------
        tuple

        Raises
        ------
        ValueError
            If the value of a column of numbers is not a number.
        """
        if not self.transform.columns:
            return ()
        return self.transform.columns.parse_record(record)

    def read_texts(
        self, texts: Iterable[str], beside: Sequence[tuple] | None = None
    ) -> FeaturesAndFamiliarity:
        """Make the features of texts, and measure the familiarity of each text.

        Parameters
        ----------
        texts : iterable of str
            Read once.
        beside : sequence of tuple, optional
            As for :meth:`from_texts`.

        Returns
        -------
        FeaturesAndFamiliarity

        Raises
        ------
        InputError
            If the model was made from features.
        """
        if not self.takes_text:
            message = "was trained on features, so it cannot read texts"
            raise InputError(message, path=self.model.path, remedy="give it features")
        if self.model.transform.get("html"):
            texts = (remove_markup(text) for text in texts)
        familiar: list[Familiarity] = []
        remaining_values = iter(beside or ())

        def make_batches() -> Iterator[Features]:
            left_out = frozenset(self.transform.left_out)
            word_kind = self.transform.words
            for all_tokens in tokenize_in_batches(texts, word_kind=word_kind, quiet=True):
                # words are looked up several times, so their strings are decoded only once
                all_tokens = all_tokens._replace(words=list(all_tokens.words))
                tokens = remove_words(all_tokens, left_out)
                terms = self.transform.find_terms(tokens.words)
                sequences = self.transform.find_sequences(tokens, terms)
                is_known = self._find_known_tokens(tokens, terms, sequences)
                familiar.append(Familiarity.measure(all_tokens, tokens, is_known))
                values = None
                if self.columns:
                    values = [next(remaining_values, ()) for _ in tokens.indptr[1:]]
                X, norms = self.transform.transform_tokens(tokens, terms, values, sequences)
                yield Features(self.model.with_tokens(X, tokens), norms)

        X = self.transform.stack(make_batches()).X._replace(n_columns=self.model.n_columns)
        missing = None
        if self.transform.columns:
            all_values = beside or [()] * X.n_rows
            missing = [self.transform.columns.list_missing(values) for values in all_values]
        return FeaturesAndFamiliarity(X, Familiarity.concatenate(familiar), missing)

    def _find_known_tokens(
        self, tokens: Tokens, terms: WordTerms, sequences: Sequences
    ) -> np.ndarray:
        """Find the tokens that the model knows, or its second stage: bool (n_tokens,)."""
        is_known = self.transform.find_known_tokens(tokens, terms, sequences)
        words = tokens.words
        for position in np.flatnonzero(~is_known).tolist():
            is_known[position] = self.model.knows_word(words[tokens.ids[position]])
        return is_known

    @cached_property
    def usual(self) -> UsualTexts:
        """Unknown words and languages of texts like those of training."""
        return read_usual_texts(self.model)

    def from_features(self, rows: Iterable[dict[str | int, float]]) -> CSR:
        """Make the features of the model's dataset from values as its source had them.

        Parameters
        ----------
        rows : iterable of dict
            Value of each feature that is not 0, by name, or by id where the
            model's source had no names. For a model made from texts they are
            counts of tokens, and unknown tokens are ignored.

        Returns
        -------
        CSR, shape (n, d)

        Raises
        ------
        InputError
            If a feature or a value is not one of the model's.
        """
        values = []
        columns = []
        ends = [0]
        for row in rows:
            for feature, value in row.items():
                column = self._find_column(feature)
                if column is not None:
                    columns.append(column)
                    values.append(_require_finite(feature, value))
            ends.append(len(values))
        arrays = (
            np.array(values, np.float32),
            np.array(columns, np.int32),
            np.array(ends, np.int64),
        )
        shape = (len(ends) - 1, self.n_source_features)
        return self.transformed(from_scipy(scipy.sparse.csr_array(arrays, shape=shape)))

    def from_split(self, split: Split) -> CSR:
        """Make the features of a dataset's instances for the model.

        Features in the file, ``split.X``, are scaled to length 1; FastXML needs them unscaled.

        Parameters
        ----------
        split : Split
            Such as ``ovaflow.dataset.dataset.open_dataset(path).test``, of the model's dataset.

        Returns
        -------
        CSR, shape (n, d)
        """
        return self.model.instances(split)

    def transformed(self, matrix: CSR) -> CSR:
        """Weigh and scale features of the source as in the model's dataset, and add the bias.

        Parameters
        ----------
        matrix : CSR, shape (n, d without bias)
            Changed in place.

        Returns
        -------
        CSR, shape (n, d)

        Raises
        ------
        InputError
            If a value is not a count where the model needs counts.
        """
        settings = self.model.transform
        tokens = None
        if self.takes_text and self.model.n_columns > self.n_features:
            tokens = make_tokens_from_counts(matrix, self.feature_names)
        if self.takes_text or settings.get("tfidf"):
            idf = self.transform.idf if self.takes_text else self.model.idf
            matrix, _ = apply_tfidf_to_counts(matrix, idf, sublinear=settings["sublinear"])
        normalize = settings.get("normalize", False)
        unscaled = settings.get("unscaled", False)
        n = matrix.n_rows
        columns = self.transform.columns if self.takes_text else None
        column_features = None
        if columns:
            column_features = columns.transform([()] * n, n)
        return self.model.with_tokens(
            make_model_features(
                matrix,
                self.model.bias,
                column_features,
                normalize=normalize,
                unscaled=unscaled,
            )[0],
            tokens,
        )

    def in_language(self, language: str) -> Self:
        """Return the same model with names of labels in a language.

        Parameters
        ----------
        language : str
            Code of a language of the vocabulary, such as ``"sv"``.

        Returns
        -------
        Predictor
            Labels that have no name in the language keep the model's.

        Raises
        ------
        InputError
            If the model has no names in this language.
        """
        if language not in self._languages:
            other = copy(self)
            other.__dict__.pop("_chosen", None)
            other._names = find_names_in_language(self.model, language)
            other._finder = None
            self._languages[language] = other
        return self._languages[language]

    @property
    def finder(self) -> LabelFinder:
        """Finder of labels by URI, pattern, group, and name in this language or the model's."""
        if self._finder is None:
            names = self.model.names
            self._finder = LabelFinder(names.labels, names.uris, names.groups, self._names or ())
        return self._finder

    def allowed(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> np.ndarray:
        """Select the labels to predict, for :meth:`top_k`.

        Parameters
        ----------
        include : sequence of str
            Names, URIs, patterns with ``*``, and URIs of groups of the vocabulary; empty: all
            labels.
        exclude : sequence of str
            Likewise; labels that are left out, also of those to include.

        Returns
        -------
        ndarray of bool, shape (l,)

        Raises
        ------
        InputError
            If one of these means no label, or no label is left.
        """
        allowed = self.finder.allowed(include, exclude)
        if self.offered is not None:
            allowed &= self.offered
            if not allowed.any():
                raise InputError("include and exclude leave only labels that are never suggested")
        return allowed

    def offering(self, offered: np.ndarray) -> Self:
        """Return the same model, which predicts only some labels.

        Parameters
        ----------
        offered : ndarray of bool, shape (l,)
            These labels, as :meth:`allowed` returns them. A question can leave out more of them,
            but not bring others back.

        Returns
        -------
        Predictor
        """
        other = copy(self)
        other.__dict__.pop("_chosen", None)
        other._languages = {}
        other.offered = offered
        return other

    def top_k(
        self,
        X: CSR,
        k: int,
        threads: int = 1,
        suggestions: Mapping[str, Suggestions] | None = None,
        allowed: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the best labels of each instance.

        Parameters
        ----------
        X : CSR, shape (n, d)
            Made by :meth:`from_texts`, :meth:`from_features` or :meth:`from_split`.
        k : int
            Number of labels of each instance.
        threads : int
            Number of threads; they change no result.
        suggestions : mapping of str to Suggestions, optional
            Suggestions of other programs for these instances, by the names that the second stage
            was fitted with.
        allowed : ndarray of bool, shape (l,), optional
            Labels to predict, see :meth:`allowed`; all by default.

        Returns
        -------
        ids : ndarray of int32, shape (n, k)
            By falling score, ties by the smaller id; -1 where there are fewer than k.
        scores : ndarray of float32, shape (n, k)
            -inf where the id is -1. Probabilities where the model has a second stage.
        """
        self._require_features(X)
        further: dict[str, Any] = {}
        if suggestions:
            further["suggestions"] = suggestions
        if allowed is not None:
            further["allowed"] = allowed
        return self.model.top_k(X, k, threads, **further)

    def rank(
        self,
        instances: CSR | FeaturesAndFamiliarity,
        question: Question,
        threads: int = 1,
        suggestions: Mapping[str, Suggestions] | None = None,
    ) -> RankedLabels:
        """Rank the labels of each instance for :func:`ovaflow.prediction.question.make_answers`.

        Parameters are those of :meth:`answer`.
        """
        question.require(self.model)
        read = instances
        if not isinstance(read, FeaturesAndFamiliarity):
            read = FeaturesAndFamiliarity(read)
        allowed = self.allowed_labels(question)
        k = question.count_ranked(self.model)
        ids, scores = self.top_k(read.X, k, threads, suggestions, allowed)
        missed = estimate_missed_labels(self.model, allowed, k)
        return RankedLabels(ids, scores, missed, self._make_instance_fields(read))

    def _make_instance_fields(self, read: FeaturesAndFamiliarity) -> list[dict[str, Any]]:
        """Make the fields of the answer to each instance that do not depend on labels."""
        fields = []
        for n_features in count_known_features(self, read.X).tolist():
            fields.append({"features": n_features})
        if read.familiarity is None:
            for of_instance in fields:
                of_instance |= UNKNOWN_FAMILIARITY
        else:
            familiar = read.familiarity.make_fields(self.usual.languages)
            for of_instance, familiarity in zip(fields, familiar, strict=True):
                of_instance |= familiarity
        if read.missing is not None:
            for of_instance, names in zip(fields, read.missing, strict=True):
                of_instance["missing"] = names
        return fields

    def allowed_labels(self, question: Question) -> np.ndarray | None:
        """Select the labels that a question allows, as :meth:`allowed`; None: all."""
        if not question.chooses_labels:
            return self.offered
        return self._chosen(tuple(question.include), tuple(question.exclude))

    @cached_property
    def _chosen(self) -> Any:
        """:meth:`allowed` with a cache."""
        return lru_cache(_CACHED_CHOICES)(self.allowed)

    def answer(
        self,
        instances: CSR | FeaturesAndFamiliarity | Iterable[str],
        question: Question | None = None,
        threads: int = 1,
        suggestions: Mapping[str, Suggestions] | None = None,
        **asked: Any,
    ) -> Iterator[Answer]:
        """Answer a question for each instance.

        Parameters
        ----------
        instances : CSR of shape (n, d), FeaturesAndFamiliarity, or iterable of str
            Features, by :meth:`from_texts`, :meth:`from_features` or :meth:`from_split`; what
            :meth:`read_texts` returns; or texts. Answers to features do not say how familiar these
            are.
        question : Question, optional
            The question.
        threads : int
            Number of threads; they change no result.
        suggestions : mapping of str to Suggestions, optional
            As for :meth:`top_k`.
        **asked
            Fields of the question, such as ``top_k=3, fit=True``, in place of ``question``.

        Yields
        ------
        Answer
            In the order of the instances.

        Raises
        ------
        InputError
            If the model cannot answer, or has no such label.
        """
        question = question or Question.model_validate(asked)
        named = self if question.language is None else self.in_language(question.language)
        read = instances
        if not isinstance(read, CSR | FeaturesAndFamiliarity):
            read = self.read_texts(read)
        ranked = named.rank(read, question, threads, suggestions)
        return make_answers(named, question, ranked)

    def scores(self, X: CSR, labels: ArrayLike) -> np.ndarray:
        """Compute the scores of some labels by the model without its second stage.

        Parameters
        ----------
        X : CSR, shape (n, d)
            Made by :meth:`from_texts`, :meth:`from_features` or :meth:`from_split`.
        labels : array_like of int, shape (m,)
            Ids of the labels.

        Returns
        -------
        ndarray of float32, shape (n, m)
            -inf for labels without a classifier.

        Raises
        ------
        InputError
            If there is no label with one of these ids.
        """
        self._require_features(X)
        chosen = np.asarray(labels, np.int32).reshape(-1)
        if len(chosen) and not 0 <= chosen.min() <= chosen.max() < self.n_labels:
            raise InputError(f"label ids run from 0 to {self.n_labels - 1}", path=self.model.path)
        scores = self.model.score(X, chosen)
        scores[:, ~self.model.trained[chosen]] = -np.inf
        return scores

    @cached_property
    def transform(self) -> TfIdf:
        """The transformation of texts to features."""
        return TfIdf.from_parameters(self.model.transform, self.feature_names, self.model.idf)

    @property
    def n_source_features(self) -> int:
        """Number of features without the bias feature and those of columns next to texts."""
        return self.model.n_text_features

    def _require_features(self, X: CSR) -> None:
        if X.n_columns != self.model.n_columns:
            made = "from_texts, from_features and from_split make them"
            raise ValueError(
                f"instances have {X.n_columns} columns, the model takes {self.model.n_columns}: "
                f"{made}"
            )
        if self.model.transform.get("unscaled") and X.n_rows >= _MIN_CHECKED_ROWS:
            squares = X.to_scipy().power(2).sum(axis=1) - self.model.bias**2
            if np.allclose(squares[squares > 0], 1, atol=1e-4):
                message = (
                    "all rows have length 1, but this model was trained on rows before they were "
                    "scaled: Predictor.from_split makes them so"
                )
                warnings.warn(message, stacklevel=3)

    def _find_column(self, feature: str | int) -> int | None:
        if isinstance(feature, str) and self.feature_names:
            column = self.model.feature_ids.get(feature)
            if column is not None and column >= self.n_source_features:
                remedy = f"give {', '.join(self.columns)} with the text"
                raise InputError(
                    f"{feature!r} is made from a column", path=self.model.path, remedy=remedy
                )
            return column
        try:
            column = int(feature)
        except (TypeError, ValueError):
            column = -1
        if not 0 <= column < self.n_source_features:
            message = f"no feature {feature!r}, ids run from 0 to {self.n_source_features - 1}"
            remedy = "give the number of a feature, or its name if the model has names"
            raise InputError(message, path=self.model.path, remedy=remedy)
        return column


def _require_finite(feature: str | int, value: Any) -> float:
    if not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise InputError(
            f"feature {feature!r}: {value!r} is not a number", remedy="give a finite number"
        )
    return float(value)


def remark_on_memory(predictor: Predictor, left: float) -> str:
    """Return a remark if a model does not fit into the memory left, in bytes; or else ``""``."""
    model = predictor.model
    paths = [model.path, index_path(model.path)]
    if isinstance(model, RerankedModel):
        paths.append(model.reranker.path)
    files = [path for path in paths if path.exists()]
    size = sum(path.stat().st_size for path in files)
    if size <= left:
        return ""
    names = " and ".join(str(path) for path in files)
    return (
        f"{names} take {size / 1e9:.1f} GB of memory, {left / 1e9:.1f} GB are left: predictions "
        "will wait for the disk; free memory, or make the model smaller (ovaflow prune)"
    )


def count_known_features(predictor: Predictor, X: CSR) -> np.ndarray:
    """Count the features of each instance, except the bias feature and those of columns.

    Returns int64 (n,).
    """
    first = predictor.model.n_text_features
    n_column_features = count_column_features(predictor.model.transform)
    of_columns = select_columns(X, first, first + n_column_features)
    n_bias = int(predictor.model.bias != 0)
    return np.diff(X.indptr) - np.diff(of_columns.indptr) - n_bias


def count_texts_without_words(predictor: Predictor, X: CSR) -> int:
    """Count the texts, with features X, that have no word the model knows."""
    return int(np.count_nonzero(count_known_features(predictor, X) == 0))
