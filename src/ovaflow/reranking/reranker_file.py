"""The file of a second stage: trees and evidence as plain arrays, bound to the model whose candidates it ranks."""

from dataclasses import dataclass, field, replace

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
    # whose suggestions are evidence
    sources: tuple[SuggestionSource, ...] = field(default=(), metadata=NOT_STORED)

    def write(self, path, **made_from):
        parameters, stored = self.parameters, self.evidence and self.evidence.stored
        if self.sources:
            parameters = parameters | {"sources": [source._asdict() for source in self.sources]}
        Artifact.write(replace(self, parameters=parameters, stored=stored), path, **made_from)

    @classmethod
    def open(cls, path, model):
        """Open the second stage of a model."""
        with open_artifact(path, cls.kind) as file:
            about = cls._about(file)
            about.require(model=model)
            if about.unused:
                return about
            is_known = tuple(about.parameters["columns"]) == columns_with(about.further, about.sources)
            if not is_known or "panels" not in file:
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
        return cls(sources=_known_sources(header["parameters"]), **header)

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
        return self.parameters["check"]["order"] == "score"

    @property
    def missed(self):
        """How many true labels are no candidates where all candidates are left out."""
        return self.parameters["check"]["missed"]

    @property
    def files(self):
        """Names of the sources, whose suggestions come in files."""
        return [source.name for source in self.sources]

    def rank(self, columns, ids, complete):
        """Probabilities of candidates (n, k), and their order; all sources know ``complete`` texts."""
        if complete.all():
            return rank(self.trees, columns, ids)
        probabilities, order = rank(self.trees_alone, columns, ids)
        ranked = rank(self.trees, columns[complete], ids[complete])
        probabilities[complete], order[complete] = ranked
        return probabilities, order


def _known_sources(parameters):
    """Read the sources that are known; the columns of others are then refused."""
    entries = parameters.get("sources", ())
    return tuple(SuggestionSource(**entry) for entry in entries if entry.keys() == set(SuggestionSource._fields))
