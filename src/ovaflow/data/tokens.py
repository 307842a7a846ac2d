"""Tokens of texts, and which part of a text each of them is.

Tokens are taken from the normal form of a text, which may be longer or shorter than the text ("ﬁ" is "fi", "e" and an
accent are "é"). To map them back it is computed cluster by cluster: a character and the marks that compose with it. No
composition crosses the border of a cluster, so the clusters' normal forms one after the other are that of the text.
"""

import functools
import re
import unicodedata
from typing import NamedTuple


def _combining_marks():
    """Accents and vowel signs of all scripts, as ranges of a character class."""
    codes = range(1 << 16)
    marks = "".join("m" if unicodedata.category(chr(code)).startswith("M") else " " for code in codes)
    return "".join(f"{chr(run.start())}-{chr(run.end() - 1)}" for run in re.finditer("m+", marks))


TOKEN_PATTERN = rf"\b(?!\d+\b)\w[\w{_combining_marks()}]+"
"""Words of two characters or more that are not numbers; Python's ``\\w`` lacks the marks that are part of them."""


def normal_form(text):
    """Text in the form that tokens are taken from: NFKC of the case-folded NFKC, so that equal words are equal strings.

    "Straße", "STRASSE" and "Strasse" are one word.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def tokenizer(pattern=TOKEN_PATTERN):
    """Function from a text to the list of its tokens."""
    find = re.compile(pattern).findall
    return lambda text: find(normal_form(text))


_JAMO_THAT_FOLLOW = range(0x1160, 0x1200)
"""Hangul vowels and finals, which compose with what is before them though they are letters."""


class TokenSpan(NamedTuple):
    """A token in its normal form, and ``text[start:end]``, the whole characters with their accents that it is.

    Tokens that one character stands for ("㏂") share a span.
    """

    start: int
    end: int
    token: str


def token_spans(text, pattern=TOKEN_PATTERN):
    """The :class:`TokenSpan` of each token that :func:`tokenizer` finds in a text, in their order."""
    find = re.compile(pattern).finditer
    if text.isascii():
        return [TokenSpan(*found.span(), found[0]) for found in find(normal_form(text))]
    starts, ends, pieces = [], [], []
    for start, end in _clusters(text):
        piece = normal_form(text[start:end])
        pieces.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    return [TokenSpan(starts[found.start()], ends[found.end() - 1], found[0]) for found in find("".join(pieces))]


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
