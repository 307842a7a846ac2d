"""JSON Lines: an object per line."""

import json
from collections.abc import Iterator
from typing import Any

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.columns import check_columns
from ovaflow.reading.foreign import ONE_OBJECT_PER_LINE
from ovaflow.reading.instances import CORRECT_LINE, Reading, TextInstance
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
    entry = None
    for number, line in lines:
        if not line.strip():
            continue
        entry = read_object(line, path, number)
        keys |= dict.fromkeys(entry)
        reading.seen["columns"] = keys
        if reading.streamed and (number >= _LINES_WITH_ALL_COLUMNS or not lines.ready):
            check_columns(reading.required, keys, path, remedy=reading.remedy)
        yield number, entry
    if entry is not None:
        check_columns(reading.required, keys, path, remedy=reading.remedy)


def read_object(line: str, path: StrPath, number: int | None) -> dict[str, Any]:
    """Parse the object of a line."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        if line.strip() in ("[", "{"):
            message = "expected one object per line, found a value that spans lines"
            raise InputError(message, path=path, line=number, remedy=ONE_OBJECT_PER_LINE) from None
        message = f"not valid JSON ({error})"
        raise InputError(message, path=path, line=number, remedy=CORRECT_LINE) from None
    if not isinstance(entry, dict):
        message = f"expected a JSON object, found {line[:40]!r}"
        raise InputError(message, path=path, line=number, remedy=ONE_OBJECT_PER_LINE)
    return entry
