"""The file of a second stage: trees and evidence as plain arrays, bound to the model whose
candidates it ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import h5py
import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.model.model_file import Model
from ovaflow.reranking.boosted_trees import BoostedTrees, rank_candidates
from ovaflow.reranking.evidence.candidate_evidence import CandidateEvidence
from ovaflow.reranking.evidence.kinds import KINDS, list_column_names, select_kinds
from ovaflow.reranking.suggestions import SuggestionSource
from ovaflow.storage.artifact import NOT_STORED, Artifact, read_header, store_fields
from ovaflow.storage.hdf5 import open_artifact

FILE_NAME = "reranker.h5"
"""Name of the file, which is next to the model that it belongs to."""


@dataclass(frozen=True)
class Reranker(
    Artifact, kind="reranker", made_from=("model",), remedy="run rerank again, or remove the file"
):
    """A second stage; without trees and evidence where it is not used.

    Its parameters describe the fitting. ``columns`` are the names of the columns that trees read,
    ``check`` has the figures on held-out texts that the trees had not seen and whether the order is
    that of the scores, and ``unused`` is the reason why it is not used.
    """

    trees: BoostedTrees | None = None
    # for texts that a source has no entry for; they read the columns before those of the sources
    trees_alone: BoostedTrees | None = None
    # each kind stores its own part
    evidence: CandidateEvidence | None = field(default=None, metadata=NOT_STORED)

    def store(self, file: h5py.File) -> None:
        super().store(file)
        if self.evidence is not None:
            for kind in self.evidence.kinds:
                store_fields(file, kind)

    @classmethod
    def open(cls, path: StrPath, **made_from: Any) -> Self:
        """Open the second stage of the ``model`` that is given."""
        model: Model = made_from["model"]
        with open_artifact(path, cls.kind) as file:
            header = cls(**read_header(file))
            header.require(model=model)
            if header.unused:
                return header
            evidence = header._load_evidence(file, model)
            return replace(header, evidence=evidence, **cls.read_fields(file))

    def _load_evidence(self, file: h5py.File, model: Model) -> CandidateEvidence:
        kinds = select_kinds(KINDS, self.optional_kinds)
        sources = CandidateEvidence([], model.n_text_features).with_sources(self.sources)
        has_columns = self.parameters["columns"] == [
            *list_column_names(kinds),
            *sources.column_names,
        ]
        if not (has_columns and all(kind.is_stored_in(file) for kind in kinds)):
            message = "ranks by evidence that this version of ovaflow does not know"
            raise InputError(message, path=self.path, remedy="run rerank again")
        loaded = [kind.load(file, model) for kind in kinds]
        return replace(sources, kinds=[*loaded, *sources.kinds])

    @classmethod
    def open_header(cls, path: StrPath) -> Self:
        """Read how a second stage was fitted, without its trees and evidence."""
        with open_artifact(path, cls.kind) as file:
            return cls(**read_header(file))

    @property
    def unused(self) -> str:
        """Reason why it is not used; empty where it is."""
        return self.parameters.get("unused", "")

    @property
    def optional_kinds(self) -> Sequence[str]:
        """Names of the optional kinds of evidence that are used."""
        return self.parameters.get("further", ())

    @property
    def sources(self) -> list[SuggestionSource]:
        """Programs whose suggestions are evidence.

        Sources of another form are left out: their columns are unknown, so the file is refused.
        """
        sources = []
        for entry in self.parameters.get("sources", ()):
            if entry.keys() == set(SuggestionSource._fields):
                sources.append(SuggestionSource(**entry))
        return sources

    @property
    def keeps_order(self) -> bool:
        """True where labels are in the order of their scores."""
        return self.parameters["check"]["order"] == "score"

    @property
    def missed(self) -> float:
        """Number of true labels that are no candidates, where no candidate fits."""
        return self.parameters["check"]["missed"]

    @property
    def files(self) -> list[str]:
        """Names of the sources, whose suggestions come in files."""
        return [source.name for source in self.sources]

    def rank(
        self, evidence: np.ndarray, ids: np.ndarray, complete: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rank candidates by probability.

        Parameters
        ----------
        evidence : float32 (n, k, c)
        ids : int32 (n, k)
        complete : bool (n,)
            Texts that all sources of suggestions have an entry for.

        Returns
        -------
        probabilities : float32 (n, k)
            By falling value.
        order : int (n, k)
            The order that sorts the candidates.
        """
        assert self.trees is not None
        if complete.all():
            return rank_candidates(self.trees, evidence, ids)
        assert self.trees_alone is not None
        probabilities, order = rank_candidates(self.trees_alone, evidence, ids)
        with_sources = rank_candidates(self.trees, evidence[complete], ids[complete])
        probabilities[complete], order[complete] = with_sources
        return probabilities, order
