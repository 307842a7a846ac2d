"""JSON Lines: an object per line, or a text and an object, as spaCy has them."""

import json
import re
from collections.abc import Iterator
from typing import Any

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.columns import check_columns
from ovaflow.reading.foreign import NAMES_FOR_LISTS, ONE_LINE_PER_OBJECT, ONE_OBJECT_PER_LINE
from ovaflow.reading.instances import CORRECT_LINE, Reading, TextInstance
from ovaflow.reading.missing_header import name_columns
from ovaflow.reading.streams import Lines, RecordFile

_LINES_WITH_ALL_COLUMNS = 512
"""Lines in which every column occurs, if records are answered before the last is read."""


def read(file: RecordFile, reading: Reading) -> Iterator[TextInstance]:
    """Yield the instances of a file."""
    names = [*reading.required, *reading.optional]
    with file.lines() as lines:
        for number, entry in _read_entries(lines, reading, file.name):
            fields = [entry.get(name) for name in names]
            yield reading.make_instance(fields, file.name, number)


def _read_entries(
    lines: Lines, reading: Reading, path: StrPath
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and object of each record, whose keys together must be all columns."""
    keys: dict[str, None] = {}
    entry: Any = None
    for number, line in lines:
        if not line.strip():
            continue
        entry = _parse_line(line, path, number)
        if isinstance(entry, list):
            entry = _read_list(entry, reading, path, number)
        _require_object(entry, line, path, number)
        keys |= dict.fromkeys(entry)
        reading.seen["columns"] = keys
        if reading.streamed and (number >= _LINES_WITH_ALL_COLUMNS or not lines.ready):
            check_columns(reading.required, keys, path, remedy=reading.remedy)
        yield number, entry
    if entry is not None:
        check_columns(reading.required, keys, path, remedy=reading.remedy)


def read_object(line: str, path: StrPath, number: int | None) -> dict[str, Any]:
    """Parse the object of a line, or of a file."""
    entry = _parse_line(line, path, number)
    _require_object(entry, line, path, number)
    return entry


def _parse_line(line: str, path: StrPath, number: int | None) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        written = line.strip()
        if number == 1 and written[:1] == "[":
            message = "expected one object per line, found an array that spans lines"
            raise InputError(message, path=path, line=number, remedy=ONE_OBJECT_PER_LINE) from None
        if number == 1 and written[:1] == "{" and written[-1] in "{[,":
            message = "expected one object per line, found an object that spans lines"
            raise InputError(message, path=path, line=number, remedy=ONE_LINE_PER_OBJECT) from None
        message = f"not valid JSON ({error})"
        raise InputError(message, path=path, line=number, remedy=CORRECT_LINE) from None


def _require_object(entry: Any, line: str, path: StrPath, number: int | None) -> None:
    if not isinstance(entry, dict):
        remedy = ONE_OBJECT_PER_LINE if isinstance(entry, list) else CORRECT_LINE
        message = f"expected a JSON object, found {line[:40]!r}"
        raise InputError(message, path=path, line=number, remedy=remedy)


def _read_list(values: list, reading: Reading, path: StrPath, number: int) -> dict[str, Any] | list:
    """Return the object of a list that spaCy wrote; refuse a list of other values.

    A list of records is returned as it is.
    """
    if len(values) == 2 and isinstance(values[0], str) and isinstance(values[1], dict):
        return values[1] | {"text": values[0]}
    if all(isinstance(each, dict | list) for each in values):
        return values
    names = reading.required
    if len(names) <= len(values):
        names = name_columns([[str(value) for value in values]], names)
    quoted = ",".join(f"'{_escape_quotes(name)}'" for name in names)
    message = f"expected a JSON object, found the list {json.dumps(values, ensure_ascii=False):.60}"
    raise InputError(message, path=path, line=number, remedy=NAMES_FOR_LISTS.format(quoted))


def _escape_quotes(name: str) -> str:
    """Escape what ends a string of Python within quotes of the shell."""
    return re.sub(r"""["'$`\\]""", lambda match: f"\\x{ord(match[0]):02x}", name)
