"""All kinds of evidence: a new one is a class, and an entry of this list."""

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
"""In the order of their columns."""


AnyKind = TypeVar("AnyKind", bound=Evidence | type[Evidence])


def columns_of_kinds(kinds: Iterable[Evidence | type[Evidence]]) -> list[str]:
    """Names of all columns."""
    return [column for kind in kinds for column in kind.columns]


def with_optional(kinds: Iterable[AnyKind], names: Collection[str]) -> list[AnyKind]:
    """Kinds that are always there, and of the optional ones those of these names."""
    return [kind for kind in kinds if not kind.optional or kind.name in names]


def find_explained_kinds(kinds: Iterable[AnyKind]) -> list[tuple[AnyKind, Wording]]:
    """Kinds of which people are told, in the order in which they are, and the words for it."""
    told = [(kind, kind.words) for kind in kinds if kind.words is not None]
    return sorted(told, key=lambda each: each[1].place)
