"""The file of a second stage: trees and evidence as plain arrays, bound to the model whose
candidates it ranks.
"""

from dataclasses import dataclass, field, replace

from ovaflow.console.errors import InputError
from ovaflow.reranking.boosted_trees import BoostedTrees, rank_candidates
from ovaflow.reranking.evidence.candidate_evidence import CandidateEvidence
from ovaflow.reranking.evidence.kinds import KINDS, columns_of_kinds, with_optional
from ovaflow.reranking.suggestions import SuggestionSource
from ovaflow.storage.artifact import NOT_STORED, Artifact, read_header, store_fields
from ovaflow.storage.hdf5 import open_artifact

FILE_NAME = "reranker.h5"
"""Next to the model that it belongs to."""


@dataclass(frozen=True)
class Reranker(
    Artifact, kind="reranker", made_from=("model",), remedy="run rerank again, or remove the file"
):
    """A second stage; without trees and evidence where it is not used.

    Its parameters say how it was fitted; ``columns``: the names of what trees read; ``check``: what
    it was worth on held-out texts that it had not seen, and whether the order is that of the
    scores; ``unused``: why it is not used.
    """

    trees: BoostedTrees | None = None
    # for texts of which a file says nothing; they know the columns before those of the files
    trees_alone: BoostedTrees | None = None
    # each kind stores its own part
    evidence: CandidateEvidence | None = field(default=None, metadata=NOT_STORED)

    def store(self, file) -> None:
        super().store(file)
        if self.evidence is not None:
            for kind in self.evidence.kinds:
                store_fields(file, kind)

    @classmethod
    def open(cls, path, model):
        """Open the second stage of a model."""
        with open_artifact(path, cls.kind) as file:
            about = cls(**read_header(file))
            about.require(model=model)
            if about.unused:
                return about
            return replace(
                about, evidence=about._load_evidence(file, model), **cls.read_fields(file)
            )

    def _load_evidence(self, file, model):
        kinds = with_optional(KINDS, self.optional_kinds)
        sources = CandidateEvidence([], model.n_word_features).with_sources(self.sources)
        is_known = self.parameters["columns"] == [*columns_of_kinds(kinds), *sources.columns]
        if not (is_known and all(kind.is_stored_in(file) for kind in kinds)):
            message = "ranks by other evidence than this ovaflow knows"
            raise InputError(message, path=self.path, remedy="run rerank again")
        loaded = [kind.load(file, model) for kind in kinds]
        return replace(sources, kinds=[*loaded, *sources.kinds])

    @classmethod
    def about(cls, path):
        """Read how a second stage was fitted, without its trees and evidence."""
        with open_artifact(path, cls.kind) as file:
            return cls(**read_header(file))

    @property
    def unused(self):
        """Why it is not used; empty where it is."""
        return self.parameters.get("unused", "")

    @property
    def optional_kinds(self):
        """Names of the optional kinds of evidence that are weighed."""
        return self.parameters.get("further", ())

    @property
    def sources(self):
        """Programs whose suggestions are evidence; without those of an unknown form, whose columns
        are unknown, too.
        """
        entries = self.parameters.get("sources", ())
        return [
            SuggestionSource(**entry)
            for entry in entries
            if entry.keys() == set(SuggestionSource._fields)
        ]

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
            return rank_candidates(self.trees, columns, ids)
        probabilities, order = rank_candidates(self.trees_alone, columns, ids)
        ranked = rank_candidates(self.trees, columns[complete], ids[complete])
        probabilities[complete], order[complete] = ranked
        return probabilities, order
