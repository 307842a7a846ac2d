"""List of all kinds of evidence."""

from collections.abc import Collection, Iterable
from typing import TypeVar

from ovaflow.reranking.evidence.first_words import FirstWords
from ovaflow.reranking.evidence.frequency import Frequency
from ovaflow.reranking.evidence.kind import Evidence, Wording
from ovaflow.reranking.evidence.name_in_text import NameInText
from ovaflow.reranking.evidence.name_pieces import PiecesOfName
from ovaflow.reranking.evidence.other_candidates import OtherCandidates
from ovaflow.reranking.evidence.score import Score
from ovaflow.reranking.evidence.similar_texts import SimilarTexts
from ovaflow.reranking.evidence.text_length import TextLength

KINDS: list[type[Evidence]] = [
    Score,
    Frequency,
    SimilarTexts,
    NameInText,
    OtherCandidates,
    TextLength,
    PiecesOfName,
    FirstWords,
]
"""All kinds, in the order of their columns."""


AnyKind = TypeVar("AnyKind", bound=Evidence | type[Evidence])


def list_column_names(kinds: Iterable[Evidence | type[Evidence]]) -> list[str]:
    """List the names of the columns of all kinds."""
    names: list[str] = []
    for kind in kinds:
        names += kind.column_names
    return names


def select_kinds(kinds: Iterable[AnyKind], names: Collection[str]) -> list[AnyKind]:
    """Select the kinds that are not optional, and the optional ones of these names."""
    return [kind for kind in kinds if not kind.optional or kind.name in names]


def find_explained_kinds(kinds: Iterable[AnyKind]) -> list[tuple[AnyKind, Wording]]:
    """Find the kinds that are explained to people, in their order there, with their wordings."""
    explained = [(kind, kind.wording) for kind in kinds if kind.wording is not None]
    return sorted(explained, key=lambda pair: pair[1].position)
