"""One exact linear classifier for each label."""

from typing import Any, ClassVar

from ovaflow.data.dataset import Dataset
from ovaflow.estimators.base import LabelClassifier
from ovaflow.initialization.pretrained import match_model, require_same_problem
from ovaflow.model.model_file import ONE_VS_ALL, Model, ModelFile, open_model
from ovaflow.settings.models import Train, TrainLabels
from ovaflow.settings.steps import STEPS
from ovaflow.training.shard_job import train_model


class OneVsAllClassifier(LabelClassifier):
    """One-vs-all: DiSMEC's problems, solved exactly, with a good start.

    Settings have the names and the defaults of the config file; see docs/reference/config.md.
    """

    method = ONE_VS_ALL
    settings = (
        (TrainLabels, tuple(name for name in STEPS["train-shard"].reads if name != "stored_threshold")),
        (Train, ("prune",)),
    )
    own: ClassVar = {
        "pretrained": (
            None,
            "path-like or Model, optional",
            "earlier model for the start of that name: its file, or model_ of a fitted classifier; labels and features "
            "are found by name",
        )
    }

    def _train(self, dataset: Dataset) -> ModelFile:
        train = self._part(Train)
        labels = self._part(TrainLabels).model_copy(update={"stored_threshold": train.stored_threshold})
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
