"""Names of labels in lists with numbers: spans, ``[start, end, name]``, and ``[number, name]``."""

from collections.abc import Sequence
from typing import Any

from ovaflow.reading.cells import are_names_with_values

_SPAN_LENGTH = 3


def select_names(content: Any, key: str | None) -> Any:
    """Select the names in lists that hold numbers, too, by their place; else refuse these lists.

    Parameters
    ----------
    content : list, tuple, dict or scalar
        A cell of labels, as :func:`~ovaflow.reading.cells.parse_list` returns it.
    key : str, optional
        The setting ``label_key``: a place from 0.

    Returns
    -------
    content : list, tuple, dict or scalar
        The same without numbers next to names. A list that is no list of lists is returned as it
        is without a place.
    """
    if not isinstance(content, list | tuple):
        return content
    if are_names_with_values(content):
        return content
    if any(isinstance(each, list | tuple) for each in content):
        return [_select_entry(each, key) for each in content]
    if not _is_place(key) or not _mixes_numbers_and_names(content):
        return content
    return [_select_name(each, key) for each in list_flat_spans(content) or [content]]


def _select_entry(entry: Any, key: str | None) -> Any:
    if _mixes_numbers_and_names(entry):
        return _select_name(entry, key)
    return select_names(entry, key)


def _select_name(entry: Sequence[Any], key: str | None) -> str:
    """Select the name in a list with numbers."""
    if not _is_place(key):
        raise ValueError(*explain_numbers(entry))
    place = int(key or 0)
    if place >= len(entry) or not isinstance(entry[place], str):
        _, remedy = explain_numbers(entry)
        raise ValueError(f"a label has no name at place {place}: {entry!r:.60}", remedy)
    return entry[place]


def list_flat_spans(content: Any) -> list[Sequence[Any]]:
    """List the spans of a list that is nothing else: start, end and name, or the name first."""
    if not isinstance(content, list | tuple) or len(content) % _SPAN_LENGTH:
        return []
    spans: list[Sequence[Any]] = []
    for first in range(0, len(content), _SPAN_LENGTH):
        span = content[first : first + _SPAN_LENGTH]
        numbers = [each for each in span if _is_number(each)]
        names = [each for each in (span[0], span[-1]) if isinstance(each, str)]
        if len(names) != 1 or len(numbers) != _SPAN_LENGTH - 1 or numbers[0] > numbers[1]:
            return []
        spans.append(span)
    return spans


def explain_numbers(entry: Sequence[Any]) -> tuple[str, str]:
    """Explain a list of numbers and a name: what it is, and what to do."""
    place = next(place for place, each in enumerate(entry) if isinstance(each, str))
    kind = "pairs of a number and a name"
    if len(entry) >= _SPAN_LENGTH:
        kind = "spans of a text, or other lists of numbers and a name"
    remedy = (
        f'set label_key: "{place}", the place of the name in them, counted from 0; '
        "or labels_are: names if the numbers are labels, too"
    )
    return f"labels are {kind}, such as {entry!r:.60}", remedy


def _is_place(key: str | None) -> bool:
    return key is not None and key.isascii() and key.isdigit()


def _mixes_numbers_and_names(entry: Any) -> bool:
    """Tell whether an entry is a list of numbers and names."""
    if not isinstance(entry, list | tuple):
        return False
    has_numbers = any(_is_number(each) for each in entry)
    return has_numbers and any(isinstance(each, str) for each in entry)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
