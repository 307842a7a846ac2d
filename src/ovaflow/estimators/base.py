"""What all classifiers share: forms of X and Y, prediction, files."""

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
from ovaflow.model.model_file import MethodModel, open_any_model
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
"""Best labels of an instance among which all likely ones are sought first."""


def _has_second_stage(estimator: "LabelClassifier") -> bool:
    """Whether there are probabilities; before :meth:`LabelClassifier.fit` whether there will be."""
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
    """A classifier for few or very many labels; a subclass has the name and the settings of a
    method.

    Parameters
    ----------
    bias : float
        Value of the bias feature appended to each instance; 0: none.
    normalize : bool
        Scale each instance to length 1, which TfidfVectorizer and TextFeatures have done.
    threads : int
        Threads of training and prediction; they change no result.
    verbose : bool
        Show the progress of the training.
    rerank : float
        Share of the instances held out to fit the second stage, which ranks the candidates of the
        model and gives them probabilities; 0: none.

    Attributes
    ----------
    classes_ : ndarray, shape (l,)
        Labels by their ids: sorted classes or label names, or the columns of an indicator.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str
        Where X was a data frame.
    model_ : ovaflow.model.model_file.Model
        What :meth:`save` writes.
    reranker_ : ovaflow.reranking.reranker_file.Reranker or None
        The second stage, which :meth:`save` writes next to it.
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
        """Train; with ``rerank`` a second time without the held-out instances.

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
        label_features : callable, optional Features of names of labels, such as
            :meth:`TextFeatures.transform`: each name is one more training text of its label, as
            with ``label_names`` in the config.

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
        form = LabelForm.of(y, label_names)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32)
        Y = form.matrix(y)
        if Y.n_rows != X.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: {[X.shape[0], Y.n_rows]}"
            )
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", ())
        if len(feature_names) not in (0, X.shape[1]):
            raise ValueError(f"{len(feature_names)} feature_names for {X.shape[1]} features")
        names = Names([str(label) for label in form.classes], [str(name) for name in feature_names])
        n_documents = X.shape[0]
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X.shape[0])
        if label_features is not None:
            X, Y = self._with_label_names(X, Y, label_features(names.labels))
        self._part(Prepare, ("bias", "normalize"))
        share = self._part(Predict, ("rerank",)).rerank
        if isinstance(share, str):
            raise ValueError(
                "rerank: auto is for config files, give a number of at least 0 and below 1"
            )
        with silence_progress(not self.verbose):
            dataset = self._dataset(X, Y, names, X.shape[0] - n_documents, weights)
            self.model_ = self._train(dataset)
            self.reranker_ = self._fit_reranker(dataset, share) if share else None
        self._hold(form)
        return self

    def _fit_reranker(self, dataset: Dataset, share: float) -> Reranker:
        """The second stage, from a model that has not seen a share of the instances."""
        held_out = hold_out(dataset, share)
        predictions = predict_test_set(self._train(held_out), held_out, N_CANDIDATES, self.threads)
        reranker = fit_reranker(self.model_, dataset, held_out, predictions, self.threads)
        if reranker.unused:
            warnings.warn(f"the second stage is not used: {reranker.unused}", stacklevel=3)
        return reranker

    def _with_label_names(self, X: Matrix, Y: CSR, features: Matrix) -> tuple[Matrix, CSR]:
        """Instances, and after them the names of labels that have features."""
        features = validate_data(self, features, accept_sparse="csr", reset=False)
        features = sp.csr_array(features)
        known = np.flatnonzero(np.diff(features.indptr))
        labels = sp.eye_array(features.shape[0], format="csr")[known]
        instances = sp.vstack([sp.csr_array(X), features[known]])
        return instances, from_scipy(sp.vstack([Y.to_scipy(), labels]))

    def _train(self, dataset: Dataset) -> MethodModel:
        """The model of a dataset."""
        method = find_method(self.method)
        return method.train_model(
            dataset, self._part(import_reference(method.settings)), self.threads
        )

    def _hold(self, form: LabelForm) -> None:
        self.classes_ = form.classes
        self._form = form
        self._open()

    def _open(self) -> None:
        model = self.model_
        self._predictor = Predictor(
            model if self.reranker_ is None else attach_reranker(model, self.reranker_)
        )

    def _dataset(
        self, X: Matrix, Y: CSR, names: Names, named: int, weights: np.ndarray | None = None
    ) -> Dataset:
        """The training set as the pipeline's prepare step makes it of the same features, the last
        ones of names.
        """
        matrix, norms = self._finished(X)
        parameters = {
            "format": "arrays",
            "tfidf": False,
            "normalize": self.normalize,
            "bias": float(self.bias),
        }
        parameters |= {"dense": is_dense(matrix)} | ({"named_labels": named} if named else {})
        if weights is not None:
            weights = np.pad(weights, (0, named), constant_values=1)
        X_train = store_zeros(matrix) if is_dense(matrix) else matrix
        train = Split(X_train, Y, norms=norms, weights=weights)
        test = Split(matrix.part(0, 0), Y.part(0, 0))
        return Dataset(Path("X"), train, test, _hash_split(train), parameters, names)

    def _finished(self, X: Matrix, unscaled: bool = False) -> tuple[CSR, np.ndarray | None]:
        matrix = from_scipy(X)
        # kernels are compiled for writable arrays only; rows are scaled in place
        data, indices, indptr = (np.array(array) for array in matrix.arrays)
        return make_model_features(
            CSR(data, indices, indptr, matrix.n_columns), self.normalize, float(self.bias), unscaled
        )

    def _instances(self, X: Matrix) -> CSR:
        check_is_fitted(self)
        model = self._predictor.model
        checked = validate_data(self, X, accept_sparse="csr", dtype=np.float32, reset=False)
        instances = self._finished(checked, model.transform.get("unscaled", False))[0]
        if model.n_columns == model.n_features:
            return instances
        # of a model of texts; how often a word comes is not known any more
        words = select_columns(instances, 0, len(model.feature_names))
        once = words._replace(data=np.ones_like(words.data))
        return model.with_tokens(instances, make_tokens_from_counts(once, model.feature_names))

    def _parameters_of_settings(self) -> dict[str, Any]:
        """Parameters with the meaning that they have as settings."""
        return self.get_params(deep=False)

    def _part(self, model: type[AnySection], fields: Iterable[str] | None = None) -> AnySection:
        """The settings of this classifier that a model has, checked as the config's are."""
        fields = model.model_fields if fields is None else fields
        parameters = self._parameters_of_settings()
        settings = {name: parameters[name] for name in parameters.keys() & set(fields)}
        try:
            return model.model_validate(settings)
        except ValidationError as error:
            raise ValueError(explain_error(error, settings, model)) from None

    def decision_function(self, X: Matrix, labels: Sequence[Any] | None = None) -> np.ndarray:
        """Scores of labels by the model alone; without a second stage :meth:`predict` gives those
        above 0.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.
        labels : sequence, length m, optional
            Some of ``classes_``; by default all of them, which takes n l numbers.

        Returns
        -------
        ndarray of float32, shape (n, m)
            The smallest float32, which is finite, for labels without training instances. Of two
            classes: the second's score less the first's, shape (n,).

        Raises
        ------
        ValueError
            If a label is none of the classes.
        """
        instances = self._instances(X)
        if labels is None:
            scores = self._decisions(instances, np.arange(len(self.classes_)))
            two = self._form.kind == CLASSES and len(self.classes_) == 2
            return scores[:, 1] - scores[:, 0] if two else scores
        places, known = self._form.places(labels)
        if not known.all():
            raise ValueError(f"no label {np.asarray(labels)[~known][0]} in classes_")
        return self._decisions(instances, places)

    def _decisions(self, instances: CSR, places: np.ndarray) -> np.ndarray:
        scores = self._predictor.scores(instances, places) - np.float32(self.neutral)
        return np.maximum(scores, np.finfo(np.float32).min)

    def predict(self, X: Matrix) -> Any:
        """Labels in the form in which they were given to :meth:`fit`.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.

        Returns
        -------
        ndarray of shape (n,), indicator of shape (n, l) or ndarray of ndarray
            The first class of :meth:`predict_topk` where each instance has one. Otherwise, with a
            second stage, as many labels as fit each instance; without one all labels with a
            decision function above 0, which may be none: :meth:`predict_topk` always has some. A
            warning tells of sparse instances without any feature.
        """
        instances = self._instances(X)
        if sp.issparse(X) and (empty := count_texts_without_words(self._predictor, instances)):
            message = f"{empty} of {instances.n_rows} instances have no feature: their labels mean nothing"
            warnings.warn(message, stacklevel=2)
        if self._form.kind == CLASSES or self._has_one_label():
            ids = self._predictor.top_k(instances, 1, self.threads)[0][:, 0]
            ends = np.arange(len(ids) + 1, dtype=np.int64)
            return self._form.convert_predictions(
                CSR(np.ones(len(ids), np.float32), ids, ends, len(self.classes_))
            )
        if self._predictor.model.probabilistic:
            return self._form.convert_predictions(self._fitting(instances))
        return self._form.convert_predictions(self._likely(instances))

    @available_if(_has_second_stage)
    def predict_proba(self, X: Matrix) -> sp.csr_array | np.ndarray:
        """Probabilities of the candidates of each instance, the labels of the highest scores.

        Only with a second stage, see ``rerank``; without one there is no such attribute.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.

        Returns
        -------
        csr_array or ndarray of float32, shape (n, l)
            Of at most 50 labels of each instance; those of the others are near 0, and not stored.
            They are probabilities of labels by themselves, and have no common sum. Where each
            instance was given one class, they are divided by their sum, which is then 1, and dense;
            those of the other classes are 0.
        """
        instances = self._instances(X)
        ids, found = self._predictor.top_k(instances, N_CANDIDATES, self.threads)
        probabilities = _scatter_by_label(
            ids, found, ids != NO_LABEL, len(self.classes_)
        ).to_scipy()
        if self._form.kind != CLASSES:
            return probabilities
        dense = probabilities.toarray()
        return dense / dense.sum(axis=1, keepdims=True)

    def _fitting(self, instances: CSR) -> CSR:
        """Which labels fit each instance, the most probable ones."""
        ids, probabilities = self._predictor.top_k(instances, N_CANDIDATES, self.threads)
        fitting = np.arange(ids.shape[1]) < count_fitting_labels(probabilities)[:, None]
        return _scatter_by_label(ids, np.ones(ids.shape), fitting, len(self.classes_))

    def _has_one_label(self) -> bool:
        return False

    def _likely(self, instances: CSR) -> CSR:
        """Labels with a score above 0, from lists of best labels that are long enough."""
        n_labels = len(self.classes_)
        n = instances.n_rows
        labels = [np.empty(0, np.int32)] * n
        rows = np.arange(n)
        k = min(_INITIAL_TOP_K, n_labels)
        while len(rows):
            ids, scores = self._predictor.top_k(select_rows(instances, rows), k, self.threads)
            likely = scores > self.neutral
            complete = ~likely[:, -1] | (k == n_labels)
            for i in np.flatnonzero(complete):
                labels[rows[i]] = np.sort(ids[i][likely[i]])
            rows = rows[~complete]
            k = min(4 * k, n_labels)
        ends = offsets([*map(len, labels)])
        ids = np.concatenate([np.empty(0, np.int32), *labels])
        return CSR(np.ones(len(ids), np.float32), ids, ends, n_labels)

    def predict_topk(self, X: Matrix, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Best labels of each instance.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Features, one row for each instance.
        k : int
            Number of labels.

        Returns
        -------
        labels : ndarray, shape (n, k)
            Of ``classes_``, by falling score, ties in the order of ``classes_``; None where there
        are fewer than k. scores : ndarray of float32, shape (n, k)
            -inf where there is no label. Probabilities where there is a second stage.
        """
        ids, scores = self._predictor.top_k(self._instances(X), k, self.threads)
        missing = ids < 0
        labels = self.classes_[np.where(missing, 0, ids)]
        if missing.any():
            labels = labels.astype(object)
            labels[missing] = None
        return labels, scores

    def precision_at_k(self, X: Matrix, y: Labels, k: int = 1) -> float:
        """P@k: the share of true labels among the first k.

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
        ids, _ = self._predictor.top_k(self._instances(X), k, self.threads)
        hits = find_hits(ids, self._form.matrix(y))
        return float(hits.sum() / (k * len(hits)))

    def score(self, X: Matrix, y: Labels, sample_weight: ArrayLike | None = None) -> float:
        """P@1, which with one class for each instance is the accuracy.

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
        ids, _ = self._predictor.top_k(self._instances(X), 1, self.threads)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return float(np.average(find_hits(ids, self._form.matrix(y))[:, 0], weights=weights))

    def save(self, path: StrPath, text_features: TextFeatures | None = None) -> None:
        """Write the model file, which every subcommand of ``ovaflow`` reads, and the second stage
        next to it.

        Parameters
        ----------
        path : path-like
            The file, model.h5; the second stage is reranker.h5 in its folder, which holds one
        model. text_features : TextFeatures, optional
            What made X from texts, such as the first step of the pipeline: the saved model reads
            texts.

        Raises
        ------
        InputError
            If there is no second stage, and the folder has one of another model.
        ValueError
            If these are not the features that the classifier was fitted to.
        """
        check_is_fitted(self)
        model = self.model_ if text_features is None else self._with_texts(text_features)
        beside = Path(path).with_name(FILE_NAME)
        reranker = self.reranker_
        if reranker is None and beside.exists():
            raise InputError(
                "belongs to another model",
                path=beside,
                remedy="remove it, or save in another folder",
            )
        parameters = model.parameters | {"labels": self._form.parameters}
        replace(model, parameters=parameters).write(path)
        if reranker is not None:
            inputs = reranker.inputs | {"model": open_any_model(path).checksum}
            replace(reranker, inputs=inputs).write(beside)

    def _with_texts(self, text_features: TextFeatures) -> MethodModel:
        """The model with what makes its features from texts."""
        model = self.model_
        transform = text_features.fitted_transform
        names = transform.feature_names
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"text_features makes {len(names)} features, the classifier takes {self.n_features_in_}"
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
        """Why the best labels of each instance are suggested.

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
            For each instance and label what ``ovaflow explain --json`` has: ``name``, ``score``,
            ``bias``, the features ``up`` and ``down`` with their contributions, and ``others``,
            which sum to the score; with a second stage ``probability`` and ``evidence``. Features
            have names if ``fit`` was given ``feature_names``.

        Raises
        ------
        InputError
            If the method has no weights of labels.
        """
        instances = self._instances(X)
        reasons = []
        ids, _ = self._predictor.top_k(instances, k, self.threads)
        for row, labels in enumerate(ids.tolist()):
            known = [label for label in labels if label != NO_LABEL]
            explained = explain_labels(
                self._predictor, select_rows(instances, np.array([row])), known, words
            )
            reasons.append([each.as_json() for each in explained])
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
            Fitted; its settings are those of the training, as far as the file tells. A model of the
            pipeline predicts sparse indicators. X are features as they were before normalisation
            and bias; of models made from texts those after tf-idf.

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
        estimator = cls(**cls._settings_of(model.parameters)).set_params(
            bias=model.bias, normalize=bool(model.transform.get("normalize", False))
        )
        estimator.model_ = replace(model, names_in_memory=model.names)
        estimator.n_features_in_ = model.n_features - (model.bias != 0)
        beside = Path(path).with_name(FILE_NAME)
        estimator.reranker_ = Reranker.open(beside, model=model) if beside.exists() else None
        if estimator.reranker_ is not None:
            estimator.rerank = estimator.reranker_.parameters["fraction"]
        estimator._hold(
            LabelForm.from_parameters(model.parameters.get("labels", {}), model.label_names)
        )
        return estimator

    @classmethod
    def _settings_of(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        settings = find_method(cls.method).settings_of(parameters)
        return settings.model_dump(include=cls().get_params().keys())

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in super().__getstate__().items() if name != "_predictor"
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "model_" in state:
            self.model_, self.reranker_ = (
                _copy_read_only(self.model_),
                _copy_read_only(self.reranker_),
            )
            self._open()


def _scatter_by_label(
    ids: np.ndarray, values: np.ndarray, chosen: np.ndarray, n_labels: int
) -> CSR:
    """Values of the chosen labels among some for each instance (n, k), as a matrix (n, l)."""
    ends = offsets(chosen.sum(axis=1))
    return from_scipy(sp.csr_array((values[chosen], ids[chosen], ends), (len(ids), n_labels)))


def _copy_read_only(value: Any) -> Any:
    """Arrays that joblib maps read-only are copied: kernels are compiled for writable arrays only."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_copy_read_only, value))
    if isinstance(value, list):
        return [*map(_copy_read_only, value)]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: _copy_read_only(getattr(value, part.name)) for part in fields(value)}
        return replace(value, **parts)
    return value


def _hash_split(split: Split) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in (*split.X.arrays, *split.Y.arrays):
        digest.update(np.ascontiguousarray(array).data.cast("B"))
    if split.weights is not None:
        digest.update(split.weights.data.cast("B"))
    return digest.hexdigest()


def _check_sample_weight(sample_weight: ArrayLike, n: int) -> np.ndarray:
    weights = np.array(sample_weight, np.float32)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}")
    if not np.isfinite(weights).all() or weights.min() < 0:
        raise ValueError("sample_weight: weights are finite numbers of at least 0")
    if not weights.any():
        raise ValueError("sample_weight: all weights are zero")
    return weights
