"""The file of a second stage: trees and evidence as plain arrays, bound to the model whose candidates it ranks."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.reranking.boosted_trees import BoostedTrees, rank
from ovaflow.reranking.evidence import CandidateEvidence, StoredEvidence, columns_with
from ovaflow.reranking.suggestions import SuggestionSource
from ovaflow.storage.artifact import AT_ROOT, NOT_STORED, Artifact, header_of
from ovaflow.storage.hdf5 import open_artifact

FILE_NAME = "reranker.h5"
"""Next to the model that it belongs to."""


@dataclass(frozen=True)
class Reranker(Artifact, kind="reranker", made_from=("model",), remedy="run rerank again, or remove the file"):
    """A second stage; without trees and evidence where it is not used.

    Its parameters say how it was fitted; ``check``: what it was worth on held-out texts that it had not seen, and
    whether the order is that of the scores; ``unused``: why it is not used.
    """

    trees: BoostedTrees | None = None
    # for texts of which a file says nothing; they know the columns before those of the files
    trees_alone: BoostedTrees | None = None
    stored: StoredEvidence | None = field(default=None, metadata=AT_ROOT)
    evidence: CandidateEvidence | None = field(default=None, metadata=NOT_STORED)
    # whose suggestions are evidence; runs, then files
    sources: tuple[SuggestionSource, ...] = field(default=(), metadata=NOT_STORED)

    def write(self, path, **made_from):
        parameters, stored = self.parameters, self.evidence and self.evidence.stored
        if self.sources:
            parameters = parameters | {"sources": [_entry(source, path) for source in self.sources]}
        Artifact.write(replace(self, parameters=parameters, stored=stored), path, **made_from)

    @classmethod
    def open(cls, path, model):
        """Open the second stage of a model."""
        with open_artifact(path, cls.kind) as file:
            about = cls._about(file)
            about.require(model=model)
            if about.unused:
                return about
            if tuple(about.parameters["columns"]) != columns_with(about.further, about.sources):
                message = "ranks by other evidence than this ovaflow knows"
                raise InputError(message, path=path, remedy="run rerank again")
            stored = cls.fields_of(file)
            evidence = CandidateEvidence.of_stored(stored["stored"], model, about.further)
            return replace(about, evidence=evidence, **stored)

    @classmethod
    def about(cls, path):
        """Read how a second stage was fitted, without its trees and evidence."""
        with open_artifact(path, cls.kind) as file:
            return cls._about(file)

    @classmethod
    def _about(cls, file):
        header = header_of(file)
        return cls(sources=tuple(_sources(header["parameters"], header["path"])), **header)

    @property
    def unused(self):
        """Why it is not used; empty where it is."""
        return self.parameters.get("unused", "")

    @property
    def further(self):
        """Further kinds of evidence that are weighed."""
        return tuple(self.parameters.get("further", ()))

    @property
    def keeps_order(self):
        """Whether labels are in the order of their scores."""
        return self.parameters.get("check", {}).get("order") == "score"

    @property
    def missed(self):
        """How many true labels are no candidates where all candidates are left out; 0 in files that do not say."""
        return self.parameters.get("check", {}).get("missed", 0.0)

    @property
    def runs(self):
        """The sources that are runs, whose models are asked."""
        return [source for source in self.sources if source.model is not None]

    @property
    def files(self):
        """Names of the sources whose suggestions come in files."""
        return [source.name for source in self.sources if source.model is None]

    def rank(self, columns, ids, complete):
        """Probabilities of candidates (n, k), and their order; all sources know ``complete`` texts."""
        if complete.all():
            return rank(self.trees, columns, ids)
        probabilities, order = rank(self.trees_alone, columns, ids)
        ranked = rank(self.trees, columns[complete], ids[complete])
        probabilities[complete], order[complete] = ranked
        return probabilities, order


def _entry(source, path):
    """A source as parameters, its model relative to the folder of the second stage."""
    entry = {"name": source.name, "checksum": source.checksum}
    if source.model is not None:
        entry["model"] = os.path.relpath(source.model, Path(path).parent)
    return entry


def _sources(parameters, path):
    folder = Path(path).parent
    for entry in parameters.get("sources", ()):
        name, model = entry["name"], entry.get("model")
        if model is not None:
            copy = copy_of_run(folder, name)
            model = copy if copy.exists() else folder / model
        yield SuggestionSource(name, model, entry["checksum"])


def copy_of_run(folder, name):
    """Where a folder that holds all that its model needs has the model of another run."""
    return Path(folder, "runs", f"{name}.h5")
