"""A trained and evaluated model: a folder of results, whose files are read on demand."""

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
    """The runs with which a run is compared, including itself."""

    @property
    def folder(self) -> Path:
        """The folder of their dataset."""

    @property
    def documents(self) -> Dataset:
        """The dataset without names of labels among the training instances."""

    @property
    def series(self) -> dict[str, int]:
        """Numbers of the runs that figures show, by name."""

    def describe_differences(self, run: "Run") -> str:
        """Describe a run by the settings that differ between runs."""

    def first_run_of_training(self, run: "Run") -> "Run":
        """Return the first run of the same training."""


@dataclass(frozen=True, eq=False)
class Run:
    """A run: the folder results/DATASET/RUN.

    Its files are read when they are needed. A file that is missing, damaged or of another model
    raises an InputError then; one that not every run has is None or empty where it is missing.
    """

    folder: Path
    compared_runs: ComparedRuns

    @property
    def name(self) -> str:
        """Name of the run."""
        return self.folder.name

    @property
    def relative_folder(self) -> str:
        """Its folder relative to the working directory, for command lines."""
        return os.path.relpath(self.folder)

    @property
    def dataset(self) -> Dataset:
        """The dataset, without names of labels among the training instances."""
        return self.compared_runs.documents

    @property
    def model_path(self) -> Path:
        """Path of its model."""
        return self.folder / "model.h5"

    @cached_property
    def model(self) -> ModelHeader:
        """Header of its model."""
        return ModelHeader.open(self.model_path)

    def open_model(self) -> Model:
        """Open its complete model."""
        return open_any_model(self.model_path)

    def open_predictor(self) -> Predictor:
        """Open the predictor that made its predictions."""
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
        """Its predictions of the test set."""
        opened = Predictions.open(self.folder / "predictions.h5", dataset=self.dataset)
        opened.require(model=self.model)
        return opened

    def require(self) -> None:
        """Raise an InputError without metrics or predictions of this model and dataset."""
        _ = self.all_metrics
        _ = self.predictions

    @property
    def reranked(self) -> bool:
        """True if a second stage made its predictions."""
        return self.predictions.ranking is not None

    @cached_property
    def by_probability(self) -> bool:
        """True if predictions are the most probable labels, False if those for macro-F1."""
        ids = self.predictions.ids
        ranking = self.predictions.ranking
        return ranking is not None and np.array_equal(ids, ranking.ids[:, : ids.shape[1]])

    @cached_property
    def all_metrics(self) -> dict[str, Any]:
        """Content of metrics.json."""
        return read_json(self.folder / "metrics.json", "metrics", self.model.checksum)

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """Content of metrics.json, without metrics if no test instance has labels."""
        if self.has_test_labels:
            return self.all_metrics
        return {name: value for name, value in self.all_metrics.items() if not is_metric(name)}

    @property
    def has_test_labels(self) -> bool:
        """True if some test instance has labels."""
        return len(self.dataset.test.Y.indices) > 0

    @property
    def _inverse_propensity(self) -> np.ndarray:
        return self.dataset.inverse_propensity(
            self.all_metrics["propensity_a"], self.all_metrics["propensity_b"]
        )

    @cached_property
    def measured(self) -> EvaluatedPredictions:
        """Its ranked labels of the test instances, with the true labels."""
        return EvaluatedPredictions.from_predictions(
            self.predictions, self.dataset.test.Y, self._inverse_propensity
        )

    @cached_property
    def samples(self) -> dict[str, np.ndarray]:
        """Metrics on samples of the test instances; empty if no instance has labels.

        The samples are the same for all runs.
        """
        if not self.has_test_labels:
            return {}
        return self.measured.samples()

    @cached_property
    def first_stage_samples(self) -> dict[str, np.ndarray]:
        """Metrics of the order by score, on samples; empty without a second stage."""
        ranking = self.predictions.ranking
        if ranking is None or not self.has_test_labels:
            return {}
        first = ranking.first_ids[:, : self.predictions.ids.shape[1]]
        ranked = Ranked(first, self.dataset.test.Y, self._inverse_propensity)
        return resample_metrics(ranked, list_order_metrics(ranked))

    @cached_property
    def on_dev(self) -> "RunOnDev | None":
        """The run with its metrics on the dev part; None without any."""
        if "dev" not in self.all_metrics:
            return None
        return RunOnDev(self.folder, self.compared_runs)

    @cached_property
    def settings(self) -> dict[str, str]:
        """Settings by name, in words: those of the model, and those of the predictions."""
        of_model = describe_settings(self.model.parameters, self.all_metrics)
        return of_model | describe_prediction_settings(
            self.reliability, by_probability=self.by_probability
        )

    @cached_property
    def training(self) -> Training | None:
        """Statistics of the training; None where there are none."""
        path = self.folder / "training.h5"
        if not path.exists():
            return None
        return Training.open(path, dataset=self.dataset)

    @cached_property
    def n_trained(self) -> int:
        """Number of labels with a classifier."""
        if self.training is not None and self.training.statistics:
            return int(np.count_nonzero(self.training.statistics["positives"]))
        return self.model.n_trained

    @property
    def same_training_run(self) -> "Run | None":
        """The first run of the same training; None if that is this run."""
        first = self.compared_runs.first_run_of_training(self)
        if first.name == self.name:
            return None
        return first

    @property
    def training_seconds(self) -> float | None:
        """Processor time of the training, in seconds.

        All runs of the same training have the time of the first one.
        """
        return (self.same_training_run or self).all_metrics.get("train_seconds")

    @property
    def training_memory(self) -> int | None:
        """Peak memory of the largest training job, in bytes."""
        return (self.same_training_run or self).all_metrics.get("train_peak_rss_bytes")

    @property
    def predict_milliseconds(self) -> float | None:
        """Wall time of scoring a test instance, in milliseconds."""
        seconds = self.all_metrics.get("predict_seconds")
        instances = self.all_metrics.get("instances")
        if seconds is None or not instances:
            return None
        return 1000 * seconds / instances

    @property
    def series(self) -> int | None:
        """Its number among the runs in figures, for colour and marker; None if not among them."""
        return self.compared_runs.series.get(self.name)

    @property
    def summary(self) -> str:
        """The settings in which it differs from the other runs, in words."""
        return self.compared_runs.describe_differences(self)

    @cached_property
    def analysis(self) -> dict[str, Any]:
        """Content of analysis.json; empty if it is missing or of another model."""
        return self._read_file_of_model("analysis.json", "analysis")

    @cached_property
    def folds(self) -> dict[str, Any]:
        """Joined metrics of its folds; empty if they are missing or of another model."""
        return self._read_file_of_model("folds.json", "folds")

    def _read_file_of_model(self, name: str, kind: str) -> dict[str, Any]:
        """Read a file about the model; empty if it is missing or of another model."""
        path = self.folder / name
        if not path.exists():
            return {}
        content = read_json(path, kind)
        if content.get("model") != self.model.checksum:
            return {}
        return content

    @cached_property
    def reliability(self) -> dict[str, Any]:
        """Content of reliability.json; empty if it is of other predictions.

        Also empty if no test instance has labels.
        """
        path = self.folder / "reliability.json"
        if not (path.exists() and self.has_test_labels):
            return {}
        content = read_json(path, "reliability")
        if self.predictions.inputs.get("reranker") != content["reranker"]:
            return {}
        return content

    @cached_property
    def choice_of_pruning(self) -> dict[str, Any]:
        """The points that ``prune: auto`` compared; empty if it did not choose this model."""
        path = self.folder / Path(paths.CHOSEN_PRUNE).name
        if not path.exists():
            return {}
        content = read_json(path, "prune")
        if not content or content["chosen"] != self.model.parameters.get("prune"):
            return {}
        return content

    @cached_property
    def _contents(self) -> dict[Callable, Any]:
        """Results of :meth:`read`, by function."""
        return {}

    def read(self, reader: Callable[[Self], Any]) -> Any:
        """Return the result of a section's function of the run, which is called only once.

        The function reads a file of the run, or computes what several sections show.
        """
        if reader not in self._contents:
            self._contents[reader] = reader(self)
        return self._contents[reader]


class RunOnDev(Run):
    """A run with its metrics on the dev part."""

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """Metrics of the run, those on the dev part in place of those on the test set."""
        return super().metrics | self.all_metrics["dev"]

    @cached_property
    def samples(self) -> dict[str, np.ndarray]:
        """Metrics on samples of the dev instances; empty without predictions of them."""
        dev = self.dataset.dev
        predicted = self.predictions.dev
        if dev is None or predicted is None:
            return {}
        return EvaluatedPredictions.from_predictions(
            predicted, dev.Y, self._inverse_propensity
        ).samples()
