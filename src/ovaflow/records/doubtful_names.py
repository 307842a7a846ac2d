"""Labels that seem to be read otherwise than they were meant, counted for remarks."""

from collections.abc import Collection
from typing import Any

from ovaflow.reading.enclosures import AUTO_ENCLOSURE, IN_QUOTES, strip_brackets
from ovaflow.reading.instances import NO_SEPARATOR, Reading


def count_doubtful_names(reading: Reading, counts: dict[str, Any]) -> None:
    """Count the different labels that separators, brackets or quotes may have divided wrongly."""
    names = {written.strip() for written in reading.written_labels}
    found: dict[str, list[str]] = {}
    if reading.seen.get("cut") and reading.separator != NO_SEPARATOR:
        # a name that contains the separator is one of a list
        found["names_with_separator"] = [name for name in names if reading.separator in name]
    if reading.seen.get("uncut"):
        found["combined_names"] = _find_combined(names, reading.mark)
    if reading.label_enclosure == IN_QUOTES:
        found["combined_names_in_quotes"] = _find_combined(names, reading.mark)
    if reading.label_enclosure == AUTO_ENCLOSURE:
        if reading.seen.get("bracketed"):
            found["names_in_brackets"] = [name for name in names if _is_bracketed(name)]
        if reading.seen.get("separated"):
            found["names_in_quotes"] = _find_quoted(names)
    for title, examples in found.items():
        if examples:
            counts[title] = len(examples)
            counts[f"first_of_{title}"] = min(examples)


def _find_combined(names: Collection[str], mark: str) -> list[str]:
    """Find the names that a mark would cut into other names."""
    combined = []
    for name in names:
        if mark in name:
            parts = [part.strip() for part in name.split(mark)]
            if all(part in names for part in parts):
                combined.append(name)
    return combined


def _is_bracketed(name: str) -> bool:
    return name[:1] == "[" and strip_brackets(name) is not None


def _find_quoted(names: Collection[str]) -> list[str]:
    """Find names in quotes that are labels without quotes, too, and those of half a quote."""
    quoted = []
    opened = []
    closed = []
    for name in names:
        inside = name.strip("\"'")
        if inside and inside != name and inside in names:
            quoted.append(name)
        if name.count('"') == 1:
            if name[0] == '"':
                opened.append(name)
            if name[-1] == '"':
                closed.append(name)
    # either alone may be part of names, as in 5"
    if opened and closed:
        quoted += opened + closed
    return quoted
