"""Which part of a text each of its tokens is: positions in the normal form mapped back to the text as it was written.

The normal form may be longer or shorter than the text ("ﬁ" is "fi", "e" and an accent are "é"). It is computed cluster
by cluster: a character and the marks that compose with it. No composition crosses the border of a cluster, so the
clusters' normal forms one after the other are the normal form of the text.
"""

import functools
import re
import unicodedata
from typing import NamedTuple

from ovaflow.data.tfidf import TOKEN_PATTERN, normal_form

_JAMO_THAT_FOLLOW = range(0x1160, 0x1200)
"""Hangul vowels and finals, which compose with what is before them though they are letters."""


class Place(NamedTuple):
    """A token in its normal form, and ``text[start:end]``, the whole characters with their accents that it is.

    Tokens that one character stands for ("㏂") share a place.
    """

    start: int
    end: int
    token: str


def word_places(text, pattern=TOKEN_PATTERN):
    """The :class:`Place` of each token that :func:`ovaflow.data.tfidf.tokenizer` finds in a text, in their order."""
    find = re.compile(pattern).finditer
    if text.isascii():
        return [Place(*found.span(), found[0]) for found in find(normal_form(text))]
    starts, ends, pieces = [], [], []
    for start, end in _clusters(text):
        piece = normal_form(text[start:end])
        pieces.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    return [Place(starts[found.start()], ends[found.end() - 1], found[0]) for found in find("".join(pieces))]


def _clusters(text):
    first = 0
    for place in range(1, len(text)):
        if not _composes_backwards(text[place]):
            yield first, place
            first = place
    yield first, len(text)


@functools.lru_cache(maxsize=4096)
def _composes_backwards(character):
    normal = unicodedata.normalize("NFKC", character)[0]
    return unicodedata.category(normal).startswith("M") or ord(normal) in _JAMO_THAT_FOLLOW
