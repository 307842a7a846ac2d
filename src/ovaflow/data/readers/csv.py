"""Comma-separated values with a header."""

import csv
import sys

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import read_lines

_DELIMITERS = ",;\t"


def read(path, columns):
    """Read a file; the delimiter is the comma, semicolon or tab with which the header has all columns.

    Parameters
    ----------
    path : path-like
        Plain or compressed.
    columns : Columns

    Yields
    ------
    TextInstance

    Raises
    ------
    InputError
        If columns are missing, a record has too few or too many fields, or
        quotes are not closed.
    """
    csv.field_size_limit(sys.maxsize)
    lines = (line for _, line in read_lines(path, keep_ends=True))
    first = next(lines, "")
    names, delimiter = _header(first, columns)
    columns.check(names, path, 1)
    chosen = [names.index(name) for name in (*columns.texts, columns.labels)]
    for number, record in _records(lines, delimiter, path):
        if not record:
            continue
        if len(record) != len(names):
            raise InputError(
                f"{len(record)} fields, the header has {len(names)}",
                path=path,
                line=number,
                remedy=f'quote fields that contain {delimiter!r}, line ends or quotes ("")',
            )
        *texts, labels = (record[place] for place in chosen)
        try:
            yield columns.instance(texts, labels)
        except ValueError as error:
            raise InputError(str(error), path=path, line=number) from None


def _header(line, columns):
    for delimiter in _DELIMITERS:
        names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
        if {*columns.texts, columns.labels}.issubset(names):
            return names, delimiter
    return max((next(csv.reader([line], delimiter=mark), []) for mark in _DELIMITERS), key=len), ","


def _records(lines, delimiter, path):
    """Records with the number of the line on which each begins."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        number = reader.line_num + 2
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise InputError(
                f"malformed record ({error})", path=path, line=number, remedy="check the quotes from here on"
            ) from None
        if record is None:
            return
        yield number, record
