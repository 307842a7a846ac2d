"""One exact linear classifier for each label."""

from typing import Any

from ovaflow.configuration.problems import stored_threshold
from ovaflow.configuration.schema import Evaluate, Prepare, Train
from ovaflow.console.errors import StrPath
from ovaflow.data.dataset import Dataset
from ovaflow.estimators.base import LabelClassifier
from ovaflow.initialization.pretrained import match_model, require_same_problem
from ovaflow.model.model_file import ONE_VS_ALL, Model, ModelFile, open_model
from ovaflow.training.in_memory import train_model
from ovaflow.training.label_jobs import Training

_TRAIN = (
    "C",
    "loss",
    "regularization",
    "weighting",
    "epsilon",
    "prune",
    "s",
    "t",
    "bias_lambda",
    "root_epsilon",
    "retrain",
    "threads",
)
_PROPENSITY = ("propensity_a", "propensity_b")


class OneVsAllClassifier(LabelClassifier):
    """One-vs-all: DiSMEC's problems, solved exactly, with a good start.

    Settings have the names and the defaults of the config file; see docs/reference/config.md.

    Parameters
    ----------
    initialization : str
        Starting point: ``"mean-separating"``, ``"zero"``, ``"bias"``, ``"all-negative"``, ``"label-tree"`` or
        ``"pretrained"``.
    C : float
        Weight of the loss against the regularisation.
    loss : str
        ``"squared-hinge"`` or ``"logistic"``.
    regularization : str
        ``"l2"`` or ``"l1"``.
    weighting : str
        ``"none"`` or ``"propensity"``.
    epsilon : float
        Relative gradient norm at which the solver stops.
    prune : float
        Smaller weights are dropped.
    s, t : float
        Mean-separating start: scores of the means of positives and negatives; without t, what suits the loss.
    bias_lambda : float
        Bias start: every score, negated.
    root_epsilon : float
        All-negative and label-tree starts: relative gradient norm at which the root is stopped early.
    propensity_a, propensity_b : float
        Constants of the propensities.
    pretrained : path-like or Model, optional
        Earlier model for the start of that name: its file, or ``model_`` of a fitted classifier. Labels and features
        are found by name.
    retrain : str
        Pretrained start: labels that are trained, ``"all"``, ``"changed"`` (another number of positives) or ``"new"``;
        the others keep the earlier model's weights.
    bias : float
        Value of the bias feature; 0: none.
    normalize : bool
        Scale each instance to length 1, as the config does by default. ``TfidfVectorizer`` has done so already.
    threads : int
        They change no result.
    verbose : bool
        Tell how far the training is.
    """

    method = ONE_VS_ALL

    def __init__(
        self,
        *,
        initialization: str = "mean-separating",
        C: float = 1.0,
        loss: str = "squared-hinge",
        regularization: str = "l2",
        weighting: str = "none",
        epsilon: float = 0.01,
        prune: float = 0.01,
        s: float = 1.0,
        t: float | None = None,
        bias_lambda: float = 2.0,
        root_epsilon: float = 0.01,
        propensity_a: float = 0.55,
        propensity_b: float = 1.5,
        pretrained: StrPath | Model | None = None,
        retrain: str = "all",
        bias: float = 1.0,
        normalize: bool = False,
        threads: int = 1,
        verbose: bool = False,
    ) -> None:
        self.initialization = initialization
        self.C = C
        self.loss = loss
        self.regularization = regularization
        self.weighting = weighting
        self.epsilon = epsilon
        self.prune = prune
        self.s = s
        self.t = t
        self.bias_lambda = bias_lambda
        self.root_epsilon = root_epsilon
        self.propensity_a = propensity_a
        self.propensity_b = propensity_b
        self.pretrained = pretrained
        self.retrain = retrain
        self.bias = bias
        self.normalize = normalize
        self.threads = threads
        self.verbose = verbose

    def _train(self, dataset: Dataset) -> ModelFile:
        train = self._settings(Train, _TRAIN)
        self._settings(Prepare, ("bias", "normalize"))
        propensities = self._settings(Evaluate, _PROPENSITY).model_dump()
        given = train.model_dump(exclude={"prune", "threads", "shards", "trace"}) | propensities
        training = Training(self.initialization, stored_threshold=stored_threshold(train), **given)
        return train_model(dataset, training, train.prune, train.threads, self._earlier(dataset, training))

    def _earlier(self, dataset: Dataset, training: Training) -> Any:
        if self.initialization != "pretrained":
            return None
        if self.pretrained is None:
            raise ValueError("initialization='pretrained' needs pretrained: a path, or model_ of a fitted classifier")
        model = self.pretrained if isinstance(self.pretrained, Model) else open_model(self.pretrained)
        require_same_problem(model, training)
        return match_model(model, dataset)

    @classmethod
    def _settings_of(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        settings = super()._settings_of(parameters) | {"prune": parameters.get("prune", 0.0)}
        # its weights are here; what it started from is not
        return settings | ({"initialization": "mean-separating"} if settings["initialization"] == "pretrained" else {})
