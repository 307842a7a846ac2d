"""Texts without the markup of HTML."""

import html
import re

from ovaflow.reading.streams import clean_text

_MARKUP = re.compile(
    r"<!--(?:[^\x1f]*?-->|[^\x1f]*)|<(?P<unread>script|style)\b(?:[^\x1f]*?</(?P=unread)\s*>|[^\x1f]*)"
    r"|</?(?P<inside>a|b|em|font|i|mark|small|span|strong|su[bp]|u)\b[^<>\x1f]*>|<[!/?]?[a-z][^<>\x1f]*>"
    r"|&(?:[a-z]\w*|#\d{1,9}|#x[\da-f]+);",
    re.IGNORECASE,
)
"""Comments, scripts, tags and entities; tags inside words, and others; what is never closed ends
with the text.
"""


def remove_markup(text):
    """Text without the markup of HTML; tags that may be inside words do not separate them."""
    return _MARKUP.sub(_meaning, text) if "<" in text or "&" in text else text


def _meaning(markup):
    if markup[0][0] == "&":
        return clean_text(html.unescape(markup[0]))
    return "" if markup["inside"] else " "


def remove_markup_with_offsets(text):
    """Text without markup, and where each of its characters begins and ends in the text with
    markup.
    """
    pieces = []
    starts = []
    ends = []
    last = 0
    for markup in _MARKUP.finditer(text):
        start, end = markup.span()
        meaning = _meaning(markup)
        pieces += text[last:start], meaning
        starts += (*range(last, start), *[start] * len(meaning))
        ends += (*range(last + 1, start + 1), *[end] * len(meaning))
        last = end
    starts += range(last, len(text))
    ends += range(last + 1, len(text) + 1)
    return "".join([*pieces, text[last:]]), starts, ends
