"""Reading the artifacts of all runs, dataset by dataset."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.metrics import samples_of, samples_of_order
from ovaflow.model.model_file import ModelFile, method_of
from ovaflow.prediction.predictions import Predictions
from ovaflow.report import cards, costs, examples, quality
from ovaflow.report.run_settings import FIRST, settings_in_words
from ovaflow.report.section import RunFolder
from ovaflow.report.sections import SECTIONS
from ovaflow.report.sweeps import read_choices, read_sweeps
from ovaflow.settings.predict import Report
from ovaflow.storage.arrays import map_array
from ovaflow.storage.artifact import Artifact, header_of
from ovaflow.storage.errors import text_attribute
from ovaflow.storage.hdf5 import open_artifact
from ovaflow.storage.texts import read_json

SHOWN = 8  # runs that figures and examples show: as many as there are colours and markers

_TELLING = ("loss", "regularization", "weighting", "class_weight", "C", "seed")
"""Settings that the summaries of otherwise equal runs have, too."""


@dataclass(frozen=True)
class Run:
    """A trained and evaluated model; None stands for what its method does not record."""

    name: str
    checksum: str  # of the model
    series: int | None  # its number among the runs in figures, for colour and marker
    metrics: dict
    samples: dict | None  # metrics on samples of the test instances, the same for all runs, by name
    first_samples: dict | None  # of the order by score, below a second stage
    dev_samples: dict | None  # metrics on samples of the dev instances
    settings: dict  # of the model, by name, in words
    summary: str  # method and starting point
    trained: int | None  # labels with a classifier
    version: str  # of the ovaflow that wrote the model
    written: float  # in seconds since 1970
    analysis: dict  # analysis.json
    reranked: bool  # whether a second stage made its predictions
    by_probability: bool  # whether predictions are the most probable labels, not those for macro-F1
    read: dict  # what sections have read of its folder, by their keys

    @property
    def on_dev(self):
        """The run with its figures on the dev part; None where there are none."""
        if "dev" not in self.metrics:
            return None
        return replace(self, metrics=self.metrics | self.metrics["dev"], samples=self.dev_samples)

    def per_label(self, value):
        return value / self.trained if value is not None and self.trained else None

    @property
    def predict_milliseconds(self):
        """Wall time of scoring a test instance."""
        seconds, instances = self.metrics.get("predict_seconds"), self.metrics.get("instances")
        return 1000 * seconds / instances if seconds is not None and instances else None


@dataclass(frozen=True)
class DatasetResults:
    card: cards.DatasetSummary
    runs: list
    test: quality.Assigned
    examples: list
    explained: int | None  # number, among the runs shown, of the one whose predictions the examples explain
    labels: list  # labels of that run with their words
    failures: dict | None
    trust: dict | None  # labels that the same run predicts best and worst
    published: list
    jobs: list  # of costs.Jobs
    sweeps: dict  # runs by sweep
    choices: list  # as the section shows them
    settings: Report

    @property
    def shown(self):
        """Runs that figures and examples show, by their numbers."""
        return [run for run in self.runs if run.series is not None]


def gather(
    folders,
    published=(),
    benchmarks=None,
    seed=0,
    sweeps=None,
    settings=None,
    choices=(),
    page_folder=None,
):
    """Read every run, results/{dataset}/{run}, dataset by dataset; ``sweeps`` are names of runs by sweep.

    ``page_folder``: where the page is to be, for its links to other files.
    """
    datasets = {}
    for folder in dict.fromkeys(Path(folder).resolve() for folder in folders):
        datasets.setdefault(folder.parent, []).append(folder)
    more = published, benchmarks, seed, sweeps or {}, settings or Report(), choices, page_folder
    return [_gather_dataset(dataset, runs, *more) for dataset, runs in datasets.items()]


def _gather_dataset(folder, run_folders, published, benchmarks, seed, sweeps, settings, choices, page_folder):
    opened = open_dataset(folder / "dataset.h5")
    card, dataset = cards.make_card(folder.name, opened, _read_reading(folder / "reading.json")), opened.documents
    metrics = [read_json(run / "metrics.json", "metrics") for run in run_folders]
    series = choose_shown(metrics, [method_of(run / "model.h5") for run in run_folders])
    runs, outcomes = [], []
    for run, number in zip(run_folders, series, strict=True):
        predictions = _read_predictions(run, dataset)
        runs.append(_read_run(run, dataset, card.counts, predictions, number))
        if number is not None:
            outcomes.append(examples.outcome(predictions, dataset.test.Y))
    runs = _with_telling_summaries(runs)
    shown = [run for run in runs if run.series is not None]
    explained = examples.first_explained([folder / run.name for run in shown]) if settings.examples else None
    documents = examples.ExampleDocuments(dataset, card.counts, outcomes, explained)
    chosen = examples.choose(outcomes[0][2], np.diff(dataset.test.Y.indptr), settings.examples, seed)
    return DatasetResults(
        card=card,
        runs=runs,
        test=quality.count_assigned(dataset, card.known),
        examples=documents.describe(chosen),
        explained=explained and explained[0],
        labels=examples.sample_labels(explained[1], documents.label_name) if explained else [],
        failures=examples.describe_failures(documents, shown, settings.examples, page_folder),
        trust=examples.describe_trust(documents, shown),
        published=quality.results_for(published, folder.name),
        jobs=costs.read_jobs(run_folders, benchmarks),
        sweeps=read_sweeps(sweeps, runs),
        choices=read_choices(folder, choices),
        settings=settings,
    )


def _read_reading(path):
    """How the files of a dataset were read; nothing where it holds no texts or comes from elsewhere."""
    return read_json(path, "reading")["lines"].items() if path.exists() else ()


def _with_telling_summaries(runs):
    """Runs of one method and start with what else tells them apart."""
    summaries = []
    for run in runs:
        alike = [other.settings for other in runs if other.summary == run.summary]
        telling = [name for name in _TELLING if len({settings.get(name) for settings in alike}) > 1]
        words = [f"{name} {run.settings[name]}" for name in telling if name in run.settings]
        summaries.append(", ".join([run.summary, *words]))
    return [replace(run, summary=summary) for run, summary in zip(runs, summaries, strict=True)]


def choose_shown(metrics, methods):
    """Numbers of the runs in figures: the first, the best of each method, the next best; or None."""
    best = sorted(range(len(metrics)), key=lambda place: (place > 0, -(metrics[place].get("P@1") or 0)))
    of_methods = {methods[place]: place for place in reversed(best)}.values()
    chosen = sorted(sorted(best, key=lambda place: place not in of_methods)[:SHOWN])
    return [chosen.index(place) if place in chosen else None for place in range(len(metrics))]


def _read_predictions(folder, dataset):
    return Predictions.open(folder / "predictions.h5", dataset=dataset)


def _read_run(folder, dataset, counts, predictions, series):
    path = folder / "model.h5"
    with open_artifact(path, ModelFile.kind) as file:
        model, version = Artifact(**header_of(file)), text_attribute(file, "ovaflow_version")
        trained = int(map_array(file["trained"]).sum())
    metrics = read_json(folder / "metrics.json", "metrics", model.checksum)
    predictions.require(model=model)
    settings = settings_in_words(model.parameters, metrics)
    opened = RunFolder(folder, model, settings, dataset, predictions)
    read = {section.key: section.read(opened) for section in SECTIONS if section.read}
    read = {key: content for key, content in read.items() if content is not None}
    return Run(
        name=folder.name,
        checksum=model.checksum,
        series=series,
        # without labels in the test set the zeros of the file mean nothing
        metrics={name: value for name, value in metrics.items() if "@" not in name or len(dataset.test.Y.indices)},
        **_samples(predictions, dataset, metrics),
        settings=settings,
        summary=", ".join(settings[name] for name in FIRST if name in settings),
        trained=read["training"].trained if "training" in read else trained,
        version=version,
        written=path.stat().st_mtime,
        analysis=opened.json("analysis.json", "analysis"),
        reranked=predictions.ranking is not None,
        by_probability=_are_most_probable(predictions),
        read=read,
    )


def _are_most_probable(predictions):
    ids, ranking = predictions.ids, predictions.ranking
    return ranking is not None and np.array_equal(ids, ranking.ids[:, : ids.shape[1]])


def _samples(predictions, dataset, metrics):
    samples = dict.fromkeys(("samples", "first_samples", "dev_samples"))
    candidates, Y = predictions.ranking, dataset.test.Y
    inverse = dataset.inverse_propensity(metrics["propensity_a"], metrics["propensity_b"])
    if "dev" in metrics:
        samples["dev_samples"] = samples_of(predictions.dev, dataset.dev.Y, inverse)
    if not len(Y.indices):
        return samples
    samples["samples"] = samples_of(predictions, Y, inverse)
    if candidates is not None:
        first = candidates.first_ids[:, : predictions.ids.shape[1]]
        samples["first_samples"] = samples_of_order(first, Y, inverse)
    return samples
