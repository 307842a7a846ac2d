"""Columns of a table by their names."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ovaflow.console.errors import InputError, StrPath


def split_column_names(columns: str) -> list[str]:
    """Split names of columns at commas; a name with a comma of its own is in quotes."""
    names = []
    for match in _COLUMN_NAME.finditer(columns):
        quoted, plain = match.groups()
        name = plain
        if quoted is not None:
            name = quoted.replace('""', '"')
        if name.strip():
            names.append(name.strip())
    return names


_COLUMN_NAME = re.compile(r'\s*(?:"((?:[^"]|"")+)"\s*(?=,|$)|([^,]+))')


def join_column_names(names: Iterable[str]) -> str:
    """Join names of columns so that :func:`split_column_names` splits them."""
    return ",".join(_quote_column_name(name) for name in names)


def _quote_column_name(name: str) -> str:
    if "," in name or '"' in name:
        return '"' + name.replace('"', '""') + '"'
    return name


def normalize_column_name(name: str) -> str:
    """Remove from a column's name what a person need not copy.

    These are capitals, spaces around commas, and line ends, which messages have as escapes.
    """
    return re.sub(" *, *", ",", " ".join(name.replace("\\n", " ").split())).casefold()


class WantedColumns(NamedTuple):
    """Columns that a table is read for."""

    required: Sequence[str]
    optional: Sequence[str] = ()
    remedy: str | None = None  # for a required column that is missing


def find_columns(
    names: list[str],
    wanted: WantedColumns,
    path: StrPath,
    line: int | None = None,
) -> list[int]:
    """Find the places of columns in a header.

    A name in other letters is that of the only column that has the same normalized name.

    Parameters
    ----------
    names : list of str
        The header.
    wanted : WantedColumns
    path : path
        The file's name in messages.
    line : int, optional
        Number of the header's line, from 1.

    Returns
    -------
    list of int
        Places of the required columns and of the optional ones that there are.
    """
    required = [_find_name(names, each) for each in wanted.required]
    optional = list(wanted.optional)
    # the default is taken as it is written; other names are those of a setting
    if optional != ["id"]:
        optional = [_find_name(names, each) for each in optional]
    check_columns(required, names, path, line, wanted.remedy)
    existing = [name for name in optional if name in names]
    return [names.index(name) for name in required + existing]


def has_required_column(names: Sequence[str], wanted: WantedColumns) -> bool:
    """Tell whether a header has one of the required columns, or none is required."""
    found = {_find_name(names, each) for each in wanted.required}
    return not found or not found.isdisjoint(names)


def _find_name(names: Sequence[str], name: str) -> str:
    """Find a column by its name, or by its normalized name if only one column has that."""
    if name in names:
        return name
    normalized = normalize_column_name(name)
    alike = [each for each in names if normalize_column_name(each) == normalized]
    if len(alike) == 1:
        return alike[0]
    return name


def check_columns(
    required: Sequence[str],
    existing: Iterable[str],
    path: StrPath,
    line: int | None = None,
    remedy: str | None = None,
) -> None:
    """Refuse a source that lacks one of the columns, and list those that it has."""
    existing = list(existing)
    missing = [repr(name) for name in required if name not in existing]
    if missing:
        columns = ", ".join(repr(name) for name in existing) or "none"
        message = f"no column {', '.join(missing)}, there are {columns[:500]}"
        raise InputError(message, path=path, line=line, remedy=remedy)
    repeated = [name for name in required if existing.count(name) > 1]
    if repeated:
        message = f"there are several columns {repeated[0]!r}"
        raise InputError(message, path=path, line=line, remedy="rename all but one")
