"""Evidence of other programs: the suggestions of each source."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from ovaflow.reranking.candidates import MAX_FURTHER_CANDIDATES, Candidates, PreparedTexts
from ovaflow.reranking.evidence.kind import Evidence, EvidenceTraining
from ovaflow.reranking.suggestions import SuggestionSource
from ovaflow.storage.artifact import NOT_STORED


@dataclass(frozen=True)
class SuggestedBySource(Evidence):
    """Score and rank of a candidate among the suggestions of a source."""

    source: str = field(metadata=NOT_STORED)
    name: str = field(metadata=NOT_STORED)
    column_names: tuple[str, ...] = field(metadata=NOT_STORED)

    @classmethod
    def from_source(cls, source: SuggestionSource) -> Self:
        """Make the evidence of a source."""
        column_names = (f"score of {source.name}", f"rank of {source.name}")
        return cls(source.name, source.group, column_names)

    def refit(self, training: EvidenceTraining) -> Self:
        """Return the same evidence, which depends on no training texts."""
        return self

    def suggest_candidates(self, texts: PreparedTexts) -> np.ndarray:
        return texts.suggestions[self.source].ids[:, :MAX_FURTHER_CANDIDATES]

    def compute(self, candidates: Candidates) -> Sequence[np.ndarray]:
        suggestions = candidates.texts.suggestions[self.source]
        values = suggestions.look_up(candidates.ids)
        return [values[:, :, 0], values[:, :, 1]]
