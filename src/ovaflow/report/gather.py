"""The results that the sections show: the runs of each dataset, and what the page is to contain."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ovaflow.report import examples, quality
from ovaflow.report.data import DatasetSummary, summarize_dataset
from ovaflow.report.environment import slug
from ovaflow.report.sweeps import Choice, SweptRuns, read_choices, read_sweeps
from ovaflow.results.run import Run
from ovaflow.results.runs import Runs, open_runs
from ovaflow.settings.predict import Report
from ovaflow.storage.texts import read_json


@dataclass(frozen=True, kw_only=True)
class PageRequest:
    """The options of a page."""

    seed: int = 0  # of the sample of test instances
    sweeps: dict[str, list[str]] = field(default_factory=dict)  # names of runs by sweep
    choices: tuple[Path, ...] = ()  # outputs of choose-features and choose-c
    settings: Report = field(default_factory=Report)
    page_folder: Path | None = None  # folder of the page, for its links to other files


@dataclass(frozen=True, eq=False)
class DatasetResults:
    """The runs of a dataset, and what several sections show of them."""

    compared_runs: Runs
    request: PageRequest
    anchor: str  # of the dataset on the page

    @property
    def runs(self) -> list[Run]:
        """All runs of the dataset on the page."""
        return self.compared_runs.all

    @property
    def best(self) -> Run:
        """The best run; there is one, since all runs on the page have metrics."""
        best = self.compared_runs.best
        assert best is not None
        return best

    @property
    def shown_runs(self) -> list[Run]:
        """The runs in figures, by their numbers."""
        return self.compared_runs.shown_runs

    @cached_property
    def data(self) -> DatasetSummary:
        """The summary of the dataset."""
        return summarize_dataset(
            self.compared_runs.folder.name, self.compared_runs.dataset, self._read_reading()
        )

    def _read_reading(self) -> Iterable[tuple[str, str]]:
        """Read how the files of the dataset were read.

        Empty where the dataset has no texts, or was not made by ``ovaflow prepare``.
        """
        path = self.compared_runs.folder / "reading.json"
        if not path.exists():
            return ()
        return read_json(path, "reading")["lines"].items()

    @cached_property
    def assigned_labels(self) -> quality.AssignedLabels:
        """The numbers of labels that people assigned to the test instances."""
        return quality.count_assigned_labels(self.compared_runs.documents, self.data.known)

    @cached_property
    def examples(self) -> dict[str, Any]:
        """Test instances and labels with the predictions of the best run."""
        return examples.make_examples(
            self.best,
            self.data.counts,
            self.request.settings.examples,
            self.request.seed,
        )

    @cached_property
    def sweeps(self) -> dict[str, SweptRuns]:
        """The runs of each sweep."""
        return read_sweeps(self.request.sweeps, self.runs)

    @cached_property
    def choices(self) -> list[Choice]:
        """The choices of settings, for their section."""
        return read_choices(self.compared_runs.folder, self.request.choices)


def gather_results(folders: Iterable[str | Path], **request: Any) -> list[DatasetResults]:
    """Open the runs in folders results/DATASET/RUN, dataset by dataset.

    Parameters
    ----------
    folders : iterable of path-like
        Folders of runs.
    **request
        Fields of :class:`PageRequest`.

    Raises
    ------
    InputError
        If a run has no metrics or predictions, or those of another model or dataset.
    """
    paths = [Path(folder) for folder in folders]
    runs_by_dataset = open_runs(paths)
    anchors = make_anchors([runs.folder.name for runs in runs_by_dataset])
    all_results = []
    for runs, anchor in zip(runs_by_dataset, anchors, strict=True):
        all_results.append(DatasetResults(runs, PageRequest(**request), anchor))
    # refuse incomplete runs before anything is drawn
    for results in all_results:
        for run in results.runs:
            run.require()
    return all_results


def make_anchors(names: Iterable[str]) -> list[str]:
    """Make a different anchor for each dataset, of its name, so that links stay valid."""
    anchors: list[str] = []
    for number, name in enumerate(names, 1):
        anchor = slug(name) or f"dataset-{number}"
        if anchor in anchors:
            anchor = f"{anchor}.{number}"
        anchors.append(anchor)
    return anchors
