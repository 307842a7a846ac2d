"""A trained and evaluated model: a folder of results, whose files are read when they are asked for."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.measured import EvaluatedPredictions, resample_metrics
from ovaflow.evaluation.metric import is_metric, list_order_metrics
from ovaflow.evaluation.ranking import Ranked
from ovaflow.model.model_file import Model, ModelHeader, open_any_model
from ovaflow.model.training_file import Training
from ovaflow.prediction.predictions import Predictions, attach_second_stage
from ovaflow.prediction.predictor import Predictor
from ovaflow.results.settings_in_words import describe_prediction_settings, describe_settings
from ovaflow.settings import paths
from ovaflow.storage.texts import read_json


class ComparedRuns(Protocol):
    """The runs that a run is compared with, itself among them."""

    @property
    def folder(self) -> Path: ...

    @property
    def documents(self) -> Dataset: ...

    @property
    def series(self) -> dict[str, int]: ...

    def describe_differences(self, run: "Run") -> str: ...

    def first_run_of_training(self, run: "Run") -> "Run": ...


@dataclass(frozen=True, eq=False)
class Run:
    """The folder results/DATASET/RUN; a file that is missing, damaged or of another model is
    refused when it is read.

    A file that not every run has reads as None or empty where it is missing.
    """

    path: Path
    beside: ComparedRuns

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def folder(self) -> str:
        """Its folder as a command line has it."""
        return os.path.relpath(self.path)

    @property
    def dataset(self) -> Dataset:
        """Its dataset, without names of labels among the training instances."""
        return self.beside.documents

    @property
    def model_path(self) -> Path:
        return self.path / "model.h5"

    @cached_property
    def model(self) -> ModelHeader:
        """Header of its model."""
        return ModelHeader.open(self.model_path)

    def open_model(self) -> Model:
        """Open its whole model."""
        return open_any_model(self.model_path)

    def open_predictor(self) -> Predictor:
        """Open what made its predictions."""
        model = self.open_model()
        if self.reranked:
            model = attach_second_stage(model)
            self.predictions.require(reranker=getattr(model, "reranker", model))
        return Predictor(model)

    @property
    def written(self) -> float:
        """Time when its model was written, in seconds since 1970."""
        return self.model_path.stat().st_mtime

    @cached_property
    def predictions(self) -> Predictions:
        opened = Predictions.open(self.path / "predictions.h5", dataset=self.dataset)
        opened.require(model=self.model)
        return opened

    def require(self) -> None:
        """Refuse a run without metrics or predictions, or with those of another model or dataset."""
        _ = self.all_metrics
        _ = self.predictions

    @property
    def reranked(self) -> bool:
        """Whether a second stage made its predictions."""
        return self.predictions.ranking is not None

    @cached_property
    def by_probability(self) -> bool:
        """Whether predictions are the most probable labels, not those for macro-F1."""
        ids = self.predictions.ids
        ranking = self.predictions.ranking
        return ranking is not None and np.array_equal(ids, ranking.ids[:, : ids.shape[1]])

    @cached_property
    def all_metrics(self) -> dict[str, Any]:
        """Content of metrics.json."""
        return read_json(self.path / "metrics.json", "metrics", self.model.checksum)

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """Content of metrics.json that means something: without labels in the test set its zeros do
        not.
        """
        if self.has_test_labels:
            return self.all_metrics
        return {name: value for name, value in self.all_metrics.items() if not is_metric(name)}

    @property
    def has_test_labels(self) -> bool:
        return len(self.dataset.test.Y.indices) > 0

    @property
    def _inverse_propensity(self) -> np.ndarray:
        return self.dataset.inverse_propensity(
            self.all_metrics["propensity_a"], self.all_metrics["propensity_b"]
        )

    @cached_property
    def measured(self) -> EvaluatedPredictions:
        """What it ranks for the test instances, beside their labels."""
        return EvaluatedPredictions.of(
            self.predictions, self.dataset.test.Y, self._inverse_propensity
        )

    @cached_property
    def samples(self) -> dict[str, np.ndarray]:
        """Metrics on samples of the test instances, the same for all runs; empty where no instance
        has labels.
        """
        return self.measured.samples() if self.has_test_labels else {}

    @cached_property
    def first_stage_samples(self) -> dict[str, np.ndarray]:
        """Samples of the order by score, below a second stage; empty without one."""
        ranking = self.predictions.ranking
        if ranking is None or not self.has_test_labels:
            return {}
        first = ranking.first_ids[:, : self.predictions.ids.shape[1]]
        ranked = Ranked(first, self.dataset.test.Y, self._inverse_propensity)
        return resample_metrics(ranked, list_order_metrics(ranked))

    @cached_property
    def on_dev(self) -> "RunOnDev | None":
        """The run with its figures on the dev part; None where there are none."""
        return RunOnDev(self.path, self.beside) if "dev" in self.all_metrics else None

    @cached_property
    def settings(self) -> dict[str, str]:
        """Settings by name, in words: those of the model, and those of the predictions."""
        of_predictions = describe_prediction_settings(self.reliability, self.by_probability)
        return describe_settings(self.model.parameters, self.all_metrics) | of_predictions

    @cached_property
    def training(self) -> Training | None:
        """Statistics of the training."""
        path = self.path / "training.h5"
        return Training.open(path, dataset=self.dataset) if path.exists() else None

    @cached_property
    def trained(self) -> int:
        """Number of labels with a classifier."""
        if self.training is not None and self.training.statistics:
            return int(np.count_nonzero(self.training.statistics["positives"]))
        return self.model.n_trained

    @property
    def same_training_run(self) -> "Run | None":
        """The first run of the same training, if it is another."""
        first = self.beside.first_run_of_training(self)
        return None if first.name == self.name else first

    @property
    def training_seconds(self) -> float | None:
        """Processor time of the training; one time for all runs that trained the same."""
        return (self.same_training_run or self).all_metrics.get("train_seconds")

    @property
    def training_memory(self) -> int | None:
        """Peak memory of the largest training job in bytes."""
        return (self.same_training_run or self).all_metrics.get("train_peak_rss_bytes")

    @property
    def predict_milliseconds(self) -> float | None:
        """Wall time of scoring a test instance."""
        seconds = self.all_metrics.get("predict_seconds")
        instances = self.all_metrics.get("instances")
        return 1000 * seconds / instances if seconds is not None and instances else None

    @property
    def series(self) -> int | None:
        """Its number among the runs in figures, for colour and marker; None where it is not shown
        there.
        """
        return self.beside.series.get(self.name)

    @property
    def summary(self) -> str:
        """What tells it from the runs beside it."""
        return self.beside.describe_differences(self)

    @cached_property
    def analysis(self) -> dict[str, Any]:
        """Content of analysis.json."""
        return self._about_model("analysis.json", "analysis")

    @cached_property
    def folds(self) -> dict[str, Any]:
        """Joined metrics of its folds."""
        return self._about_model("folds.json", "folds")

    def _about_model(self, name: str, kind: str) -> dict[str, Any]:
        """Read a file about the model; empty where there is none, or it is about another model."""
        path = self.path / name
        content = read_json(path, kind) if path.exists() else {}
        return content if content.get("model") == self.model.checksum else {}

    @cached_property
    def reliability(self) -> dict[str, Any]:
        """Content of reliability.json; empty where it is about other predictions, or no test label
        is known.
        """
        path = self.path / "reliability.json"
        if not (path.exists() and self.has_test_labels):
            return {}
        content = read_json(path, "reliability")
        return content if self.predictions.inputs.get("reranker") == content["reranker"] else {}

    @cached_property
    def choice_of_pruning(self) -> dict[str, Any]:
        """What ``prune: auto`` compared; empty where the model is not of that choice."""
        path = self.path / Path(paths.CHOSEN_PRUNE).name
        content = read_json(path, "prune") if path.exists() else {}
        return (
            content if content and content["chosen"] == self.model.parameters.get("prune") else {}
        )

    @cached_property
    def _read(self) -> dict[Callable, Any]:
        return {}

    def read(self, reader: Callable[[Self], Any]) -> Any:
        """Return what a section's function reads of the run, which is read once."""
        if reader not in self._read:
            self._read[reader] = reader(self)
        return self._read[reader]


class RunOnDev(Run):
    """A run with its figures on the dev part."""

    @cached_property
    def metrics(self) -> dict[str, Any]:
        return super().metrics | self.all_metrics["dev"]

    @cached_property
    def samples(self) -> dict[str, np.ndarray]:
        dev = self.dataset.dev
        predicted = self.predictions.dev
        if dev is None or predicted is None:
            return {}
        return EvaluatedPredictions.of(predicted, dev.Y, self._inverse_propensity).samples()
