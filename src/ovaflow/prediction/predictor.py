"""A model at work: texts or features in, labels with scores out."""

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache
from itertools import repeat
from typing import Any, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ovaflow.console.errors import InputError, StrPath
from ovaflow.dataset.dataset import Split
from ovaflow.features.columns import count_column_features
from ovaflow.features.normalize import make_model_features
from ovaflow.features.tfidf import Features, TfIdf, apply_tfidf_to_counts
from ovaflow.features.tokens import make_tokens_from_counts, tokenize_in_batches
from ovaflow.features.tokens import remove_words as tokens_without
from ovaflow.labels.choice import LabelFinder
from ovaflow.model.index import index_path
from ovaflow.model.model_file import Model, open_any_model
from ovaflow.prediction.answer import Answer
from ovaflow.prediction.familiarity import UNKNOWN_FAMILIARITY, Familiarity
from ovaflow.prediction.languages import find_names_in_language
from ovaflow.prediction.predictions import attach_second_stage
from ovaflow.prediction.question import (
    Question,
    RankedAnswers,
    estimate_missed_labels,
    make_answers,
)
from ovaflow.prediction.usual_texts import UsualTexts, read_usual_texts
from ovaflow.reading.markup import remove_markup
from ovaflow.reranking.reranked_model import RerankedModel
from ovaflow.reranking.suggestions import Suggestions
from ovaflow.sparse.csr import CSR, from_scipy, select_columns

_CHOICES = 64
"""How many choices of labels are remembered; each is a byte for each label."""

_SEVERAL = 10
"""So many rows do not all have length 1 by chance."""


class FeaturesAndFamiliarity(NamedTuple):
    """Features of instances, and where they are texts how familiar each is, and the columns that
    each lacks.
    """

    X: CSR
    familiarity: Familiarity | None = None
    missing: list[list[str]] | None = None  # None where no columns are read


class Predictor:
    """An open model of any method.

    Arrays are mapped: processes that open the same file share its pages.

    Parameters
    ----------
    model : ovaflow.model.model_file.Model
        Of any method; :meth:`open` reads one.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._names: Sequence[str] | None = None
        self._finder: LabelFinder | None = None
        self._languages: dict[str, Self] = {}
        self._offered: np.ndarray | None = None

    @classmethod
    def open(cls, path: StrPath, reranker: StrPath | None = None, rerank: bool = True) -> Self:
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
        """Make ready for many calls: load kernels, names and, unless it lies on disk, build the
        index.

        Without it the first calls are slower, and the 17th instance builds the index in memory.
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
        """URIs of the labels, in id order; empty where they are of no subject vocabulary."""
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
        """Whether the model was made from texts."""
        return "token_pattern" in self.model.transform

    def from_texts(self, texts: Iterable[str], beside: Sequence[tuple] | None = None) -> CSR:
        """Features of texts.

        Parameters
        ----------
        texts : iterable of str
            Read once.
        beside : sequence of tuple, optional
            What each record has in the model's columns of numbers and categories, by
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
        """Names of the columns of numbers and categories that the model reads beside texts."""
        return (
            self.transform.columns.column_names
            if self.takes_text and self.transform.columns
            else ()
        )

    def beside(self, record: Mapping[str, Any]) -> tuple:
        """What a record has in these columns, for :meth:`from_texts`.

        Parameters
        ----------
        record : mapping of str to object
            Values by column; None, or no entry, where there is none.

        Returns
        -------
        tuple

        Raises
        ------
        ValueError
            If a number is none.
        """
        return self.transform.columns.values_of(record) if self.transform.columns else ()

    def read_texts(
        self, texts: Iterable[str], beside: Sequence[tuple] | None = None
    ) -> FeaturesAndFamiliarity:
        """Features of texts, and how familiar each text is.

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
        plain = map(remove_markup, texts) if self.model.transform.get("html") else texts
        familiar: list[Familiarity] = []
        further = iter(beside or ())

        def parts() -> Iterator[Features]:
            left_out = frozenset(self.transform.left_out)
            for all_tokens in tokenize_in_batches(plain, quiet=True):
                # strings are made once of what is looked up several times
                all_tokens = all_tokens._replace(words=list(all_tokens.words))
                tokens = tokens_without(all_tokens, left_out)
                terms = self.transform.find_terms(tokens.words)
                familiar.append(Familiarity.of(all_tokens, tokens, terms))
                values = [next(further, ()) for _ in tokens.indptr[1:]] if self.columns else None
                X, norms = self.transform.features_of(tokens, terms, values)
                yield Features(self.model.with_tokens(X, tokens), norms)

        X = self.transform.stack(parts()).X._replace(n_columns=self.model.n_columns)
        missing = None
        if self.transform.columns:
            missing = [
                self.transform.columns.list_missing(values) for values in beside or [()] * X.n_rows
            ]
        return FeaturesAndFamiliarity(X, Familiarity.together(familiar), missing)

    @cached_property
    def usual(self) -> UsualTexts:
        """What is usual for texts like those of the training."""
        return read_usual_texts(self.model)

    def from_features(self, rows: Iterable[dict[str | int, float]]) -> CSR:
        """Features as the model's dataset has them, from values as its source had them.

        Parameters
        ----------
        rows : iterable of dict
            Value of each feature that is not 0, by name, or by id where the
            model's source had no names. For a model made from texts they are
            counts of tokens, and unknown tokens are left out, as those of a text are.

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
                column = self._column(feature)
                if column is not None:
                    columns.append(column)
                    values.append(_finite(feature, value))
            ends.append(len(values))
        data = np.array(values, np.float32), np.array(columns, np.int32), np.array(ends, np.int64)
        return self.transformed(
            from_scipy(scipy.sparse.csr_array(data, shape=(len(ends) - 1, self.n_source_features)))
        )

    def from_split(self, split: Split) -> CSR:
        """Features of a dataset's instances as the model takes them.

        Those of the file, ``split.X``, are scaled to length 1 where FastXML needs them as they were
        before.

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
        """What the model's dataset made of its source's features: weights, lengths and the bias
        feature.

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
            matrix, _ = apply_tfidf_to_counts(matrix, settings["sublinear"], idf)
        normalize, unscaled = (settings.get(name, False) for name in ("normalize", "unscaled"))
        n = matrix.n_rows
        columns = self.transform.columns if self.takes_text else None
        further = columns and columns.transform([()] * n, n)
        return self.model.with_tokens(
            make_model_features(matrix, normalize, self.model.bias, unscaled, further)[0], tokens
        )

    def in_language(self, language: str) -> Self:
        """The same model with names of labels in a language.

        Parameters
        ----------
        language : str
            As the vocabulary has it, such as ``"sv"``.

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
        """Labels by name, in this language and in the model's, URI, pattern and group."""
        if self._finder is None:
            names = self.model.names
            self._finder = LabelFinder(names.labels, names.uris, names.groups, self._names or ())
        return self._finder

    def allowed(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> np.ndarray:
        """Which labels to predict, for :meth:`top_k`.

        Parameters
        ----------
        include : sequence of str
            Names, URIs, patterns with ``*``, and URIs of groups of the vocabulary; empty: all
        labels. exclude : sequence of str
            Likewise; left out, also of those to include.

        Returns
        -------
        ndarray of bool, shape (l,)

        Raises
        ------
        InputError
            If one of these means no label, or no label is left.
        """
        allowed = self.finder.allowed(include, exclude)
        if self._offered is not None:
            allowed &= self._offered
            if not allowed.any():
                raise InputError("include and exclude leave only labels that are offered to nobody")
        return allowed

    def offering(self, offered: np.ndarray) -> Self:
        """The same model, which predicts no other labels.

        Parameters
        ----------
        offered : ndarray of bool, shape (l,)
            Such as :meth:`allowed` returns. What is asked can leave out more, but bring none back.

        Returns
        -------
        Predictor
        """
        other = copy(self)
        other.__dict__.pop("_chosen", None)
        other._languages = {}
        other._offered = offered
        return other

    def top_k(
        self,
        X: CSR,
        k: int,
        threads: int = 1,
        suggestions: Mapping[str, Suggestions] | None = None,
        allowed: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Best labels of each instance.

        Parameters
        ----------
        X : CSR, shape (n, d)
            Made by :meth:`from_texts`, :meth:`from_features` or :meth:`from_split`.
        k : int
            Labels of each instance.
        threads : int
            They change no result.
        suggestions : mapping of str to Suggestions, optional
            Of other programs for these instances, by the names that the second stage was fitted
        with. allowed : ndarray of bool, shape (l,), optional
            Which labels to predict, see :meth:`allowed`; all by default.

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
    ) -> RankedAnswers:
        """The labels from which a question is answered, see
        :func:`ovaflow.prediction.question.answers_of`.
        """
        question.require(self.model)
        read = FeaturesAndFamiliarity(instances) if isinstance(instances, CSR) else instances
        allowed = self.allowed_labels(question)
        k = question.ranked(self.model)
        ids, scores = self.top_k(read.X, k, threads, suggestions, allowed)
        return RankedAnswers(
            ids, scores, estimate_missed_labels(self.model, allowed, k), list(self._about(read))
        )

    def _about(self, read: FeaturesAndFamiliarity) -> Iterator[dict[str, Any]]:
        """Fields of the answer to each instance that do not depend on labels."""
        n = read.X.n_rows
        familiar = (
            repeat(UNKNOWN_FAMILIARITY, n)
            if read.familiarity is None
            else read.familiarity.fields(self.usual.languages)
        )
        missing = (
            repeat({}, n)
            if read.missing is None
            else ({"missing": names} for names in read.missing)
        )
        for features, known, lacking in zip(
            count_known_features(self, read.X).tolist(), familiar, missing, strict=True
        ):
            yield {"features": features} | known | lacking

    def allowed_labels(self, question: Question) -> np.ndarray | None:
        """Which labels a question allows, as :meth:`allowed`; None: all."""
        if not question.chooses_labels:
            return self._offered
        return self._chosen(tuple(question.include), tuple(question.exclude))

    @cached_property
    def _chosen(self) -> Any:
        return lru_cache(_CHOICES)(self.allowed)

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
            :meth:`read_texts` returns; or texts. Of features alone an answer does not say how
            familiar they are.
        question : Question, optional
            What is asked.
        threads : int
            They change no result.
        suggestions : mapping of str to Suggestions, optional
            As for :meth:`top_k`.
        **asked
            In place of ``question`` its fields, such as ``top_k=3, fit=True``.

        Yields
        ------
        Answer
            In the order of the instances.

        Raises
        ------
        InputError
            If the model cannot answer, or a label is none of its labels.
        """
        question = question or Question.model_validate(asked)
        named = self if question.language is None else self.in_language(question.language)
        read = (
            instances
            if isinstance(instances, CSR | FeaturesAndFamiliarity)
            else self.read_texts(instances)
        )
        return make_answers(named, question, named.rank(read, question, threads, suggestions))

    def scores(self, X: CSR, labels: ArrayLike) -> np.ndarray:
        """Scores of chosen labels, by the model without its second stage.

        Parameters
        ----------
        X : CSR, shape (n, d)
            Made by :meth:`from_texts`, :meth:`from_features` or :meth:`from_split`.
        labels : array_like of int, shape (m,)
            Their ids.

        Returns
        -------
        ndarray of float32, shape (n, m)
            -inf for labels without a classifier.

        Raises
        ------
        InputError
            If one of these ids is not a label's.
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
        """How texts become features."""
        return TfIdf.from_parameters(self.model.transform, self.feature_names, self.model.idf)

    @property
    def n_source_features(self) -> int:
        """Number of features without those of columns beside texts, and the bias feature."""
        return self.model.n_word_features

    def _require_features(self, X: CSR) -> None:
        if X.n_columns != self.model.n_columns:
            made = "from_texts, from_features and from_split make them"
            raise ValueError(
                f"instances have {X.n_columns} columns, the model takes {self.model.n_columns}: {made}"
            )
        if self.model.transform.get("unscaled") and X.n_rows >= _SEVERAL:
            squares = X.to_scipy().power(2).sum(axis=1) - self.model.bias**2
            if np.allclose(squares[squares > 0], 1, atol=1e-4):
                message = "all rows have length 1, but this model was trained on rows before they were scaled: "
                warnings.warn(message + "Predictor.from_split makes them so", stacklevel=3)

    def _column(self, feature: str | int) -> int | None:
        if isinstance(feature, str) and self.feature_names:
            column = self.model.feature_ids.get(feature)
            if column is not None and column >= self.n_source_features:
                remedy = f"give {', '.join(self.columns)} beside a text"
                raise InputError(
                    f"{feature!r} is made of a column", path=self.model.path, remedy=remedy
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


def _finite(feature: str | int, value: Any) -> float:
    if not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise InputError(
            f"feature {feature!r}: {value!r} is not a number", remedy="give a finite number"
        )
    return float(value)


def remark_on_memory(predictor: Predictor, left: float) -> str:
    """A remark on a model that does not fit into the memory left; empty for one that does."""
    model = predictor.model
    paths = [model.path, index_path(model.path)]
    if isinstance(model, RerankedModel):
        paths.append(model.reranker.path)
    files = [path for path in paths if path.exists()]
    size = sum(path.stat().st_size for path in files)
    if size <= left:
        return ""
    amounts = f"{' and '.join(map(str, files))} take {size / 1e9:.1f} GB of memory, {left / 1e9:.1f} GB are left"
    return f"{amounts}: predictions will wait for the disk; free memory, or make the model smaller (ovaflow prune)"


def count_known_features(predictor: Predictor, X: CSR) -> np.ndarray:
    """Number of features of each instance besides those of columns and the bias feature, int64
    (n,).
    """
    first = predictor.model.n_word_features
    n = count_column_features(predictor.model.transform)
    beside = select_columns(X, first, first + n)
    return np.diff(X.indptr) - np.diff(beside.indptr) - (predictor.model.bias != 0)


def count_texts_without_words(predictor: Predictor, X: CSR) -> int:
    """Number of texts, with features X, that have no word the model knows."""
    return int(np.count_nonzero(count_known_features(predictor, X) == 0))
