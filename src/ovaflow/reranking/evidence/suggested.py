"""Evidence of other programs: what each source suggests."""

from dataclasses import dataclass, field

from ovaflow.reranking.candidates import MAX_FURTHER_CANDIDATES
from ovaflow.reranking.evidence.kind import Evidence
from ovaflow.storage.artifact import NOT_STORED


@dataclass(frozen=True)
class SuggestedBySource(Evidence):
    """Score and rank of a candidate among the suggestions of a source."""

    source: str = field(metadata=NOT_STORED)
    name: str = field(metadata=NOT_STORED)
    columns: tuple[str, ...] = field(metadata=NOT_STORED)

    @classmethod
    def of(cls, source):
        """Make the evidence of a :class:`~ovaflow.reranking.suggestions.SuggestionSource`."""
        return cls(source.name, source.group, (f"score of {source.name}", f"rank of {source.name}"))

    def refit(self, training):
        return self

    def suggest_candidates(self, texts):
        return texts.suggestions[self.source].ids[:, :MAX_FURTHER_CANDIDATES]

    def compute(self, candidates):
        suggestions = candidates.texts.suggestions[self.source]
        rows = suggestions.columns(candidates.ids)
        return [rows[:, :, 0], rows[:, :, 1]]
