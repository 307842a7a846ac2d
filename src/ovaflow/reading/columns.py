"""Columns of a table by their names: several as one text, and where a header has them."""

import re

from ovaflow.console.errors import InputError


def split_column_names(columns):
    """Names of columns with commas between them; a name with a comma of its own is in quotes."""
    found = (each.groups() for each in _COLUMN.finditer(columns))
    names = (plain if quoted is None else quoted.replace('""', '"') for quoted, plain in found)
    return [name for name in map(str.strip, names) if name]


_COLUMN = re.compile(r'\s*(?:"((?:[^"]|"")+)"\s*(?=,|$)|([^,]+))')


def join_column_names(names):
    """What :func:`split_column_names` splits."""
    return ",".join(
        '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name
        for name in names
    )


def normalize_column_name(name):
    """A column's name without what a person need not copy: capitals, and line ends, which messages
    have as escapes.
    """
    return re.sub(" *, *", ",", " ".join(name.replace("\\n", " ").split())).casefold()


def find_columns(names, required, path, optional=(), remedy=None, line=None, delimiter=","):
    """Places of the columns in a header; a name in other letters means the only column that has it
    so.
    """
    required = [_as_in(names, each) for each in required]
    if tuple(optional) != ("id",):
        # id alone is a name that nobody wrote
        optional = [_as_in(names, each) for each in optional]
    if line == 1 and not set(required) & set(names):
        above = delimiter.join(
            [*required, *(f"column{n}" for n in range(len(required) + 1, len(names) + 1))]
        )
        write = f"(echo '{above}'; cat old.csv) > new.csv"
        if max(len(name.split()) for name in names or [""]) > _LONGEST_NAME:
            message = f"the first line is a record, not the names of the columns: {names[0]:.60}"
            raise InputError(message, path=path, line=line, remedy=f"write them above it: {write}")
        remedy = (
            f"{remedy}, or, if this is a record, write the names of the columns above it: {write}"
        )
    check_columns(required, names, path, line, remedy)
    return [
        names.index(name) for name in (*required, *(name for name in optional if name in names))
    ]


_LONGEST_NAME = 12
"""Words of a column's name; a text has more."""


def _as_in(names, name):
    if name in names:
        return name
    alike = [each for each in names if normalize_column_name(each) == normalize_column_name(name)]
    return alike[0] if len(alike) == 1 else name


def check_columns(required, existing, path, line=None, remedy=None) -> None:
    """Refuse a source that lacks one of the columns, naming those that it has."""
    missing = [name for name in required if name not in existing]
    if missing:
        columns = ", ".join(map(repr, existing)) or "none"
        message = f"no column {', '.join(map(repr, missing))}, there are {columns[:500]}"
        raise InputError(message, path=path, line=line, remedy=remedy)
    repeated = [name for name in required if list(existing).count(name) > 1]
    if repeated:
        message = f"there are several columns {repeated[0]!r}"
        raise InputError(message, path=path, line=line, remedy="rename all but one")
