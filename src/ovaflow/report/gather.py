"""What sections show: the runs of each dataset, and what the page is asked to say of them."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ovaflow.report import data, examples, quality
from ovaflow.report.sweeps import read_choices, read_sweeps
from ovaflow.results.run import Run
from ovaflow.results.runs import Runs, open_runs
from ovaflow.settings.predict import Report
from ovaflow.storage.texts import read_json


@dataclass(frozen=True, kw_only=True)
class PageRequest:
    """What the page is asked to say."""

    seed: int = 0  # of the sample of test instances
    sweeps: dict[str, list[str]] = field(default_factory=dict)  # names of runs by sweep
    choices: tuple[Path, ...] = ()  # outputs of choose-features and choose-c
    settings: Report = field(default_factory=Report)
    page_folder: Path | None = None  # where the page is to be, for its links to other files


@dataclass(frozen=True, eq=False)
class DatasetResults:
    """The runs of a dataset, and what several sections say of them."""

    compared: Runs
    asked: PageRequest

    @property
    def runs(self) -> list[Run]:
        return self.compared.all

    @property
    def best(self) -> Run | None:
        return self.compared.best

    @property
    def shown(self) -> list[Run]:
        """Runs that figures show, by their numbers."""
        return self.compared.shown

    @cached_property
    def card(self) -> data.DatasetSummary:
        return data.summarize_dataset(
            self.compared.folder.name, self.compared.dataset, self._reading()
        )

    def _reading(self):
        """Read how the files of the dataset were read; nothing where it holds no texts or comes
        from elsewhere.
        """
        path = self.compared.folder / "reading.json"
        return read_json(path, "reading")["lines"].items() if path.exists() else ()

    @cached_property
    def test(self) -> quality.AssignedLabels:
        return quality.count_assigned_labels(self.compared.documents, self.card.known)

    @cached_property
    def examples(self) -> dict:
        """Test instances and labels as the best run sees them."""
        return examples.make_examples(
            self.best, self.card.counts, self.asked.settings.examples, self.asked.seed
        )

    @cached_property
    def sweeps(self) -> dict:
        """Runs by sweep."""
        return read_sweeps(self.asked.sweeps, self.runs)

    @cached_property
    def choices(self) -> list:
        """Choices of settings, as their section shows them."""
        return read_choices(self.compared.folder, self.asked.choices)


def gather_results(folders, **asked) -> list[DatasetResults]:
    """Return the results of runs in folders results/DATASET/RUN, dataset by dataset; more is that
    of :class:`Asked`.
    """
    results = [DatasetResults(runs, PageRequest(**asked)) for runs in open_runs(map(Path, folders))]
    # before anything is drawn
    for of_dataset in results:
        for run in of_dataset.runs:
            run.require()
    return results
