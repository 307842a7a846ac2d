"""Read the artifacts of all runs and compute what the page shows."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.ranking import find_hits
from ovaflow.model.model_file import KIND as MODEL
from ovaflow.model.training_file import read_training
from ovaflow.prediction.predictions_file import read_predictions
from ovaflow.report import examples, frequency
from ovaflow.report.calibrations import CalibrationOfRun, read_calibration_of
from ovaflow.report.card import Card, make_card
from ovaflow.report.details import Details, read_details
from ovaflow.report.embeddings import EmbeddingOfRun, read_embedding_of
from ovaflow.report.explained import first_explained, sample_labels
from ovaflow.report.label_trees import read_tree_of
from ovaflow.report.published import results_for
from ovaflow.report.resources import find_benchmarks, read_resources
from ovaflow.report.sweeps import read_sweeps
from ovaflow.report.training import Training, summarise
from ovaflow.report.trees import Trees, read_trees
from ovaflow.storage.artifact import checksum_of, open_artifact, parameters_of

HIDDEN_PARAMETERS = ("transform",)
"""Parameters of a model that the dataset card tells already."""


PROPENSITIES = ("propensity_a", "propensity_b")
"""Settings of the evaluation, kept among the metrics."""

LEADING_PARAMETERS = ("method", "initialization")
"""Parameters that stand before all others."""


@dataclass(frozen=True)
class Run:
    """A trained and evaluated model.

    Attributes
    ----------
    name : str
    series : int
        Its number within the dataset, for its colour.
    metrics : dict
        metrics.json.
    parameters : list of (str, str)
        Settings of the model.
    summary : str
        Method and starting point, in words; empty where not recorded.
    k : int
        Labels predicted for each instance.
    groups, bins : list of Group
        Recall and precision by training frequency: head, torso and tail, and
        finer.
    training : Training or None
        None where the method keeps no such statistics.
    trees : Trees or None
        None where the method grows none.
    embedding : EmbeddingOfRun or None
        None where the method embeds no labels.
    trained : int or None
        Labels with a classifier.
    n_test : int
    details : Details
    calibration : CalibrationOfRun or None
        None where the run is not calibrated.
    """

    name: str
    series: int
    metrics: dict
    parameters: list
    summary: str
    k: int
    groups: list
    bins: list
    training: Training | None
    trees: Trees | None
    embedding: EmbeddingOfRun | None
    trained: int | None
    n_test: int
    details: Details
    calibration: CalibrationOfRun | None = None

    def _metric(self, name):
        value = self.metrics.get(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def _per_label(self, value):
        return value / self.trained if value is not None and self.trained else None

    @property
    def train_seconds(self):
        """Threads times wall seconds of the solver."""
        return self._metric("train_seconds")

    @property
    def seconds_per_label(self):
        """Core-seconds of a trained label."""
        return self._per_label(self.train_seconds)

    @property
    def newton_per_label(self):
        """Mean Newton steps."""
        return self.training and self.training.newton_per_label

    @property
    def cg_per_label(self):
        """Mean conjugate gradient steps."""
        return self.training and self.training.cg_per_label

    @property
    def peak_rss_bytes(self):
        """Largest resident memory of a shard job."""
        return self.training.peak_rss_bytes if self.training else self._metric("train_peak_rss_bytes")

    @property
    def nonzeros(self):
        """Weights of the model."""
        return self._metric("nonzeros")

    @property
    def nonzeros_per_label(self):
        """Weights of a trained label."""
        return self._per_label(self.nonzeros)

    @property
    def model_bytes(self):
        """Size of the model file."""
        return self._metric("model_bytes")

    @property
    def predict_seconds(self):
        """Wall time of scoring the test set."""
        return self._metric("predict_seconds")

    @property
    def predict_seconds_per_instance(self):
        """Wall time of scoring a test instance."""
        seconds = self.predict_seconds
        return None if seconds is None or not self.n_test else seconds / self.n_test


@dataclass(frozen=True)
class Section:
    """Everything about a dataset.

    Attributes
    ----------
    card : Card
    runs : list of Run
    groups, bins : list of Group
        Of the first run; sizes are the same for all.
    unseen : int
        True (instance, label) pairs of the test set whose label has no training
        positives.
    examples : list of Example
    explained : int or None
        Number of the run whose predictions the examples explain.
    labels : list of LabelWords
        Of that run.
    published : list of Published
    resources : list of Resource
    sweeps : list of Sweep
    trees : list of TreeOfRun
        Of runs that start from the label tree.
    """

    card: Card
    runs: list
    groups: list
    bins: list
    unseen: int
    examples: list
    explained: int | None
    labels: list
    published: list
    resources: list
    sweeps: list
    trees: list


def gather(folders, published=(), benchmarks=None, n_examples=10, seed=0, sweeps=None):
    """Read every run, dataset by dataset.

    Parameters
    ----------
    folders : sequence of path-like
        ``results/{dataset}/{run}``, with dataset.h5 in the parent.
    published : sequence of Published
    benchmarks : path-like, optional
        See :func:`~ovaflow.report.resources.find_benchmarks`.
    n_examples : int
        Test documents to show for each dataset.
    seed : int
        Of their choice.
    sweeps : dict of str to list of str, optional
        Names of the runs of each sweep.

    Returns
    -------
    list of Section
        In the order in which the datasets first occur.

    Raises
    ------
    InputError
        If a file is missing or does not belong to its dataset.
    """
    datasets = {}
    for folder in dict.fromkeys(Path(folder).resolve() for folder in folders):
        datasets.setdefault(folder.parent, []).append(folder)
    return [
        _section(dataset, runs, published, benchmarks, n_examples, seed, sweeps or {})
        for dataset, runs in datasets.items()
    ]


def _section(folder, run_folders, published, benchmarks, n_examples, seed, sweeps):
    dataset = open_dataset(folder / "dataset.h5")
    card = make_card(folder.name, dataset)
    outcomes = [(number, *_outcome(run, dataset)) for number, run in enumerate(run_folders)]
    runs = [
        _run(run, dataset, card.counts, number, ids, hits)
        for run, (number, ids, _, hits) in zip(run_folders, outcomes, strict=True)
    ]
    sigmoids = {run.series: run.calibration.sigmoids for run in runs if run.calibration is not None}
    explained = first_explained(run_folders) if n_examples else None
    chosen = examples.choose(outcomes[0][3], np.diff(dataset.test.Y.indptr), n_examples, seed)
    return Section(
        card=card,
        runs=runs,
        groups=runs[0].groups,
        bins=runs[0].bins,
        unseen=int((card.counts[dataset.test.Y.indices] == 0).sum()),
        examples=examples.describe(dataset, card.counts, chosen, outcomes, explained, sigmoids),
        explained=explained and explained[0],
        labels=sample_labels(explained[1], partial(examples.label_name, dataset)) if explained else [],
        published=results_for(published, folder.name),
        resources=read_resources(find_benchmarks(run_folders, benchmarks)),
        sweeps=read_sweeps(sweeps, folder, runs),
        trees=_trees(run_folders, runs, card.counts, dataset.checksum),
    )


def _trees(folders, runs, counts, checksum):
    trees = [read_tree_of(folder, run, counts, checksum) for folder, run in zip(folders, runs, strict=True)]
    return [tree for tree in trees if tree is not None]


def _outcome(folder, dataset):
    """Ids, scores and hits of a run, each of shape (n, k)."""
    path = folder / "predictions.h5"
    predictions = read_predictions(path)
    ids, scores = predictions.ids, predictions.scores
    stale = predictions.inputs.get("dataset") not in (None, dataset.checksum)
    if stale or len(ids) != dataset.test.Y.n_rows or ids.max(initial=-1) >= dataset.n_labels:
        raise InputError("predictions of another dataset", path=path, remedy=f"predict {dataset.path} again")
    return ids, scores, find_hits(ids, dataset.test.Y)


def _run(folder, dataset, counts, series, ids, hits):
    outcome = ids, hits, dataset.test.Y, counts
    parameters, trained, checksum = _model(folder / "model.h5")
    training, trees = _training(folder, checksum)
    metrics = read_metrics(folder / "metrics.json")
    propensities = {name: metrics[name] for name in PROPENSITIES if name in metrics}
    settings = _settings(parameters | {"top_k": ids.shape[1]} | propensities)
    return Run(
        name=folder.name,
        series=series,
        metrics=metrics,
        parameters=settings,
        summary=_summary(dict(settings)),
        k=ids.shape[1],
        groups=frequency.group(*outcome, tuple(frequency.NAMES)),
        bins=frequency.group(*outcome, frequency.BIN_STARTS),
        training=training,
        trees=trees,
        embedding=read_embedding_of(folder, dataset.label_names),
        trained=trained if training is None else training.trained,
        n_test=len(ids),
        details=read_details(folder, metrics),
        calibration=read_calibration_of(folder, checksum),
    )


def _settings(parameters):
    shown = {name: value for name, value in parameters.items() if name not in HIDDEN_PARAMETERS}
    order = {name: place for place, name in enumerate(LEADING_PARAMETERS)}
    return sorted(flatten(shown), key=lambda pair: order.get(pair[0], len(order)))


def _model(path):
    """Settings, number of classifiers and checksum of a model, whatever its method keeps beside them."""
    with open_artifact(path, MODEL) as file:
        trained = int(file["trained"][()].sum()) if "trained" in file else None
        return parameters_of(file), trained, checksum_of(file)


def _training(folder, checksum):
    """Statistics of the labels and of the trees, as far as the method keeps them."""
    path = folder / "training.h5"
    if not path.exists():
        return None, None
    recorded = read_training(path)
    return summarise(recorded) if recorded.statistics else None, read_trees(folder, recorded, checksum)


def read_metrics(path):
    """Read a run's metrics.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict
        Flat.

    Raises
    ------
    InputError
        If the file is missing or holds something else.
    """
    try:
        metrics = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("no such file", path=path, remedy="evaluate first") from None
    except ValueError as error:
        raise InputError(f"not JSON ({error})", path=path, remedy="evaluate again") from None
    if not isinstance(metrics, dict):
        raise InputError("not a JSON object", path=path, remedy="evaluate again")
    return metrics


def flatten(parameters):
    """Nested settings as pairs of name and value.

    Parameters
    ----------
    parameters : dict

    Returns
    -------
    list of (str, str)
        The innermost names, in the order given.
    """
    pairs = []
    for name, value in parameters.items():
        pairs.extend(flatten(value) if isinstance(value, dict) else [(name, _setting(value))])
    return pairs


def _setting(value):
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value)


def _summary(settings):
    words = (settings.get(name, "") for name in ("method", "initialization"))
    return ", ".join(word for word in words if word)
