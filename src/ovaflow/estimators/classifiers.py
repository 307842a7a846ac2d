"""The three classifiers, and P@k for model selection."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ovaflow.data.dataset import Dataset
from ovaflow.estimators.base import LabelClassifier, Parameter
from ovaflow.estimators.labels import Labels, Matrix
from ovaflow.fastxml.merging import train_forest
from ovaflow.fastxml.model_file import METHOD as FASTXML
from ovaflow.initialization.pretrained import match_model, require_same_problem
from ovaflow.model.model_file import Model, ModelFile, open_model
from ovaflow.rembrandt.joining import train_embedding_model
from ovaflow.rembrandt.model_file import METHOD as REMBRANDT
from ovaflow.rembrandt.projection import SOFTMAX
from ovaflow.settings.models import ChooseC, Embed, GrowTrees, Project, Rembrandt, Train, TrainLabels, TuneDecoder
from ovaflow.settings.steps import STEPS
from ovaflow.training.shard_job import train_model
from ovaflow.tuning.cost import choose_C


class OneVsAllClassifier(LabelClassifier):
    """One-vs-all: DiSMEC's problems, solved exactly, with a good start.

    Settings have the names and the defaults of the config file; see docs/reference/config.md.
    """

    settings = (
        (TrainLabels, tuple(name for name in STEPS["train-shard"].reads if name != "stored_threshold")),
        (Train, ("prune",)),
    )
    own: ClassVar = {
        "pretrained": Parameter(
            None,
            "path-like or Model, optional",
            "earlier model for the start of that name: its file, or model_ of a fitted classifier; labels and features "
            "are found by name",
        )
    }

    def _train(self, dataset: Dataset) -> ModelFile:
        train = self._part(Train)
        labels = self._part(TrainLabels).model_copy(update={"stored_threshold": train.stored_threshold})
        if labels.C == "auto":
            chosen = choose_C(dataset, labels, ChooseC(), train.threads)["chosen"]
            labels = labels.model_copy(update={"C": chosen})
        return train_model(dataset, labels, train.prune, train.threads, self._earlier(dataset, labels))

    def _earlier(self, dataset: Dataset, labels: TrainLabels) -> Any:
        if labels.initialization != "pretrained":
            return None
        model: Any = getattr(self, "pretrained", None)
        if model is None:
            raise ValueError("initialization='pretrained' needs pretrained: a path, or model_ of a fitted classifier")
        model = model if isinstance(model, Model) else open_model(model)
        require_same_problem(model, labels)
        return match_model(model, dataset)

    @classmethod
    def _settings_of(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        settings = super()._settings_of(parameters) | {"prune": parameters.get("prune", 0.0)}
        # its weights are here; what it started from is not
        return settings | ({"initialization": "mean-separating"} if settings["initialization"] == "pretrained" else {})


class FastXMLClassifier(LabelClassifier):
    """FastXML (Prabhu and Varma 2014): trees that divide the instances by sparse separators.

    Settings have the names and the defaults of the config file; see docs/reference/config.md. Scores of labels are the
    means of their shares in the leaves, of which the decision function is the part above 1/2.
    """

    method = FASTXML
    neutral = 0.5
    settings = ((GrowTrees, tuple(GrowTrees.model_fields)),)

    def _train(self, dataset: Dataset) -> ModelFile:
        return train_forest(dataset, self._part(GrowTrees), self._part(Train).threads)


class RembrandtClassifier(LabelClassifier):
    """Rembrandt (Mineiro and Karampatziakis 2015): labels embedded in few dimensions, and decoded.

    Settings have the names and the defaults of the config file; see docs/reference/config.md.
    """

    method = REMBRANDT
    settings = ((Rembrandt, tuple(Rembrandt.model_fields)),)

    def _train(self, dataset: Dataset) -> ModelFile:
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
