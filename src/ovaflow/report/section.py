"""What a section of the report is: what it reads of a run's folder, and what it shows of all runs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ovaflow.model.training_file import Training
from ovaflow.storage.texts import read_json


class ReportSection(NamedTuple):
    """A section of the report, which is left out where it has nothing to show."""

    key: str  # ends its anchor
    title: str
    show: Callable  # content for its template, or nothing, of the dataset's anchor and results
    read: Callable | None = None  # what it needs of a :class:`RunFolder`, or None; kept in ``run.read`` by its key
    template: str = ""  # Jinja of the content ``it``; by default the macro of its key in sections.html.j2
    folded: bool = False  # whether a reader has to open it


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run, and what all sections know of it."""

    path: Path
    model: Any  # storage.artifact.Artifact, of which only the header is read
    settings: dict  # of the model, by name, in words
    dataset: Any
    predictions: Any

    def json(self, name, kind):
        """Read a file about the model; empty where there is none, or it is about another model."""
        path = self.path / name
        if path.exists() and (content := read_json(path, kind)).get("model") == self.model.checksum:
            return content
        return {}

    @cached_property
    def training(self):
        """What the training took; None where it is not recorded."""
        path = self.path / "training.h5"
        return Training.open(path, dataset=self.dataset) if path.exists() else None
