"""Texts cut at the words that support predicted labels, so that the page marks these."""

from collections.abc import Iterable
from typing import NamedTuple

from ovaflow.prediction.explanation import LabelContributions, find_spans
from ovaflow.prediction.predictor import Predictor

MIN_MARK_STRENGTH = 0.2
"""Words of a text that count less than this share of its strongest word are not marked."""


class Piece(NamedTuple):
    """A stretch of a text.

    ``kind`` is "hit" for a word that supports a right prediction, "miss" for one that supports a
    wrong prediction, and empty between such words.
    """

    text: str
    kind: str = ""
    strength: float = 0.0  # from 0 to 1, relative to the strongest word of the text


class _Mark(NamedTuple):
    """A word to mark in a text; marks are sorted by falling strength."""

    negative_strength: float
    start: int
    end: int
    kind: str


def cut_text(
    predictor: Predictor,
    text: str,
    explanations: dict[int, LabelContributions],
    true: set[int],
) -> list[Piece]:
    """Cut a text at the words that support predicted labels.

    Parameters
    ----------
    predictor : Predictor
        The predictor that explained the labels.
    text : str
        The text.
    explanations : dict
        Explanation of each predicted label.
    true : set of int
        The true labels: words that support them are hits, others misses.
    """
    supporting_true = []
    supporting_false = []
    for label, explanation in explanations.items():
        if label in true:
            supporting_true.append(explanation)
        else:
            supporting_false.append(explanation)
    hits = _find_largest_contributions(supporting_true)
    misses = _find_largest_contributions(supporting_false)
    strongest = max([*hits.values(), *misses.values()], default=0)
    spans = find_spans(predictor, text) if predictor.takes_text and strongest else {}
    marks = []
    for feature, places in spans.items():
        hit = hits.get(feature, 0) / strongest
        miss = misses.get(feature, 0) / strongest
        strength = max(hit, miss)
        if strength >= MIN_MARK_STRENGTH:
            kind = "hit" if hit >= miss else "miss"
            marks += [_Mark(-strength, start, end, kind) for start, end in places]
    return _cut_at_marks(text, _remove_overlaps(marks))


def _cut_at_marks(text: str, marks: Iterable[_Mark]) -> list[Piece]:
    pieces = []
    end = 0
    for mark in sorted(marks, key=lambda mark: mark.start):
        pieces.append(Piece(text[end : mark.start]))
        pieces.append(Piece(text[mark.start : mark.end], mark.kind, -mark.negative_strength))
        end = mark.end
    pieces.append(Piece(text[end:]))
    return [piece for piece in pieces if piece.text]


def _remove_overlaps(marks: Iterable[_Mark]) -> list[_Mark]:
    """Keep the strongest of marks that overlap, such as a word and a pair with it."""
    taken: set[int] = set()
    kept = []
    for mark in sorted(marks):
        positions = range(mark.start, mark.end)
        if taken.isdisjoint(positions):
            taken.update(positions)
            kept.append(mark)
    return kept


def _find_largest_contributions(explanations: Iterable[LabelContributions]) -> dict[int, float]:
    """Find the largest positive contribution of each feature to any of the labels."""
    largest: dict[int, float] = {}
    for explanation in explanations:
        for feature, value in explanation.up:
            largest[feature] = max(largest.get(feature, 0), value)
    return largest
