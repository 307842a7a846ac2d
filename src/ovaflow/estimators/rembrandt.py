"""Embedded labels."""

from typing import Any

from ovaflow.data.dataset import Dataset
from ovaflow.estimators.base import LabelClassifier
from ovaflow.model.model_file import ModelFile
from ovaflow.rembrandt.joining import train_embedding_model
from ovaflow.rembrandt.model_file import METHOD
from ovaflow.rembrandt.projection import SOFTMAX
from ovaflow.settings.models import Embed, Project, Rembrandt, Train, TuneDecoder


class RembrandtClassifier(LabelClassifier):
    """Rembrandt (Mineiro and Karampatziakis 2015): labels embedded in few dimensions, and decoded.

    Settings have the names and the defaults of the config file; see docs/reference/config.md.
    """

    method = METHOD
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
