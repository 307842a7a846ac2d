"""Read the artifacts of all runs, dataset by dataset."""

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.ranking import find_hits
from ovaflow.prediction.predictions_file import read_predictions
from ovaflow.report import examples, failures
from ovaflow.report.dataset_card import Card, make_card
from ovaflow.report.explained import first_explained, sample_labels
from ovaflow.report.label_trees import read_tree_of
from ovaflow.report.published import results_for
from ovaflow.report.resources import find_benchmarks, read_resources
from ovaflow.report.run import read_metrics, read_run
from ovaflow.report.sweeps import read_sweeps
from ovaflow.settings.models import Report

SHOWN = 8
"""Runs that figures and examples show: as many as there are colours and markers."""


@dataclass(frozen=True)
class Section:
    """Everything about a dataset.

    Attributes
    ----------
    card : Card
    runs : list of Run
    unseen : int
        True (instance, label) pairs of the test set whose label has no training
        positives.
    examples : list of Example
    explained : int or None
        Number, among the runs that are shown, of the one whose predictions the examples explain.
    labels : list of LabelWords
        Of that run.
    failures : Failures or None
    published : list of Published
    resources : list of Resource
    sweeps : list of Sweep
    trees : list of TreeOfRun
        Of runs that start from the label tree.
    statement : Report
    """

    card: Card
    runs: list
    unseen: int
    examples: list
    explained: int | None
    labels: list
    failures: failures.Failures | None
    published: list
    resources: list
    sweeps: list
    trees: list
    statement: Report = field(default_factory=Report)

    @property
    def shown(self):
        """Runs that figures and examples show, by their numbers."""
        return [run for run in self.runs if run.series is not None]


def gather(folders, published=(), benchmarks=None, n_examples=10, seed=0, sweeps=None, statement=None):
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
    statement : Report, optional
        For the model cards.

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
    sections = [
        _section(dataset, runs, published, benchmarks, n_examples, seed, sweeps or {})
        for dataset, runs in datasets.items()
    ]
    return [replace(section, statement=statement or Report()) for section in sections]


def _section(folder, run_folders, published, benchmarks, n_examples, seed, sweeps):
    dataset = open_dataset(folder / "dataset.h5")
    card = make_card(folder.name, dataset)
    series = choose_shown([read_metrics(run / "metrics.json") for run in run_folders])
    runs = [_run(run, dataset, number) for run, number in zip(run_folders, series, strict=True)]
    shown = [run for run, number in zip(run_folders, series, strict=True) if number is not None]
    documents = examples.Documents(dataset, card.counts, [_outcome(run, dataset) for run in shown])
    documents.sigmoids = {
        run.series: run.calibration.sigmoids for run in runs if run.series is not None and run.calibration is not None
    }
    documents.explained = first_explained(shown) if n_examples else None
    rows = documents.choose(n_examples, seed)
    return Section(
        card=card,
        runs=runs,
        unseen=int((card.counts[dataset.test.Y.indices] == 0).sum()),
        examples=documents.describe(rows),
        explained=documents.explained and documents.explained[0],
        labels=sample_labels(documents.explained[1], partial(examples.label_name, dataset))
        if documents.explained
        else [],
        failures=failures.describe(documents, [run for run in runs if run.series is not None], n_examples),
        published=results_for(published, folder.name),
        resources=read_resources(find_benchmarks(run_folders, benchmarks)),
        sweeps=read_sweeps(sweeps, folder, runs),
        trees=_trees(run_folders, runs, card.counts, dataset.checksum),
    )


def choose_shown(metrics, most=SHOWN):
    """Number the runs that figures show: the first one, and those with the best P@1.

    Parameters
    ----------
    metrics : list of dict
        One a run.
    most : int

    Returns
    -------
    list of int or None
        From 0 in the order of the runs; None for those left out.
    """

    def quality(place):
        value = metrics[place].get("P@1")
        return value if isinstance(value, int | float) else 0.0

    best = sorted(range(1, len(metrics)), key=lambda place: -quality(place))[: most - 1]
    chosen = sorted([0, *best])
    return [chosen.index(place) if place in chosen else None for place in range(len(metrics))]


def _trees(folders, runs, counts, checksum):
    trees = [read_tree_of(folder, run, counts, checksum) for folder, run in zip(folders, runs, strict=True)]
    return [tree for tree in trees if tree is not None]


def _predictions(folder, dataset):
    path = folder / "predictions.h5"
    predictions = read_predictions(path)
    stale = predictions.inputs.get("dataset") not in (None, dataset.checksum)
    ids = predictions.ids
    if stale or len(ids) != dataset.test.Y.n_rows or ids.max(initial=-1) >= dataset.n_labels:
        raise InputError("predictions of another dataset", path=path, remedy=f"predict {dataset.path} again")
    return predictions


def _run(folder, dataset, series):
    return read_run(folder, dataset, _predictions(folder, dataset), series)


def _outcome(folder, dataset):
    """Ids, scores and hits of a run, each of shape (n, k)."""
    predictions = _predictions(folder, dataset)
    return predictions.ids, predictions.scores, find_hits(predictions.ids, dataset.test.Y)
