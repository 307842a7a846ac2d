"""Settings of training and measuring a one-vs-all model, and of choosing its C."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ovaflow.registry import ONE_VS_ALL
from ovaflow.settings.prepare import AutoCandidates, Comparison, make_candidates_validator
from ovaflow.settings.section import (
    SEED_SETTING,
    WEIGHTING_SETTING,
    AboveZero,
    AtLeastZero,
    ClassWeight,
    Positive,
    Scope,
    Section,
    Weighting,
    setting,
)


def make_start_scope(words: str, *starts: str) -> Scope:
    """Make the scope of sections whose solver starts in one of some ways."""
    return Scope(words, lambda section: section.initialization in starts)


# labels that an earlier model lacks start mean-separating
_MEAN_SEPARATING = make_start_scope("mean-separating start", "mean-separating", "pretrained")
_FROM_ROOT = make_start_scope("all-negative and label-tree starts", "all-negative", "label-tree")
DEFAULT_NEGATIVE_SCORES = {"squared-hinge": -2.0, "logistic": -3.0}
"""Default of t by loss: mean score of the negatives in the mean-separating start (MSI, sec. 4)."""
STORED_THRESHOLD = 0.01
"""Shards keep all weights of at least this size, so that pruning more needs no training."""
DEFAULT_THRESHOLD = 0.05
"""``prune: auto`` without held-out instances, for instances of length 1."""
Threshold = AtLeastZero | Literal["auto"]
PRUNE_SETTING = setting(
    "auto",
    "drop weights smaller than this; a larger value makes a smaller model; auto: as large as costs "
    "at most a tenth of a point on the instances held out for the second stage, without these "
    f"{DEFAULT_THRESHOLD}",
)
Initialization = Literal[
    "zero", "bias", "all-negative", "label-tree", "mean-separating", "pretrained"
]
# fields that several sections have
INITIALIZATION_SETTING = setting("mean-separating", "where the solver starts")


class Propensities(Section):
    """Settings of the probability that a true label was observed."""

    propensity_a: float = setting(
        0.55,
        "A of the propensities (Jain et al. 2016); 0.5 for Wikipedia, 0.6 for Amazon data",
        gt=0,
    )
    propensity_b: float = setting(
        1.5,
        "B of the propensities (Jain et al. 2016); 0.4 for Wikipedia, 2.6 for Amazon data",
        ge=0,
    )


class Evaluate(Propensities):
    """From predictions to metrics."""

    folds: Literal[0] | Annotated[int, Field(ge=2, le=100)] | None = setting(
        0,
        "parts of the training instances in a cross-validation: each run is also trained without "
        "each of them and measured on it, so 5 take about five times as long; 0: none",
    )


def unused_propensities(weighting: str) -> tuple[str, ...]:
    """Return the settings of propensities that a weighting does not need."""
    return () if weighting == "propensity" else tuple(Propensities.model_fields)


class Solve(Section):
    """The problem of each label, where its solution starts and when it ends."""

    C: AboveZero | Literal["auto"] = setting(
        1.0,
        "weight of the loss against the regularization; auto: the best on held-out training "
        "instances",
    )
    loss: Literal["squared-hinge", "logistic"] = setting(
        "squared-hinge", "loss function; logistic needs a larger C, 10 to 100"
    )
    regularization: Literal["l2", "l1"] = setting(
        "l2",
        "penalty on the weights; l2: their squares; l1: their absolute values, which leaves few "
        "weights per label",
    )
    weighting: Weighting = WEIGHTING_SETTING
    class_weight: ClassWeight = setting(
        None,
        "balanced: positives and negatives of each label weigh the same altogether, as in "
        "scikit-learn's classifiers",
        null="all instances weigh alike",
    )
    epsilon: Annotated[float, Field(gt=0, le=100)] | Literal["auto"] = setting(
        "auto",
        "relative gradient norm at which the solver stops; auto: 0.01, up to 0.1 for labels of few "
        "positives",
    )
    s: float = setting(1.0, "score of the mean of the positives", where=_MEAN_SEPARATING)
    t: float | None = setting(
        None,
        "score of the mean of the negatives",
        where=_MEAN_SEPARATING,
        null="-2, with the logistic loss -3",
    )
    bias_lambda: float = setting(
        2.0, "every score starts at minus this", where=make_start_scope("bias start", "bias"), gt=0
    )
    root_epsilon: float = setting(
        0.01,
        "relative gradient norm at which solving the root stops early",
        where=_FROM_ROOT,
        gt=0,
        lt=1,
    )
    retrain: Literal["all", "changed", "new"] = setting(
        "all",
        "labels to train; the others keep the earlier model's weights; "
        "changed: those whose number of positives differs, and new ones; new: those that the model "
        "lacks",
        where=make_start_scope("pretrained start", "pretrained"),
    )

    @property
    def weighting_conflict(self) -> str:
        """Complaint if both weighting and class_weight set weights of positives; else empty."""
        if self.class_weight is None or self.weighting == "none":
            return ""
        return (
            f"weighting: {self.weighting} and class_weight: {self.class_weight} exclude each other"
        )

    @property
    def negative_score(self) -> float:
        """``t``, by default that of the loss."""
        return DEFAULT_NEGATIVE_SCORES[self.loss] if self.t is None else self.t


class Train(Solve):
    """From a dataset to a model."""

    prune: Threshold = PRUNE_SETTING
    shards: Annotated[int, Field(ge=1, le=100_000)] | Literal["auto"] = setting(
        "auto",
        "number of training jobs that a run is divided into; auto: by the size of files, one for "
        "each 8 MB of texts",
    )
    threads: Positive = setting(1, "threads of each of these jobs; results do not depend on it")

    @property
    def stored_threshold(self) -> float:
        """Size of the smallest weights that shards store."""
        if self.prune == "auto":
            return STORED_THRESHOLD
        return min(self.prune, STORED_THRESHOLD)


class TrainLabels(Propensities, Solve):
    """Settings of the training of labels."""

    initialization: Initialization = INITIALIZATION_SETTING
    stored_threshold: float = setting(
        STORED_THRESHOLD, "shards drop weights smaller than this", ge=0
    )
    reference: bool = setting(False, "use the plain solver, one label at a time")

    @model_validator(mode="after")
    def _require_one_weighting(self) -> Self:
        if self.weighting_conflict:
            raise ValueError(self.weighting_conflict)
        return self

    @property
    def needs_root(self) -> bool:
        """True if the start needs the solution of the problem without positives."""
        return _FROM_ROOT.holds(self)

    @property
    def needs_tree(self) -> bool:
        """True if the start needs the label tree."""
        return self.initialization == "label-tree"

    @property
    def relevant(self) -> dict[str, Any]:
        """Settings that the weights depend on, given the others."""
        unused = self.irrelevant_settings
        if self.class_weight is None:
            unused.add("class_weight")
        settings = self._exclude(*unused, *unused_propensities(self.weighting))
        if "t" in settings:
            settings["t"] = self.negative_score
        return settings

    @property
    def recorded(self) -> dict[str, Any]:
        """The relevant settings with the method, as artifacts record them."""
        return {"method": ONE_VS_ALL} | self.relevant


class SampleLabels(TrainLabels):
    """Settings of the training of a sample of the labels."""

    sample: int = setting(300, "approximate size of the sample of labels", ge=2)
    prune: Threshold = PRUNE_SETTING
    seed: int = SEED_SETTING

    @property
    def smallest_kept_weight(self) -> float:
        """Size of the smallest weights that a model may keep."""
        return STORED_THRESHOLD if self.prune == "auto" else self.prune

    @property
    def training(self) -> TrainLabels:
        """Settings of the training of its labels."""
        settings = self.model_dump(include=set(TrainLabels.model_fields))
        settings["stored_threshold"] = Train(prune=self.prune).stored_threshold
        return TrainLabels.model_validate(settings)


class ChooseC(Comparison, TrainLabels):
    """Settings of the choice of C."""

    candidates: Annotated[list[AboveZero], make_candidates_validator("C")] = setting(
        AutoCandidates().C, "values of C to compare"
    )
