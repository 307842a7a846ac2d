"""JSON Lines: an object per line."""

import json

from ovaflow.console.errors import InputError
from ovaflow.reading.columns import check_columns
from ovaflow.reading.foreign import ONE_OBJECT_PER_LINE
from ovaflow.reading.instances import CORRECT_LINE

_EARLY = 512
"""Lines in which every column occurs, if records are answered before the last is read."""


def read(file, reading):
    names = [*reading.required, *reading.optional]
    with file.lines() as lines:
        for number, entry in _entries(lines, reading, file.name):
            yield reading.instance(list(map(entry.get, names)), file.name, number)


def _entries(lines, reading, path):
    """Line number and object of each record, whose keys together must be all columns."""
    keys = {}
    entry = None
    for number, line in lines:
        if not line.strip():
            continue
        entry = read_object(line, path, number)
        keys |= dict.fromkeys(entry)
        reading.seen["columns"] = keys
        if reading.early and (number >= _EARLY or not lines.ready):
            check_columns(reading.required, keys, path, remedy=reading.remedy)
        yield number, entry
    if entry is not None:
        check_columns(reading.required, keys, path, remedy=reading.remedy)


def read_object(line, path, number):
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        if line.strip() in ("[", "{"):
            message = "expected one object per line, found a value that spans lines"
            raise InputError(message, path=path, line=number, remedy=ONE_OBJECT_PER_LINE) from None
        raise InputError(
            f"not valid JSON ({error})", path=path, line=number, remedy=CORRECT_LINE
        ) from None
    if not isinstance(entry, dict):
        message = f"expected a JSON object, found {line[:40]!r}"
        raise InputError(message, path=path, line=number, remedy=ONE_OBJECT_PER_LINE)
    return entry
