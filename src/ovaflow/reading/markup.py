"""Texts without the markup of HTML."""

import html
import re

from ovaflow.reading.streams import clean_text

_MARKUP = re.compile(
    r"<!--(?:[^\x1f]*?-->|[^\x1f]*)"
    r"|<(?P<unread>script|style)\b(?:[^\x1f]*?</(?P=unread)\s*>|[^\x1f]*)"
    r"|</?(?P<inside>a|b|em|font|i|mark|small|span|strong|su[bp]|u)\b[^<>\x1f]*>"
    r"|<[!/?]?[a-z][^<>\x1f]*>"
    r"|&(?:[a-z]\w*|#\d{1,9}|#x[\da-f]+);",
    re.IGNORECASE,
)
"""Comments, scripts, tags that may be inside a word, other tags, and entities.

Comments and scripts that are never closed end with the text.
"""


def remove_markup(text: str) -> str:
    """Remove the markup of HTML; tags that may be inside words do not separate them."""
    if "<" in text or "&" in text:
        return _MARKUP.sub(_convert_markup, text)
    return text


def _convert_markup(markup: re.Match[str]) -> str:
    """Convert a piece of markup to the text it stands for."""
    if markup[0].startswith("&"):
        return clean_text(html.unescape(markup[0]))
    return "" if markup["inside"] else " "


def remove_markup_with_offsets(text: str) -> tuple[str, list[int], list[int]]:
    """Remove the markup of HTML, and keep where each character was.

    Returns
    -------
    text : str
        The text without markup, of n characters.
    starts, ends : list of int (n,)
        Where each of its characters begins and ends in the text with markup.
    """
    pieces = []
    starts: list[int] = []
    ends: list[int] = []
    last = 0
    for markup in _MARKUP.finditer(text):
        start, end = markup.span()
        converted = _convert_markup(markup)
        pieces.append(text[last:start])
        pieces.append(converted)
        starts += range(last, start)
        starts += [start] * len(converted)
        ends += range(last + 1, start + 1)
        ends += [end] * len(converted)
        last = end
    pieces.append(text[last:])
    starts += range(last, len(text))
    ends += range(last + 1, len(text) + 1)
    return "".join(pieces), starts, ends
