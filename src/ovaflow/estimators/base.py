"""Base class of all classifiers: forms of X and Y, prediction, files."""

import hashlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from pydantic import ValidationError
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ovaflow.console.errors import InputError, StrPath
from ovaflow.console.progress import silence_progress
from ovaflow.dataset.dataset import Dataset, Names, Split
from ovaflow.dataset.hold_out import hold_out
from ovaflow.estimators.labels import CLASSES, LabelForm, Labels, Matrix
from ovaflow.estimators.text_features import TextFeatures
from ovaflow.features.columns import count_column_features
from ovaflow.features.normalize import is_dense, make_model_features, store_zeros
from ovaflow.features.tokens import make_tokens_from_counts
from ovaflow.model.model_file import MethodModel, Model, open_any_model
from ovaflow.model.ranked_labels import find_hits
from ovaflow.model.top_k import NO_LABEL
from ovaflow.prediction.predictions import attach_reranker, predict_test_set
from ovaflow.prediction.predictor import Predictor, count_texts_without_words
from ovaflow.prediction.reasons import explain_labels as explain_labels
from ovaflow.registry import ONE_VS_ALL, find_method, import_reference
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.fitting import fit_reranker
from ovaflow.reranking.reranker_file import FILE_NAME, Reranker
from ovaflow.settings.predict import N_CANDIDATES, Predict
from ovaflow.settings.prepare import Prepare
from ovaflow.settings.schema import explain_error
from ovaflow.settings.section import Section
from ovaflow.sparse.csr import CSR, from_scipy, offsets, select_columns, select_rows

AnySection = TypeVar("AnySection", bound=Section)

_INITIAL_TOP_K = 16
"""Best labels of an instance that are searched first for all labels with a score above 0."""


def _has_second_stage(estimator: "LabelClassifier") -> bool:
    """Return True if a classifier has probabilities, or will have them after
    :meth:`LabelClassifier.fit`.
    """
    if not hasattr(estimator, "model_"):
        return estimator.rerank > 0
    if estimator.reranker_ is None:
        raise AttributeError("no second stage, so no probabilities: set rerank=0.2 and fit again")
    if estimator.reranker_.unused:
        raise AttributeError(
            f"no probabilities: the second stage is not used: {estimator.reranker_.unused}"
        )
    return True


@dataclass(kw_only=True, eq=False, repr=False)
class LabelClassifier(ClassifierMixin, BaseEstimator):
    """Base class of classifiers for few or very many labels.

    A subclass has the name and the settings of a method.

    Parameters
    ----------
    bias : float
        Value of the bias feature appended to each instance; 0: no bias feature.
    normalize : bool
        Scale each instance to length 1; TfidfVectorizer and TextFeatures do it themselves.
    threads : int
        Number of threads of training and prediction; it changes no result.
    verbose : bool
        Show the progress of the training.
    rerank : float
        Share of the instances held out to fit the second stage, which ranks the candidates of the
        model and gives them probabilities; 0: no second stage.

    Attributes
    ----------
    classes_ : ndarray, shape (l,)
        Labels by their ids: sorted classes or label names, or the columns of an indicator.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, if it was a data frame.
    model_ : ovaflow.model.model_file.Model
        The model, which :meth:`save` writes.
    reranker_ : ovaflow.reranking.reranker_file.Reranker or None
        The second stage, which :meth:`save` writes next to the model.
    """

    bias: float = 1.0
    normalize: bool = False
    threads: int = 1
    verbose: bool = False
    rerank: float = 0.0

    method: ClassVar[str] = ONE_VS_ALL
    neutral: ClassVar[float] = 0.0
    """Score of a label that is as likely as not."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags

    def fit(
        self,
        X: Matrix,
        y: Labels,
        label_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        label_features: Callable[[list[str]], Matrix] | None = None,
    ) -> Self:
        """Train the model; with ``rerank`` also a second model without the held-out instances.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.
        y : array_like, sparse matrix, or sequence of sequences
            One class for each instance, of shape (n,); an indicator of shape (n, l), dense or
            sparse, with 0 and 1 only; or a list of labels for each instance. Classes and labels are
            texts, numbers, truth values or dates.
        label_names : sequence of str, length l, optional
            Of the columns of an indicator; by default the names that a data frame's columns have.
        feature_names : sequence of str, length d, optional
            Kept in the model, for explanations.
        label_features : callable, optional
            Function that makes features of names of labels, such as :meth:`TextFeatures.transform`:
            each name is one more training text of its label, as with ``label_names`` in the config.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter has no legal value, a label is missing, or y is no labels.
        """
        return self._fit(X, y, label_names, feature_names, label_features)

    def _fit(
        self,
        X: Matrix,
        y: Labels,
        label_names: Sequence[str] | None,
        feature_names: Sequence[str] | None,
        label_features: Callable[[list[str]], Matrix] | None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        form = LabelForm.from_labels(y, label_names)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32)
        Y = form.to_matrix(y)
        if Y.n_rows != X.shape[0]:
            sizes = [X.shape[0], Y.n_rows]
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {sizes}")
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", ())
        if len(feature_names) not in (0, X.shape[1]):
            raise ValueError(f"{len(feature_names)} feature_names for {X.shape[1]} features")
        names = Names([str(label) for label in form.classes], [str(name) for name in feature_names])
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X.shape[0])
        n_names = 0
        if label_features is not None:
            n_instances = X.shape[0]
            X, Y = self._append_label_names(X, Y, label_features(list(names.labels)))
            n_names = X.shape[0] - n_instances
        self._validate_settings(Prepare, ("bias", "normalize"))
        share = self._validate_settings(Predict, ("rerank",)).rerank
        if isinstance(share, str):
            raise ValueError(
                "rerank: auto is for config files, give a number of at least 0 and below 1"
            )
        with silence_progress(silent=not self.verbose):
            dataset = self._make_dataset(X, Y, names, n_names, weights)
            self.model_ = self._train(dataset)
            self.reranker_ = self._fit_reranker(dataset, share) if share else None
        self._set_form(form)
        return self

    def _fit_reranker(self, dataset: Dataset, share: float) -> Reranker:
        """Fit the second stage to the held-out share of the instances, by a model of the others."""
        held_out = hold_out(dataset, share)
        predictions = predict_test_set(self._train(held_out), held_out, N_CANDIDATES, self.threads)
        reranker = fit_reranker(self.model_, dataset, held_out, predictions, threads=self.threads)
        if reranker.unused:
            warnings.warn(f"the second stage is not used: {reranker.unused}", stacklevel=3)
        return reranker

    def _append_label_names(self, X: Matrix, Y: CSR, features: Matrix) -> tuple[Matrix, CSR]:
        """Append the names of labels that have features to the instances."""
        features = validate_data(self, features, accept_sparse="csr", reset=False)
        features = sp.csr_array(features)
        has_features = np.flatnonzero(np.diff(features.indptr))
        labels = sp.eye_array(features.shape[0], format="csr")[has_features]
        instances = sp.vstack([sp.csr_array(X), features[has_features]])
        return instances, from_scipy(sp.vstack([Y.to_scipy(), labels]))

    def _train(self, dataset: Dataset) -> MethodModel:
        """Train a model on a dataset."""
        method = find_method(self.method)
        settings = self._validate_settings(import_reference(method.settings))
        return method.train_model(dataset, settings, self.threads)

    def _set_form(self, form: LabelForm) -> None:
        self.classes_ = form.classes
        self._form = form
        self._open()

    def _open(self) -> None:
        model: Model = self.model_
        if self.reranker_ is not None:
            model = attach_reranker(model, self.reranker_)
        self._predictor = Predictor(model)

    def _make_dataset(
        self, X: Matrix, Y: CSR, names: Names, n_names: int, weights: np.ndarray | None
    ) -> Dataset:
        """Make the dataset that the pipeline's prepare step makes of the same features.

        Its last ``n_names`` training instances are names of labels.
        """
        matrix, norms = self._prepare_features(X, unscaled=False)
        parameters = {
            "format": "arrays",
            "tfidf": False,
            "normalize": self.normalize,
            "bias": float(self.bias),
            "dense": is_dense(matrix),
        }
        if n_names:
            parameters["named_labels"] = n_names
        if weights is not None:
            weights = np.pad(weights, (0, n_names), constant_values=1)
        X_train = store_zeros(matrix) if is_dense(matrix) else matrix
        train = Split(X_train, Y, norms=norms, weights=weights)
        test = Split(matrix.part(0, 0), Y.part(0, 0))
        return Dataset(Path("X"), train, test, _hash_split(train), parameters, names)

    def _prepare_features(self, X: Matrix, *, unscaled: bool) -> tuple[CSR, np.ndarray | None]:
        """Scale instances and append the bias; return the features and the lengths before."""
        matrix = from_scipy(X)
        # kernels are compiled for writable arrays only; rows are scaled in place
        copied = CSR(
            np.array(matrix.data),
            np.array(matrix.indices),
            np.array(matrix.indptr),
            matrix.n_columns,
        )
        return make_model_features(
            copied, float(self.bias), normalize=self.normalize, unscaled=unscaled
        )

    def _make_instances(self, X: Matrix) -> CSR:
        """Make the features that the model reads."""
        check_is_fitted(self)
        model = self._predictor.model
        checked = validate_data(self, X, accept_sparse="csr", dtype=np.float32, reset=False)
        instances, _ = self._prepare_features(
            checked, unscaled=model.transform.get("unscaled", False)
        )
        if model.n_columns == model.n_features:
            return instances
        # a model of texts also reads their words; the counts are not known any more
        words = select_columns(instances, 0, len(model.feature_names))
        once = words._replace(data=np.ones_like(words.data))
        return model.with_tokens(instances, make_tokens_from_counts(once, model.feature_names))

    def _get_setting_parameters(self) -> dict[str, Any]:
        """Return the parameters with the meaning that they have as settings."""
        return self.get_params(deep=False)

    def _validate_settings(
        self, model: type[AnySection], fields: Iterable[str] | None = None
    ) -> AnySection:
        """Make a section of the settings from the parameters of this classifier, with the checks of
        config files.
        """
        if fields is None:
            fields = model.model_fields
        parameters = self._get_setting_parameters()
        settings = {name: parameters[name] for name in parameters.keys() & set(fields)}
        try:
            return model.model_validate(settings)
        except ValidationError as error:
            raise ValueError(explain_error(error, settings, model)) from None

    def decision_function(self, X: Matrix, labels: Sequence[Any] | None = None) -> np.ndarray:
        """Compute scores of labels by the model alone.

        Without a second stage :meth:`predict` gives the labels with a score above 0.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.
        labels : sequence, length m, optional
            Some of ``classes_``; by default all of them, which takes n l numbers.

        Returns
        -------
        ndarray of float32, shape (n, m)
            Scores; the smallest finite float32 for labels without training instances. Where y was
            one of two classes for each instance: the second's score less the first's, shape (n,).

        Raises
        ------
        ValueError
            If a label is none of the classes.
        """
        instances = self._make_instances(X)
        if labels is not None:
            columns, is_known = self._form.find_columns(labels)
            if not is_known.all():
                raise ValueError(f"no label {np.asarray(labels)[~is_known][0]} in classes_")
            return self._compute_decisions(instances, columns)
        scores = self._compute_decisions(instances, np.arange(len(self.classes_)))
        if self._form.kind == CLASSES and len(self.classes_) == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def _compute_decisions(self, instances: CSR, labels: np.ndarray) -> np.ndarray:
        scores = self._predictor.scores(instances, labels) - np.float32(self.neutral)
        return np.maximum(scores, np.finfo(np.float32).min)

    def predict(self, X: Matrix) -> Any:
        """Predict labels in the form in which they were given to :meth:`fit`.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.

        Returns
        -------
        ndarray of shape (n,), indicator of shape (n, l) or ndarray of ndarray
            The first class of :meth:`predict_topk` where each instance has one. Otherwise, with a
            second stage, as many labels as fit each instance; without one all labels with a
            decision function above 0, perhaps none at all, while :meth:`predict_topk` always has
            some.

        Warns
        -----
        UserWarning
            If sparse instances have no feature.
        """
        instances = self._make_instances(X)
        if sp.issparse(X):
            empty = count_texts_without_words(self._predictor, instances)
            if empty:
                warnings.warn(
                    f"{empty} of {instances.n_rows} instances have no feature: "
                    "their labels mean nothing",
                    stacklevel=2,
                )
        if self._form.kind == CLASSES or self._has_one_label():
            predicted = self._select_first(instances)
        elif self._predictor.model.probabilistic:
            predicted = self._select_fitting(instances)
        else:
            predicted = self._select_positive(instances)
        return self._form.convert_predictions(predicted)

    @available_if(_has_second_stage)
    def predict_proba(self, X: Matrix) -> sp.csr_array | np.ndarray:
        """Compute probabilities of the candidates, the labels of the highest scores.

        Without a second stage (see ``rerank``) there is no such attribute.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.

        Returns
        -------
        csr_array or ndarray of float32, shape (n, l)
            Probabilities of at most 50 labels of each instance; those of other labels are near 0,
            and not stored. Each is the probability of one label, and their sum is arbitrary. Where
            y was one class for each instance, they are divided by their sum, which is then 1, and
            dense; those of other classes are 0.
        """
        instances = self._make_instances(X)
        ids, found = self._predictor.top_k(instances, N_CANDIDATES, self.threads)
        is_label = ids != NO_LABEL
        probabilities = _scatter_by_label(ids, found, is_label, len(self.classes_)).to_scipy()
        if self._form.kind != CLASSES:
            return probabilities
        dense = probabilities.toarray()
        return dense / dense.sum(axis=1, keepdims=True)

    def _has_one_label(self) -> bool:
        return False

    def _select_first(self, instances: CSR) -> CSR:
        """Select the best label of each instance."""
        ids, _ = self._predictor.top_k(instances, 1, self.threads)
        first = ids[:, 0]
        indptr = np.arange(len(first) + 1, dtype=np.int64)
        return CSR(np.ones(len(first), np.float32), first, indptr, len(self.classes_))

    def _select_fitting(self, instances: CSR) -> CSR:
        """Select the labels that fit each instance, the most probable ones."""
        ids, probabilities = self._predictor.top_k(instances, N_CANDIDATES, self.threads)
        is_fitting = np.arange(ids.shape[1]) < count_fitting_labels(probabilities)[:, None]
        return _scatter_by_label(ids, np.ones(ids.shape), is_fitting, len(self.classes_))

    def _select_positive(self, instances: CSR) -> CSR:
        """Select the labels with a score above 0, from ever longer lists of best labels."""
        n_labels = len(self.classes_)
        labels = [np.empty(0, np.int32)] * instances.n_rows
        rows = np.arange(instances.n_rows)
        k = min(_INITIAL_TOP_K, n_labels)
        while len(rows):
            ids, scores = self._predictor.top_k(select_rows(instances, rows), k, self.threads)
            is_positive = scores > self.neutral
            is_complete = ~is_positive[:, -1] | (k == n_labels)
            for i in np.flatnonzero(is_complete):
                labels[rows[i]] = np.sort(ids[i][is_positive[i]])
            rows = rows[~is_complete]
            k = min(4 * k, n_labels)
        indptr = offsets([len(row) for row in labels])
        indices = np.concatenate([np.empty(0, np.int32), *labels])
        return CSR(np.ones(len(indices), np.float32), indices, indptr, n_labels)

    def predict_topk(self, X: Matrix, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Rank the best labels of each instance.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.
        k : int
            Number of labels.

        Returns
        -------
        labels : ndarray, shape (n, k)
            Labels of ``classes_`` in descending order of their scores, ties in the order of
            ``classes_``; None where there are fewer than k.
        scores : ndarray of float32, shape (n, k)
            Scores, with a second stage probabilities; -inf where there is no label.
        """
        ids, scores = self._predictor.top_k(self._make_instances(X), k, self.threads)
        is_missing = ids < 0
        labels = self.classes_[np.where(is_missing, 0, ids)]
        if is_missing.any():
            labels = labels.astype(object)
            labels[is_missing] = None
        return labels, scores

    def precision_at_k(self, X: Matrix, y: Labels, k: int = 1) -> float:
        """Compute P@k, the share of true labels among the first k.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.
        y : array_like, sparse matrix, or sequence of sequences
            In any form that :meth:`fit` takes.
        k : int
            Number of labels.

        Returns
        -------
        float
        """
        ids, _ = self._predictor.top_k(self._make_instances(X), k, self.threads)
        hits = find_hits(ids, self._form.to_matrix(y))
        return float(hits.sum() / (k * len(hits)))

    def score(self, X: Matrix, y: Labels, sample_weight: ArrayLike | None = None) -> float:
        """Compute P@1, which is the accuracy where each instance has one class.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.
        y : array_like, sparse matrix, or sequence of sequences
            True labels, in any form that :meth:`fit` takes.
        sample_weight : array_like, shape (n,), optional
            Weights of the instances.

        Returns
        -------
        float
        """
        ids, _ = self._predictor.top_k(self._make_instances(X), 1, self.threads)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        hits = find_hits(ids, self._form.to_matrix(y))
        return float(np.average(hits[:, 0], weights=weights))

    def save(self, path: StrPath, text_features: TextFeatures | None = None) -> None:
        """Write the model file, which every subcommand of ``ovaflow`` reads, and the second stage
        next to it.

        Parameters
        ----------
        path : path-like
            The file, model.h5; the second stage is reranker.h5 in its folder, which holds one
            model.
        text_features : TextFeatures, optional
            Transformer that made X from texts, such as the first step of the pipeline: the saved
            model reads texts.

        Raises
        ------
        InputError
            If there is no second stage, and the folder has one of another model.
        ValueError
            If these are not the features that the classifier was fitted to.
        """
        check_is_fitted(self)
        model = self.model_
        if text_features is not None:
            model = self._add_text_features(text_features)
        reranker_path = Path(path).with_name(FILE_NAME)
        reranker = self.reranker_
        if reranker is None and reranker_path.exists():
            raise InputError(
                "belongs to another model",
                path=reranker_path,
                remedy="remove it, or save in another folder",
            )
        parameters = model.parameters | {"labels": self._form.parameters}
        replace(model, parameters=parameters).write(path)
        if reranker is not None:
            inputs = reranker.inputs | {"model": open_any_model(path).checksum}
            replace(reranker, inputs=inputs).write(reranker_path)

    def _add_text_features(self, text_features: TextFeatures) -> MethodModel:
        """Return the model with the transformer that makes its features from texts."""
        model = self.model_
        transform = text_features.fitted_transform
        names = transform.feature_names
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"text_features makes {len(names)} features, "
                f"the classifier takes {self.n_features_in_}"
            )
        normalize = transform.normalize or self.normalize
        recorded = replace(transform, normalize=normalize, bias=float(self.bias)).parameters
        settings = model.transform | recorded | {"tfidf": True}
        return replace(
            model,
            parameters=model.parameters | {"transform": settings},
            names_in_memory=replace(model.names, features=names, idf=transform.idf),
        )

    def explain(self, X: Matrix, k: int = 3, words: int = 10) -> list[list[dict[str, Any]]]:
        """Explain why the best labels of each instance are suggested.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.
        k : int
            Number of labels.
        words : int
            Number of features listed for each sign.

        Returns
        -------
        list of lists of dict
            Explanation of each label of each instance, as in ``ovaflow explain --json``: ``name``,
            ``score``, ``bias``, the features ``up`` and ``down`` with their contributions, and
            ``others``, which sum to the score; with a second stage ``probability`` and
            ``evidence``. Features have names if ``fit`` was given ``feature_names``.

        Raises
        ------
        InputError
            If the method has no weights of labels.
        """
        instances = self._make_instances(X)
        reasons = []
        ids, _ = self._predictor.top_k(instances, k, self.threads)
        for row, labels in enumerate(ids.tolist()):
            ranked = [label for label in labels if label != NO_LABEL]
            instance = select_rows(instances, np.array([row]))
            explained = explain_labels(self._predictor, instance, ranked, words)
            reasons.append([label.as_json() for label in explained])
        return reasons

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Read a model file of this method, the pipeline's or one of :meth:`save`, with the second
        stage next to it.

        Parameters
        ----------
        path : path-like
            The file, model.h5.

        Returns
        -------
        LabelClassifier
            Fitted classifier with the settings of the training, as far as the file has them. A
            model of the pipeline predicts sparse indicators. Its X are features before
            normalization and bias; for models made from texts, those after tf-idf.

        Raises
        ------
        InputError
            If the file is missing, foreign, damaged or of another method.
        """
        model = open_any_model(path)
        if model.method != cls.method:
            raise InputError(
                f"a model of {model.method}",
                path=path,
                remedy="load it with the class of its method",
            )
        if count_column_features(model.transform):
            message = "reads numbers and categories beside texts, which classifiers do not take"
            raise InputError(
                message, path=path, remedy="use ovaflow.prediction.predictor.Predictor"
            )
        settings = cls._read_settings(model.parameters)
        settings["bias"] = model.bias
        settings["normalize"] = bool(model.transform.get("normalize", False))
        estimator = cls(**settings)
        estimator.model_ = replace(model, names_in_memory=model.names)
        estimator.n_features_in_ = model.n_features
        if model.bias != 0:
            estimator.n_features_in_ -= 1
        reranker_path = Path(path).with_name(FILE_NAME)
        estimator.reranker_ = None
        if reranker_path.exists():
            estimator.reranker_ = Reranker.open(reranker_path, model=model)
            estimator.rerank = estimator.reranker_.parameters["fraction"]
        form_parameters = model.parameters.get("labels", {})
        estimator._set_form(LabelForm.from_parameters(form_parameters, model.label_names))
        return estimator

    @classmethod
    def _read_settings(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Read the settings of a classifier from the parameters of a model."""
        settings = find_method(cls.method).settings_of(parameters)
        return settings.model_dump(include=cls().get_params().keys())

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # __setstate__ makes it again
        state.pop("_predictor", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "model_" in state:
            self.model_ = _copy_read_only(self.model_)
            self.reranker_ = _copy_read_only(self.reranker_)
            self._open()


def _scatter_by_label(
    ids: np.ndarray, values: np.ndarray, is_chosen: np.ndarray, n_labels: int
) -> CSR:
    """Make a matrix (n, l) of the values of the chosen labels.

    Parameters
    ----------
    ids, values, is_chosen : ndarray, shape (n, k)
        Ids of labels for each instance, their values, and True for the chosen ones.
    n_labels : int
    """
    indptr = offsets(is_chosen.sum(axis=1))
    entries = (values[is_chosen], ids[is_chosen], indptr)
    return from_scipy(sp.csr_array(entries, (len(ids), n_labels)))


def _copy_read_only(value: Any) -> Any:
    """Copy arrays that joblib maps read-only: kernels are compiled for writable arrays only."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(_copy_read_only(each) for each in value)
    if isinstance(value, list):
        return [_copy_read_only(each) for each in value]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: _copy_read_only(getattr(value, part.name)) for part in fields(value)}
        return replace(value, **parts)
    return value


def _hash_split(split: Split) -> str:
    """Hash the features, labels and weights of instances."""
    digest = hashlib.blake2b(digest_size=16)
    for matrix in (split.X, split.Y):
        for array in (matrix.data, matrix.indices, matrix.indptr):
            digest.update(np.ascontiguousarray(array).data.cast("B"))
    if split.weights is not None:
        digest.update(split.weights.data.cast("B"))
    return digest.hexdigest()


def _check_sample_weight(sample_weight: ArrayLike, n_instances: int) -> np.ndarray:
    """Return weights as float32; ValueError unless they are finite, not negative, and not all 0."""
    weights = np.array(sample_weight, np.float32)
    if weights.shape != (n_instances,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_instances,)}")
    if not np.isfinite(weights).all() or weights.min() < 0:
        raise ValueError("sample_weight: weights are finite numbers of at least 0")
    if not weights.any():
        raise ValueError("sample_weight: all weights are zero")
    return weights
