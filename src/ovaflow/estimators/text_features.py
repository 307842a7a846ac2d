"""Transformer of texts to the features that the pipeline makes of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse
from pydantic import ValidationError
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ovaflow.console.errors import InputError, StrPath
from ovaflow.console.progress import silence_progress
from ovaflow.dataset.dataset import Names, read_names, write_names
from ovaflow.estimators.labels import LabelForm, Labels, is_missing
from ovaflow.features.blocks import NAMES
from ovaflow.features.columns import count_column_features
from ovaflow.features.tfidf import TfIdf
from ovaflow.features.vocabulary import fit_features
from ovaflow.settings.prepare import ChooseFeatures, Prepare
from ovaflow.settings.schema import explain_error
from ovaflow.storage.hdf5 import create_artifact, open_artifact, read_kind, read_parameters
from ovaflow.tuning.features import choose_features_of_texts

TEXT_FEATURES_KIND = "text-features"
MODEL_KIND = "model"
"""Kinds of files that have features of texts: of this transformer, and models."""


@dataclass(kw_only=True, eq=False, repr=False)
class TextFeatures(TransformerMixin, BaseEstimator):
    """Blocks of text features (words, pairs, prefixes, stems, characters) with their tf-idf
    weights.

    The values are those of ``ovaflow prepare``, without the bias feature, which the classifiers
    append.

    Parameters
    ----------
    features : sequence of str and dict, or "auto"
        Blocks of features, side by side: ``"words"``, ``"pairs"`` of neighbouring words,
        ``{"prefixes": 6}`` of longer words, ``{"stems": "finnish"}``, ``{"characters": [4, 5]}``
        inside words; auto: the blocks that are best on held-out texts, whose labels :meth:`fit` is
        given.
    words : {"plain", "symbols"}
        Words are at least two letters, digits or underscores, and no numbers; with symbols also
        single letters and numbers, with the signs of C++, C# and .NET.
    stop_words : str or path-like, optional
        Words to leave out: a language, such as ``"german"``, or a file with one per line.
    min_df, max_df : int or float
        Terms in fewer texts than the first or in more than the second are dropped; a number of
        texts, or as float a share of them.
    max_features : int, optional
        Number of the most frequent terms that are kept; None: all.
    sublinear : bool
        Use ln(1 + count) instead of a term's count in a text.
    normalize : bool
        Scale each instance to length 1.

    Attributes
    ----------
    features_ : list of str
        Blocks of features; with auto the chosen ones.
    idf_ : ndarray of float32, shape (d,)
        Inverse document frequencies log(N / df).
    """

    features: Sequence[str | dict[str, Any]] | str = ("words", "prefixes=6")
    words: str = "plain"
    stop_words: StrPath | None = None
    min_df: int | float = 2
    max_df: int | float = 0.5
    max_features: int | None = None
    sublinear: bool = True
    normalize: bool = True

    def fit(self, X: Iterable[str], y: Labels = None) -> Self:
        """Learn the terms that are features, and their idf.

        Parameters
        ----------
        X : iterable of str
            Texts; None, nan and pandas.NA are empty ones.
        y : array_like, sparse matrix, or sequence of sequences, optional
            Labels, as classifiers take them; only auto looks at them.

        Returns
        -------
        self
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Iterable[str], y: Labels = None) -> scipy.sparse.csr_array:
        """Learn features from texts, and transform these.

        Parameters
        ----------
        X : iterable of str
            Texts, read once; None, nan and pandas.NA are empty ones.
        y : array_like, sparse matrix, or sequence of sequences, optional
            Labels, as classifiers take them; only auto looks at them.

        Returns
        -------
        csr_array of float32, shape (n, d)

        Raises
        ------
        ValueError
            If a parameter has no legal value, or auto is given no labels.
        InputError
            If no term is frequent enough.
        """
        parameters = self.get_params(deep=False)
        if not isinstance(self.features, str):
            parameters["features"] = list(self.features)
        settings = _validate_settings(parameters)
        texts: Iterable[str] = _convert_texts(X)
        with silence_progress():
            if settings.features == "auto":
                listed = list(texts)
                texts = listed
                blocks = _choose_blocks(listed, y, parameters)
                settings = settings.model_copy(update={"features": blocks})
            fitted = fit_features(texts, settings)
        self._set_transform(list(settings.features), fitted.transform)
        return fitted.X.to_scipy()

    def transform(self, X: Iterable[str]) -> scipy.sparse.csr_array:
        """Transform texts to features.

        Parameters
        ----------
        X : iterable of str
            Texts, read once; None, nan and pandas.NA are empty ones.

        Returns
        -------
        csr_array of float32, shape (n, d)
        """
        check_is_fitted(self)
        return self._transform.transform(_convert_texts(X), quiet=True).to_scipy()

    def save(self, path: StrPath) -> None:
        """Write a file of these features, for :meth:`load`.

        A classifier's ``save`` can write them into its own file.

        Parameters
        ----------
        path : path-like
            The file, features.h5.
        """
        check_is_fitted(self)
        settings = self.get_params(deep=False) | {"features": self.features_}
        if self.stop_words is not None:
            settings["stop_words"] = str(self.stop_words)
        parameters = self._transform.parameters | {"settings": settings}
        feature_names, idf = self._transform.all_features
        with create_artifact(path, TEXT_FEATURES_KIND, parameters) as file:
            write_names(file, Names([], feature_names, idf))

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Read the features of a file.

        Parameters
        ----------
        path : path-like
            A file of :meth:`save`, or a model.h5 of the pipeline or of a classifier that was saved
            with its text features, which then holds a complete scikit-learn pipeline.

        Returns
        -------
        TextFeatures
            Fitted transformer with the settings of the fitting, as far as the file has them.

        Raises
        ------
        InputError
            If the file is missing, foreign or damaged, or reads more than plain texts.
        """
        kind = read_kind(path, TEXT_FEATURES_KIND, MODEL_KIND)
        with open_artifact(path, kind) as file:
            parameters = read_parameters(file)
        if kind == MODEL_KIND:
            parameters = parameters.get("transform", {})
        if count_column_features(parameters) or parameters.get("html"):
            message = (
                "reads HTML, or numbers and categories beside texts, which TextFeatures does not"
            )
            raise InputError(
                message, path=path, remedy="use ovaflow.prediction.predictor.Predictor"
            )
        names = read_names(path, kind)
        transform = TfIdf.from_parameters(parameters, names.features, names.idf)
        blocks = list(transform.features)
        settings = {
            "features": blocks,
            "words": transform.words,
            "sublinear": transform.sublinear,
            "normalize": transform.normalize,
        }
        loaded = cls(**settings | parameters.get("settings", {}))
        # a model has a bias feature of its own
        loaded._set_transform(blocks, replace(transform, bias=0.0, unscaled=False))
        return loaded

    def _set_transform(self, blocks: list[str], transform: TfIdf) -> None:
        self.features_ = blocks
        self._transform = transform
        self.idf_ = transform.idf

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Return the names of the features, such as ``dragon``, ``train dragon``, ``dragon*``,
        ``dragon-`` and ``"drag"``.

        Parameters
        ----------
        input_features : object
            Ignored; texts have no features.

        Returns
        -------
        ndarray of str, shape (d,)
        """
        check_is_fitted(self)
        return np.array(self._transform.feature_names, object)

    @property
    def fitted_transform(self) -> TfIdf:
        """Fitted transform of texts, which models made from texts keep."""
        check_is_fitted(self)
        return self._transform

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags


def _validate_settings(parameters: dict[str, Any]) -> Prepare:
    """Check parameters as those of config files; ValueError if one has no legal value."""
    try:
        settings = Prepare.model_validate(parameters | {"bias": 0.0})
    except ValidationError as error:
        raise ValueError(explain_error(error, parameters, Prepare)) from None
    if NAMES in settings.features:
        raise ValueError("features: names of labels are for the pipeline, which knows the labels")
    return settings


def _choose_blocks(texts: list[str], y: Labels, parameters: dict[str, Any]) -> list[str]:
    """Choose blocks for texts and their labels, by :mod:`ovaflow.tuning.features`."""
    if y is None:
        message = "features: auto is for the pipeline, and for fit(texts, labels)"
        raise ValueError(f"{message}; give labels, or blocks, such as ['words', {{'prefixes': 6}}]")
    form = LabelForm.from_labels(y)
    Y = form.to_matrix(y)
    names = [str(label) for label in form.classes]
    check_consistent_length(texts, Y.to_scipy())
    labels = []
    for row in np.split(Y.indices, Y.indptr[1:-1]):
        labels.append(tuple(names[label] for label in row))
    # the classifiers append a bias, and are given no names of labels
    settings = ChooseFeatures.model_validate(
        parameters | {"format": "builtin", "label_names": False}
    )
    return choose_features_of_texts(texts, labels, settings)["chosen"].split("+")


def _convert_texts(X: Iterable[Any]) -> Iterator[str]:
    """Convert texts one after another; ValueError for one text or a table."""
    if isinstance(X, str):
        raise ValueError("expected texts, a list for instance, found a single text")
    if getattr(X, "ndim", 1) != 1:
        raise ValueError(
            "expected texts, one for each instance, found a table; give one of its columns"
        )
    # items of Arrow's arrays are no strings
    texts = X.to_pylist() if hasattr(X, "to_pylist") else X
    return (_convert_text(text) for text in texts)


def _convert_text(text: Any) -> str:
    if isinstance(text, str):
        return text
    if is_missing(text):
        return ""
    raise TypeError(f"a text is {text!r:.60}, expected a string; the order is fit(texts, labels)")
