"""The three classifiers, and P@k for model selection."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.metrics import f1_score
from sklearn.utils.validation import check_is_fitted

from ovaflow.console.errors import StrPath
from ovaflow.data.dataset import Dataset
from ovaflow.estimators.base import LabelClassifier
from ovaflow.estimators.labels import Labels, Matrix, as_indicators
from ovaflow.fastxml.merging import train_forest
from ovaflow.fastxml.model_file import METHOD as FASTXML
from ovaflow.initialization.pretrained import match_model, require_same_problem
from ovaflow.model.model_file import MethodModel, Model
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.rembrandt.joining import train_embedding_model
from ovaflow.rembrandt.model_file import METHOD as REMBRANDT
from ovaflow.rembrandt.projection import SOFTMAX
from ovaflow.settings.models import ChooseC, Embed, GrowTrees, Project, Train, TrainLabels, TuneDecoder
from ovaflow.training.shard_job import train_model
from ovaflow.tuning.cost import choose_C


@dataclass(kw_only=True, eq=False, repr=False)
class OneVsAllClassifier(LabelClassifier):
    """One-vs-all: DiSMEC's problems, solved exactly, with a good start.

    Parameters have the names and, but for ``normalize``, the defaults of the config file; see
    docs/reference/config.md for their legal values. Those of :class:`LabelClassifier` come on top.

    Parameters
    ----------
    C : float or "auto"
        Weight of the loss against the regularisation; auto: the best on held-out training instances.
    loss : str
        ``"squared-hinge"``, or ``"logistic"``, which needs a larger C, 10 to 100.
    regularization : str
        Penalty on the weights: ``"l2"``, or ``"l1"``, which leaves few weights per label.
    weighting : str
        ``"propensity"`` gives positives of rare labels, which annotators miss most often, more weight.
    epsilon : float or "auto"
        Relative gradient norm at which the solver stops; auto: 0.01, up to 0.1 for labels of few positives.
    initialization : str
        Where the solver starts: ``"zero"``, ``"bias"``, ``"all-negative"``, ``"label-tree"``,
        ``"mean-separating"`` or ``"pretrained"``.
    s, t : float
        Mean-separating start: scores of the means of the positives and of the negatives; None: -2, with the logistic
        loss -3.
    bias_lambda : float
        Bias start: every score starts at minus this.
    root_epsilon : float
        All-negative and label-tree starts: relative gradient norm at which solving the root stops early.
    pretrained : path-like or Model, optional
        Earlier model for the start of that name: its file, or ``model_`` of a fitted classifier. Labels and features
        are matched by name.
    retrain : str
        Pretrained start: ``"all"`` labels are trained, only ``"changed"`` ones, whose number of positives differs, and
        new ones, or only ``"new"`` ones, which the earlier model lacks. The others keep its weights.
    propensity_a, propensity_b : float
        A and B of the propensities (Jain et al. 2016).
    prune : float
        Smaller weights are dropped; a larger value makes a smaller model.

    Attributes
    ----------
    C_ : float
        C, or what auto chose.
    """

    C: float | Literal["auto"] = 1.0
    loss: str = "squared-hinge"
    regularization: str = "l2"
    weighting: str = "none"
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
    prune: float = 0.01

    def fit(
        self,
        X: Matrix,
        y: Labels,
        label_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        label_features: Callable[[list[str]], Matrix] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train, as :meth:`LabelClassifier.fit` describes it.

        Parameters
        ----------
        X, y, label_names, feature_names, label_features
            As there.
        sample_weight : array_like of float, shape (n,), optional
            What the loss of each instance weighs, at least 0. Names of labels weigh 1.

        Returns
        -------
        self
        """
        return self._fit(X, y, label_names, feature_names, label_features, sample_weight)

    @property
    def C_(self) -> float:
        """C, or what auto chose."""
        check_is_fitted(self, "model_")
        return self.model_.parameters["train"]["C"]

    @property
    def coef_(self) -> sp.csr_array:
        """Weights of the labels: sparse, shape (l, d), without the bias."""
        return self._weights()[:, : self.n_features_in_]

    @property
    def intercept_(self) -> np.ndarray:
        """What the bias adds to each label's score: shape (l,)."""
        weights = self._weights()
        if not self.model_.bias:
            return np.zeros(len(self.classes_), np.float32)
        return self.model_.bias * weights[:, [-1]].toarray().ravel()

    def _weights(self) -> sp.csr_array:
        check_is_fitted(self, "model_")
        assert isinstance(self.model_, OneVsAll)
        return self.model_.weights.to_scipy()

    def _train(self, dataset: Dataset) -> MethodModel:
        train = self._part(Train)
        labels = self._part(TrainLabels).model_copy(update={"stored_threshold": train.stored_threshold})
        if labels.C == "auto":
            chosen = choose_C(dataset, labels, ChooseC(), train.threads)["chosen"]
            labels = labels.model_copy(update={"C": chosen})
        return train_model(dataset, labels, train.prune, train.threads, self._earlier(dataset, labels))

    def _earlier(self, dataset: Dataset, labels: TrainLabels) -> Any:
        if labels.initialization != "pretrained":
            return None
        model: Any = self.pretrained
        if self.rerank and labels.retrain != "all":
            raise ValueError("rerank needs retrain='all'; kept weights may have seen held-out instances")
        if model is None:
            raise ValueError("initialization='pretrained' needs pretrained: a path, or model_ of a fitted classifier")
        if not isinstance(model, OneVsAll):
            model = OneVsAll.open(model)
        require_same_problem(model, labels)
        return match_model(model, dataset)

    @classmethod
    def _settings_of(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        settings = super()._settings_of(parameters) | {"prune": parameters.get("prune", 0.0)}
        # its weights are here; what it started from is not
        return settings | ({"initialization": "mean-separating"} if settings["initialization"] == "pretrained" else {})


@dataclass(kw_only=True, eq=False, repr=False)
class FastXMLClassifier(LabelClassifier):
    """FastXML (Prabhu and Varma 2014): trees that divide the instances by sparse separators.

    Parameters have the names and, but for ``normalize``, the defaults of the config file; see
    docs/reference/config.md for their legal values. Those of :class:`LabelClassifier` come on top. The score of a label
    is the mean of its shares in the leaves, and the decision function is that score minus 1/2.

    Parameters
    ----------
    trees : int
        Number of trees; half as many cost little quality.
    max_leaf : int
        Nodes with at most this many instances are not split.
    leaf_labels : int
        Number of labels kept per leaf.
    C_delta : float
        Weight of the separators' losses; larger: denser separators; 0.3 for texts.
    C_r : float
        Weight of the rankings; matters only with several updates.
    balanced : bool
        Divide C_delta of each side by its share of the node's instances.
    objective : str
        Ranking measure that chooses the sides of a node: ``"nDCG"``, ``"nDCG@5"`` or ``"P@5"``.
    updates : int
        How often each node fits its sides and then its separator.
    outer_iterations : int
        Maximum number of Newton steps per separator.
    inner_iterations : int
        Maximum number of passes over the features per Newton step.
    seed : int
        Seed of all random draws.
    weighting : str
        ``"propensity"`` counts rare labels, which annotators miss most often, more.
    propensity_a, propensity_b : float
        A and B of the propensities (Jain et al. 2016).
    """

    trees: int = 50
    max_leaf: int = 10
    leaf_labels: int = 20
    C_delta: float = 1.0
    C_r: float = 1.0
    balanced: bool = True
    objective: str = "nDCG"
    updates: int = 1
    outer_iterations: int = 10
    inner_iterations: int = 10
    seed: int = 0
    weighting: str = "none"
    propensity_a: float = 0.55
    propensity_b: float = 1.5

    method = FASTXML
    neutral = 0.5

    def _train(self, dataset: Dataset) -> MethodModel:
        return train_forest(dataset, self._part(GrowTrees), self._part(Train).threads)


@dataclass(kw_only=True, eq=False, repr=False)
class RembrandtClassifier(LabelClassifier):
    """Rembrandt (Mineiro and Karampatziakis 2015): labels embedded in few dimensions, and decoded.

    Parameters have the names and, but for ``normalize``, the defaults of the config file; see
    docs/reference/config.md for their legal values. Those of :class:`LabelClassifier` come on top.

    Parameters
    ----------
    rank : int
        Number of dimensions in which labels are embedded; more: better and slower.
    embedding : str
        ``"rembrandt"``, or a baseline of the paper: ``"compressed-sensing"`` (random), ``"pca"`` (of the features),
        ``"plst"`` (of the labels alone) or ``"none"``.
    oversampling : int
        Extra dimensions while the embedding is computed.
    passes : int
        Subspace iterations that compute the embedding.
    ridge : float or list of float
        Regularisation of the least-squares fits; from a list, the best on held-out instances.
    seed : int
        Seed of all random draws.
    decoder : str
        ``"softmax"``, ``"logistic"`` (a loss for each label) or ``"auto"``: softmax if every instance has one label.
    features : str
        Features of the decoder: ``"linear"``, or random cosine features of a ``"gaussian"`` or ``"laplacian"`` kernel.
    random_features : int
        Number of random features.
    bandwidth : float, optional
        Bandwidth of the kernel; None: chosen on held-out instances.
    decoder_C : float or list of float, optional
        Weight of the losses; from a list, the best on held-out instances; None: 1, kernels 30, softmax 500.
    decoder_epsilon : float
        Logistic decoder: relative gradient norm at which the solver stops.
    held_out : float
        Share of the instances used to choose C and the end of softmax; 0: it is solved to the end.
    """

    rank: int = 100
    embedding: str = "rembrandt"
    oversampling: int = 20
    passes: int = 1
    ridge: float | list[float] = 1.0
    seed: int = 0
    decoder: str = "auto"
    features: str = "linear"
    random_features: int = 4000
    bandwidth: float | None = None
    decoder_C: float | list[float] | None = None
    decoder_epsilon: float = 0.1
    held_out: float = 0.1

    method = REMBRANDT

    def _train(self, dataset: Dataset) -> MethodModel:
        parts = self._part(Embed), self._part(Project), self._part(TuneDecoder)
        return train_embedding_model(dataset, *parts, self._part(Train).threads)

    def _has_one_label(self) -> bool:
        return self.model_.parameters["train"]["decoder"] == SOFTMAX

    @classmethod
    def _settings_of(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        train = parameters["train"]
        given = {"decoder_C": train.get("C"), "decoder_epsilon": train.get("epsilon")}
        return super()._settings_of(parameters) | {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class precision_at_k_scorer:
    """P@k as ``scoring`` of ``GridSearchCV`` and ``cross_val_score``.

    Parameters
    ----------
    k : int
        Labels that are looked at, those of the highest scores.
    """

    k: int = 1

    def __call__(self, estimator: Any, X: Matrix, Y: Labels) -> float:
        """P@k of a fitted estimator.

        Parameters
        ----------
        estimator : LabelClassifier
            Or a pipeline that ends with one.
        X : array_like, shape (n, d)
            What the estimator takes.
        Y : array_like, sparse matrix, or sequence of sequences
            True labels.

        Returns
        -------
        float
            Share of true labels among the first k.
        """
        steps = getattr(estimator, "steps", None)
        if steps is not None:
            X, estimator = estimator[:-1].transform(X), steps[-1][1]
        return estimator.precision_at_k(X, Y, self.k)


@dataclass(frozen=True)
class f1_scorer:
    """F1 as ``scoring`` of ``GridSearchCV`` and ``cross_val_score``, also of lists of labels.

    Parameters
    ----------
    average : str
        ``"micro"``: of all pairs of an instance and a label; ``"macro"`` or ``"weighted"``: mean over the labels;
        ``"samples"``: mean over the instances; as in ``sklearn.metrics.f1_score``.
    """

    average: str = "micro"

    def __call__(self, estimator: Any, X: Matrix, Y: Labels) -> float:
        """F1 of what a fitted estimator predicts.

        Parameters
        ----------
        estimator : LabelClassifier
            Or a pipeline that ends with one.
        X : array_like, shape (n, d)
            What the estimator takes.
        Y : array_like, sparse matrix, or sequence of sequences
            True labels, in the form that :meth:`fit` was given.

        Returns
        -------
        float
            Lists: of the labels that are true or predicted for an instance, also of those that no training
            instance has.
        """
        return float(f1_score(*as_indicators(Y, estimator.predict(X)), average=self.average))
