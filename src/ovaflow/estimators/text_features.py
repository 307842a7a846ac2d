"""Texts to features, as the pipeline makes them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse
from pydantic import ValidationError
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ovaflow.console.errors import StrPath
from ovaflow.console.progress import silence
from ovaflow.data.blocks import NAMES
from ovaflow.data.tfidf import TfIdf
from ovaflow.data.vocabulary import fit_features
from ovaflow.settings.models import Prepare
from ovaflow.settings.schema import explain


@dataclass(kw_only=True, eq=False, repr=False)
class TextFeatures(TransformerMixin, BaseEstimator):
    """Blocks of text features (words, pairs, prefixes, stems, characters) with their tf-idf weights.

    The same numbers as those of ``ovaflow prepare``, without the bias feature, which the classifiers append.

    Parameters
    ----------
    features : sequence of str and dict
        Blocks of features, side by side: ``"words"``, ``"pairs"`` of neighbouring words, ``{"prefixes": 6}`` of longer
        words, ``{"stems": "finnish"}``, ``{"characters": [4, 5]}`` inside words.
    stop_words : str or path-like, optional
        Words to leave out: a language, such as ``"german"``, or a file with one per line.
    min_df, max_df : int or float
        Terms in fewer texts than the first or in more than the second are dropped; a number of texts, or as float a
        share.
    max_features : int, optional
        Only the most frequent terms are kept; None: all.
    sublinear : bool
        Use ln(1 + count) instead of a term's count in a text.
    normalize : bool
        Scale each instance to length 1.

    Attributes
    ----------
    idf_ : ndarray of float32, shape (d,)
        Inverse document frequencies log(N / df).
    """

    features: Sequence[str | dict[str, Any]] | str = ("words", "prefixes=6")
    stop_words: StrPath | None = None
    min_df: int | float = 2
    max_df: int | float = 0.5
    max_features: int | None = None
    sublinear: bool = True
    normalize: bool = True

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Learn which terms are features, and their idf.

        Parameters
        ----------
        X : iterable of str
            Texts; None and nan are empty ones.
        y : object
            Ignored; pipelines give it.

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Iterable[str], y: Any = None) -> scipy.sparse.csr_array:
        """Learn features from texts, and transform these.

        Parameters
        ----------
        X : iterable of str
            Texts, read once; None and nan are empty ones.
        y : object
            Ignored; pipelines give it.

        Returns
        -------
        csr_array of float32, shape (n, d)

        Raises
        ------
        ValueError
            If a parameter has no legal value.
        InputError
            If no term is frequent enough.
        """
        parameters = self.get_params(deep=False)
        if not isinstance(self.features, str):
            parameters["features"] = list(self.features)
        try:
            settings = Prepare.model_validate(parameters | {"bias": 0.0})
        except ValidationError as error:
            raise ValueError(explain(error, parameters, Prepare)) from None
        if settings.features == "auto":
            raise ValueError("features: auto is for the pipeline; give blocks, such as ['words', {'prefixes': 6}]")
        if NAMES in settings.features:
            raise ValueError("features: names of labels are for the pipeline, which knows the labels")
        with silence():
            fitted = fit_features(_texts(X), settings)
        self._transform = fitted.transform
        self.idf_ = fitted.transform.idf
        return fitted.X.to_scipy()

    def transform(self, X: Iterable[str]) -> scipy.sparse.csr_array:
        """Features of texts.

        Parameters
        ----------
        X : iterable of str
            Texts, read once; None and nan are empty ones.

        Returns
        -------
        csr_array of float32, shape (n, d)
        """
        check_is_fitted(self)
        return self._transform.transform(_texts(X), quiet=True).to_scipy()

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Names of the features: ``dragon``, ``train dragon``, ``dragon*``, ``dragon-``, ``"drag"``.

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
        """What makes the features; models made from texts keep it."""
        check_is_fitted(self)
        return self._transform

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags


def _texts(X: Iterable[str | None]) -> Iterable[str]:
    if isinstance(X, str):
        raise ValueError("expected texts, a list for instance, found a single text")
    if getattr(X, "ndim", 1) != 1:
        raise ValueError("expected texts, one for each instance, found a table; give one of its columns")
    return map(_text, X)


def _text(text: Any) -> str:
    # data frames have nan where a text is missing
    if text is None or (isinstance(text, float) and text != text):
        return ""
    if not isinstance(text, str):
        raise TypeError(f"a text is {text!r:.60}, expected a string; the order is fit(texts, labels)")
    return text
