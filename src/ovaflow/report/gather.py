"""Reading the artifacts of all runs, dataset by dataset."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation.metrics import samples_of, samples_of_order
from ovaflow.model.model_file import ModelFile, method_of
from ovaflow.prediction.predictions import Predictions
from ovaflow.report import data, examples, quality
from ovaflow.report.best_run import best_run
from ovaflow.report.pruning import read_choice
from ovaflow.report.run_settings import FIRST, settings_in_words, settings_of_predictions, that_differ
from ovaflow.report.section import RunFolder
from ovaflow.report.sections import SECTIONS
from ovaflow.report.sweeps import read_choices, read_sweeps
from ovaflow.settings.predict import Report
from ovaflow.storage.arrays import map_array
from ovaflow.storage.artifact import Artifact, header_of
from ovaflow.storage.errors import text_attribute
from ovaflow.storage.hdf5 import open_artifact
from ovaflow.storage.texts import read_json

SHOWN = 8  # runs that figures show: as many as there are colours and markers


@dataclass(frozen=True)
class Run:
    """A trained and evaluated model; None stands for what its method does not record."""

    name: str
    path: Path  # its folder
    model: Artifact  # its header
    series: int | None  # its number among the runs in figures, for colour and marker
    metrics: dict
    samples: dict | None  # metrics on samples of the test instances, the same for all runs, by name
    first_samples: dict | None  # of the order by score, below a second stage
    dev_samples: dict | None  # metrics on samples of the dev instances
    settings: dict  # by name, in words
    trained: int | None  # labels with a classifier
    version: str  # of the ovaflow that wrote the model
    written: float  # in seconds since 1970
    analysis: dict  # analysis.json
    reranked: bool  # whether a second stage made its predictions
    by_probability: bool  # whether predictions are the most probable labels, not those for macro-F1
    choice_of_pruning: dict | None  # what prune: auto compared
    read: dict  # what sections have read of its folder, by their keys
    summary: str = ""  # what tells it from the other runs
    trained_with: "Run | None" = field(default=None, repr=False)  # the first run of the same training, if another

    @property
    def folder(self):
        """Its folder as a command line has it."""
        return os.path.relpath(self.path)

    @property
    def on_dev(self):
        """The run with its figures on the dev part; None where there are none."""
        if "dev" not in self.metrics:
            return None
        return replace(self, metrics=self.metrics | self.metrics["dev"], samples=self.dev_samples)

    @property
    def training_seconds(self):
        """Processor time of the training; one time for all runs that trained the same."""
        return (self.trained_with or self).metrics.get("train_seconds")

    @property
    def training_memory(self):
        """Peak memory of the largest training job in bytes."""
        return (self.trained_with or self).metrics.get("train_peak_rss_bytes")

    @property
    def predict_milliseconds(self):
        """Wall time of scoring a test instance."""
        seconds, instances = self.metrics.get("predict_seconds"), self.metrics.get("instances")
        return 1000 * seconds / instances if seconds is not None and instances else None


@dataclass(frozen=True)
class DatasetResults:
    card: data.DatasetSummary
    runs: list
    best: Run
    test: quality.Assigned
    examples: dict  # test instances and labels as the best run sees them
    sweeps: dict  # runs by sweep
    choices: list  # as the section shows them
    settings: Report
    page_folder: Path | None  # where the page is to be, for its links to other files

    @property
    def shown(self):
        """Runs that figures show, by their numbers."""
        return [run for run in self.runs if run.series is not None]


def gather(folders, seed=0, sweeps=None, settings=None, choices=(), page_folder=None):
    """Read every run, results/{dataset}/{run}, dataset by dataset; ``sweeps`` are names of runs by sweep."""
    datasets = {}
    for folder in dict.fromkeys(Path(folder).resolve() for folder in folders):
        datasets.setdefault(folder.parent, []).append(folder)
    more = {"sweeps": sweeps or {}, "settings": settings or Report(), "choices": choices, "page_folder": page_folder}
    return [_gather_dataset(dataset, runs, seed, **more) for dataset, runs in datasets.items()]


def _gather_dataset(folder, run_folders, seed, *, sweeps, settings, choices, page_folder):
    opened = open_dataset(folder / "dataset.h5")
    card = data.make_card(folder.name, opened, _read_reading(folder / "reading.json"))
    dataset = opened.documents
    metrics = [read_json(run / "metrics.json", "metrics") for run in run_folders]
    series = choose_shown(metrics, [method_of(run / "model.h5") for run in run_folders])
    runs = []
    for run, number in zip(run_folders, series, strict=True):
        runs.append(_read_run(run, dataset, number))
    runs = _told_apart(runs)
    best = best_run(runs)
    predictions = _read_predictions(best.path, dataset)
    return DatasetResults(
        card=card,
        runs=runs,
        best=best,
        test=quality.count_assigned(dataset, card.known),
        examples=examples.examples_of(dataset, card.counts, best, predictions, settings, seed),
        sweeps=read_sweeps(sweeps, runs),
        choices=read_choices(folder, choices),
        settings=settings,
        page_folder=page_folder,
    )


def _read_reading(path):
    """Read how the files of a dataset were read; nothing where it holds no texts or comes from elsewhere."""
    return read_json(path, "reading")["lines"].items() if path.exists() else ()


def _told_apart(runs):
    """Add to each run what tells it from the others, and which run before it trained the same."""
    differing = set(that_differ([run.settings for run in runs]))
    trained, told = {}, []
    for run in runs:
        words = [run.settings[name] for name in FIRST if name in differing and name in run.settings]
        for name in run.settings:
            if name in differing and name not in FIRST:
                words.append(f"{name.replace('_', ' ')} {run.settings[name]}")
        first = trained.get(_training_of(run))
        told.append(replace(run, summary=", ".join(words), trained_with=first))
        trained.setdefault(_training_of(run), told[-1])
    return told


def _training_of(run):
    """Return what a training depends on, the same for runs that differ only after it."""
    return str(sorted(run.model.parameters.get("train", {}).items())), run.model.inputs.get("dataset")


def choose_shown(metrics, methods):
    """Choose the runs in figures: the first, the best of each method, the next best; their numbers, or None."""
    best = sorted(range(len(metrics)), key=lambda place: (place > 0, -(metrics[place].get("P@1") or 0)))
    of_methods = {methods[place]: place for place in reversed(best)}.values()
    chosen = sorted(sorted(best, key=lambda place: place not in of_methods)[:SHOWN])
    return [chosen.index(place) if place in chosen else None for place in range(len(metrics))]


def _read_predictions(folder, dataset):
    return Predictions.open(folder / "predictions.h5", dataset=dataset)


def _read_run(folder, dataset, series):
    path = folder / "model.h5"
    with open_artifact(path, ModelFile.kind) as file:
        model, version = Artifact(**header_of(file)), text_attribute(file, "ovaflow_version")
        trained = int(map_array(file["trained"]).sum())
    metrics = read_json(folder / "metrics.json", "metrics", model.checksum)
    predictions = _read_predictions(folder, dataset)
    predictions.require(model=model)
    settings = settings_in_words(model.parameters, metrics)
    opened = RunFolder(folder, model, settings, dataset, predictions)
    read = {}
    for section in SECTIONS:
        content = section.read(opened) if section.read else None
        if content is not None:
            read[section.key] = content
    by_probability = _are_most_probable(predictions)
    return Run(
        name=folder.name,
        path=folder,
        model=model,
        series=series,
        # without labels in the test set the zeros of the file mean nothing
        metrics={name: value for name, value in metrics.items() if "@" not in name or len(dataset.test.Y.indices)},
        **_samples(predictions, dataset, metrics),
        settings=settings | settings_of_predictions(read.get("second-stage"), by_probability),
        trained=read["training"].trained if "training" in read else trained,
        version=version,
        written=path.stat().st_mtime,
        analysis=opened.json("analysis.json", "analysis"),
        reranked=predictions.ranking is not None,
        by_probability=by_probability,
        choice_of_pruning=read_choice(folder, model),
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
