"""Labels of a text in brackets, ``[Bees, Food]``, or in quotes, ``"Bees", "Food"``."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ovaflow.reading.cells import require_complete

AUTO_ENCLOSURE = "auto"
NO_ENCLOSURE = "none"
IN_BRACKETS = "brackets"
IN_QUOTES = "quotes"
"""Values of ``label_enclosure``."""

_IN_BRACKETS = r"\[\[?([^\[\]]*)\]\]?|\(([^()]*)\)|\{([^{}]*)\}"
_BRACKETED = re.compile(_IN_BRACKETS)
_QUOTED = r""""(?:[^"\\]|\\.|"")*"|'(?:[^'\\]|\\.|'')*'|“[^”]*”|„[^“”]*[“”]|«[^»]*»"""
_MISSING_IN_LIST = ("null", "None", "nan", "NaN")


class _Part(NamedTuple):
    """A name of a cell, and whether it was in quotes."""

    name: str
    is_quoted: bool


def strip_brackets(content: str) -> str | None:
    """Return what is inside the brackets of a text; None for a text that is not in brackets."""
    match = _BRACKETED.fullmatch(content)
    return None if match is None else match[match.lastindex or 0]


def list_bracketed(content: str, mark: str) -> list[str]:
    """List what is inside the brackets of a text that is nothing else, as in ``[a, b] [c]``."""
    if not _compile_bracketed(mark).fullmatch(content):
        return []
    return [match[match.lastindex or 0] for match in _BRACKETED.finditer(content)]


@lru_cache
def _compile_bracketed(mark: str) -> re.Pattern[str]:
    """Compile the pattern of texts in brackets, with marks or spaces between."""
    return re.compile(rf"(?:(?:{_IN_BRACKETS})(?:\s*{re.escape(mark)})?\s*)+")


def split_bracketed(inside: str, mark: str) -> list[str | None]:
    """Divide the inside of brackets into names; None for a word that means nothing."""
    names: list[str | None] = []
    for name, is_quoted in _split_parts(inside, mark):
        is_missing = not is_quoted and name in _MISSING_IN_LIST
        names.append(None if is_missing else name)
    require_complete(names)
    return names


def split_quoted(content: str, mark: str) -> list[str]:
    """Divide a text into names, which may be in quotes and then contain the mark."""
    return [part.name for part in _split_parts(content, mark)]


def find_enclosure(cells: Sequence[str], mark: str) -> str | None:
    """Find what encloses the labels of a column.

    Parameters
    ----------
    cells : sequence of str
        The cells that are neither empty nor lists as programs write them.
    mark : str
        The separator.

    Returns
    -------
    enclosure : str or None
        Brackets, if most cells are in brackets, and one of these has several names. Quotes, if all
        names of most cells are in quotes, and one of these has several names, or if there is a name
        in quotes that contains the separator.
    """
    most = len(cells) / 2
    n_bracketed = 0
    has_several = False
    for cell in cells:
        insides = list_bracketed(cell, mark)
        if insides:
            n_bracketed += 1
        has_several = has_several or len(insides) > 1 or any(mark in each for each in insides)
    if n_bracketed > most and has_several:
        return IN_BRACKETS
    n_quoted = 0
    has_several = False
    for cell in cells:
        parts = _split_parts(cell, mark)
        if any(part.is_quoted and mark in part.name for part in parts):
            return IN_QUOTES
        if parts and all(part.is_quoted for part in parts):
            n_quoted += 1
            has_several = has_several or len(parts) > 1
    if n_quoted > most and has_several:
        return IN_QUOTES
    return None


def _split_parts(content: str, mark: str) -> list[_Part]:
    """Divide a text at a mark that is not inside quotes."""
    parts = []
    for match in _compile_part(mark).finditer(content):
        quoted, plain = match.groups()
        if quoted is not None:
            parts.append(_Part(_unquote(quoted), is_quoted=True))
        elif plain.strip():
            parts.append(_Part(plain.strip(), is_quoted=False))
    return parts


@lru_cache
def _compile_part(mark: str) -> re.Pattern[str]:
    """Compile the pattern of a name, in quotes or not, that ends at a mark."""
    return re.compile(rf"\s*(?:({_QUOTED})\s*|(.*?))(?:{re.escape(mark)}|\Z)", re.DOTALL)


def _unquote(quoted: str) -> str:
    """Return what is inside quotes; a quote inside is doubled or has a backslash."""
    mark = quoted[0]
    if mark not in "\"'":
        return quoted[1:-1]
    return re.sub(rf"\\([\\{mark}])|{mark}{mark}", lambda match: match[1] or mark, quoted[1:-1])
