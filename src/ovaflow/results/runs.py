"""The runs of a dataset: their differences, the best one, and those that figures show."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.results.best_run import find_best_run
from ovaflow.results.run import Run
from ovaflow.results.settings_in_words import LEADING_SETTINGS, find_differing_settings

MAX_SHOWN_RUNS = 8
"""Runs that figures show: as many as there are colours and markers."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs in the folder of a dataset, results/DATASET, in the order of their names here."""

    folder: Path
    names: tuple[str, ...]

    @cached_property
    def dataset(self) -> Dataset:
        """The dataset."""
        return open_dataset(self.folder / "dataset.h5")

    @cached_property
    def documents(self) -> Dataset:
        """The dataset without names of labels among the training instances."""
        return self.dataset.documents

    @cached_property
    def all(self) -> list[Run]:
        """All these runs."""
        return [Run(self.folder / name, self) for name in self.names]

    @cached_property
    def best(self) -> Run | None:
        """The best run; None where no run has metrics."""
        return find_best_run(self.all)

    @cached_property
    def series(self) -> dict[str, int]:
        """Numbers of the runs that figures show, by name."""
        return {run.name: number for number, run in enumerate(choose_shown_runs(self.all))}

    @property
    def shown_runs(self) -> list[Run]:
        """Runs that figures show, by their numbers."""
        return [run for run in self.all if run.name in self.series]

    @cached_property
    def _differing(self) -> set[str]:
        """Names of the settings that differ between runs."""
        return set(find_differing_settings([run.settings for run in self.all]))

    def describe_differences(self, run: Run) -> str:
        """Describe a run by the settings that differ between runs.

        Method and start are given without their names.
        """
        words = []
        for name, value in run.settings.items():
            if name not in self._differing:
                continue
            if name in LEADING_SETTINGS:
                words.append(value)
            else:
                words.append(f"{name.replace('_', ' ')} {value}")
        return ", ".join(words)

    @cached_property
    def _first_of_trainings(self) -> dict[tuple[str, str | None], Run]:
        """The first run of each training."""
        first: dict[tuple[str, str | None], Run] = {}
        for run in self.all:
            first.setdefault(run.model.training, run)
        return first

    def first_run_of_training(self, run: Run) -> Run:
        """Return the first run of the same training; runs may differ after training."""
        return self._first_of_trainings[run.model.training]


def open_run(folder: Path) -> Run:
    """Return the run in a folder, without other runs to compare it with."""
    return Runs(folder.parent, (folder.name,)).all[0]


def open_runs(folders: Iterable[Path]) -> list[Runs]:
    """Return the runs in folders results/DATASET/RUN, dataset by dataset."""
    names_by_dataset: dict[Path, dict[str, None]] = {}
    for folder in folders:
        folder = folder.resolve()
        names_by_dataset.setdefault(folder.parent, {})[folder.name] = None
    return [Runs(folder, tuple(names)) for folder, names in names_by_dataset.items()]


def choose_shown_runs(runs: list[Run]) -> list[Run]:
    """Choose the runs in figures: the first, the best of each method, and the next best by P@1.

    They keep their order.
    """
    ranked = [runs[0], *sorted(runs[1:], key=lambda run: -(run.all_metrics.get("P@1") or 0))]
    best_by_method: dict[str, Run] = {}
    for run in ranked:
        best_by_method.setdefault(run.model.method, run)
    preferred = sorted(ranked, key=lambda run: run is not best_by_method[run.model.method])
    return [run for run in runs if run in preferred[:MAX_SHOWN_RUNS]]
