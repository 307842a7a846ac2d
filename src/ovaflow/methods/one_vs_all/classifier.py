"""The classifier of one-vs-all for Python programs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from ovaflow.console.errors import StrPath
from ovaflow.dataset.dataset import Dataset
from ovaflow.estimators.base import LabelClassifier
from ovaflow.estimators.labels import CLASSES, LabelForm, Labels, Matrix
from ovaflow.initialization.pretrained import EarlierModel, match_model, require_same_problem
from ovaflow.model.model_file import MethodModel, Model
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.settings.train import ChooseC, Train, TrainLabels
from ovaflow.training.shard_job import train_model
from ovaflow.tuning.cost import choose_C
from ovaflow.tuning.pruning import resolve_threshold


@dataclass(kw_only=True, eq=False, repr=False)
class OneVsAllClassifier(LabelClassifier):
    """One-vs-all: DiSMEC's problems, solved exactly, with a good start.

    Parameters have the names and, but for ``normalize``, the defaults of the config file; see
    docs/reference/config.md for their legal values. Those of :class:`LabelClassifier` come on top.

    Parameters
    ----------
    C : float or "auto"
        Weight of the loss against the regularization; auto: the best on held-out training
        instances.
    loss : str
        ``"squared-hinge"``, or ``"logistic"``, which needs a larger C, 10 to 100.
    regularization : str
        Penalty on the weights: ``"l2"``, or ``"l1"``, which leaves few weights per label.
    weighting : str
        ``"propensity"`` gives positives of rare labels, which annotators miss most often, more
        weight.
    class_weight : dict, str or None
        ``"balanced"`` gives the positives of each label as much weight as its negatives, as
        scikit-learn's classifiers do in ``OneVsRestClassifier``; not together with ``weighting``.
        A dict has the weight of the instances of each class, by default 1, where an instance has
        one class.
    epsilon : float or "auto"
        Relative gradient norm at which the solver stops; auto: 0.01, up to 0.1 for labels of few
        positives.
    initialization : str
        Where the solver starts: ``"zero"``, ``"bias"``, ``"all-negative"``, ``"label-tree"``,
        ``"mean-separating"`` or ``"pretrained"``.
    s, t : float
        Mean-separating start: scores of the means of the positives and of the negatives; None: -2,
        with the logistic loss -3.
    bias_lambda : float
        Bias start: every score starts at minus this.
    root_epsilon : float
        All-negative and label-tree starts: relative gradient norm at which solving the root stops
        early.
    pretrained : path-like or Model, optional
        Earlier model for the start of that name: its file, or ``model_`` of a fitted classifier.
        Labels and features are matched by name.
    retrain : str
        Pretrained start: ``"all"`` labels are trained, only ``"changed"`` ones, whose number of
        positives differs, and new ones, or only ``"new"`` ones, which the earlier model lacks. The
        others keep its weights.
    propensity_a, propensity_b : float
        A and B of the propensities (Jain et al. 2016).
    prune : float or "auto"
        Smaller weights are dropped; a larger value makes a smaller model. auto: 0.05 with
        ``normalize=True``, else 0.01.

    Attributes
    ----------
    C_ : float
        C, also if it was chosen by auto.
    """

    C: float | Literal["auto"] = 1.0
    loss: str = "squared-hinge"
    regularization: str = "l2"
    weighting: str = "none"
    class_weight: Mapping[Any, float] | str | None = None
    epsilon: float | Literal["auto"] = "auto"
    initialization: str = "mean-separating"
    s: float = 1.0
    t: float | None = None
    bias_lambda: float = 2.0
    root_epsilon: float = 0.01
    pretrained: StrPath | Model | None = None
    retrain: str = "all"
    propensity_a: float = 0.55
    propensity_b: float = 1.5
    prune: float | Literal["auto"] = "auto"

    def fit(
        self,
        X: Matrix,
        y: Labels,
        label_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        label_features: Callable[[list[str]], Matrix] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train the classifier.

        Parameters
        ----------
        X, y, label_names, feature_names, label_features
            See :meth:`LabelClassifier.fit`.
        sample_weight : array_like of float, shape (n,), optional
            Weight of each instance's loss, at least 0. Names of labels weigh 1.

        Returns
        -------
        self
        """
        if isinstance(self.class_weight, Mapping):
            if LabelForm.from_labels(y, label_names).kind != CLASSES:
                raise ValueError(
                    "class_weight: a dict needs one class for each instance; give 'balanced'"
                )
            weights = compute_sample_weight(self.class_weight, y)
            if sample_weight is not None:
                weights = weights * np.asarray(sample_weight)
            sample_weight = weights
        return self._fit(X, y, label_names, feature_names, label_features, sample_weight)

    def _get_setting_parameters(self) -> dict[str, Any]:
        parameters = super()._get_setting_parameters()
        if isinstance(self.class_weight, Mapping):
            # instances have these weights
            parameters["class_weight"] = None
        return parameters

    @property
    def C_(self) -> float:
        """C, also if it was chosen by auto."""
        check_is_fitted(self, "model_")
        return self.model_.parameters["train"]["C"]

    @property
    def coef_(self) -> sp.csr_array:
        """Weights of the labels: sparse, shape (l, d), without the bias."""
        return self._weights()[:, : self.n_features_in_]

    @property
    def intercept_(self) -> np.ndarray:
        """Contribution of the bias to each label's score: shape (l,)."""
        weights = self._weights()
        if not self.model_.bias:
            return np.zeros(len(self.classes_), np.float32)
        return self.model_.bias * weights[:, [-1]].toarray().ravel()

    def _weights(self) -> sp.csr_array:
        """Return the weights with the bias."""
        check_is_fitted(self, "model_")
        assert isinstance(self.model_, OneVsAll)
        return self.model_.weights.to_scipy()

    def _train(self, dataset: Dataset) -> MethodModel:
        train = self._validate_settings(Train)
        labels = self._validate_settings(TrainLabels).model_copy(
            update={"stored_threshold": train.stored_threshold}
        )
        if labels.C == "auto":
            chosen = choose_C(dataset, labels, ChooseC(), train.threads)["chosen"]
            labels = labels.model_copy(update={"C": chosen})
        threshold = resolve_threshold(train.prune, dataset)
        return train_model(
            dataset, labels, threshold, train.threads, self._match_earlier(dataset, labels)
        )

    def _match_earlier(self, dataset: Dataset, labels: TrainLabels) -> EarlierModel | None:
        """Match the weights of the earlier model, for the start of that name."""
        if labels.initialization != "pretrained":
            return None
        model: Any = self.pretrained
        if self.rerank and labels.retrain != "all":
            raise ValueError(
                "rerank needs retrain='all'; kept weights may have seen held-out instances"
            )
        if model is None:
            raise ValueError(
                "initialization='pretrained' needs pretrained: a path, or model_ of a fitted"
                " classifier"
            )
        if not isinstance(model, OneVsAll):
            model = OneVsAll.open(model)
        require_same_problem(model, labels)
        return match_model(model, dataset)

    @classmethod
    def _read_settings(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        return super()._read_settings(parameters) | {"prune": parameters.get("prune", 0.0)}
