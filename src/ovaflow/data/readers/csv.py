"""Comma-separated values with a header."""

import csv

from ovaflow.console.errors import InputError
from ovaflow.data.readers import streams
from ovaflow.data.readers.instances import check_columns
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
    lines = (line for _, line in read_lines(path, keep_ends=True))
    for number, (*texts, labels) in read_fields(lines, (*columns.texts, columns.labels), path):
        try:
            yield columns.instance(texts, labels)
        except ValueError as error:
            raise InputError(str(error), path=path, line=number) from None


def read_fields(lines, wanted, path, remedy="set text_column and labels_column"):
    """Chosen fields of each record.

    Parameters
    ----------
    lines : iterator of str
        With their ends.
    wanted : sequence of str
        Names of columns.
    path : path-like
        For messages.
    remedy : str
        Where columns are missing.

    Yields
    ------
    int, list of str
        Number of the line on which the record begins, and its fields.

    Raises
    ------
    InputError
        If columns are missing, a record has too few or too many fields, or
        quotes are not closed.
    """
    csv.field_size_limit(streams.LONGEST_LINE)
    first = next(lines, "")
    names, delimiter = _header(first, wanted, path)
    check_columns(wanted, names, path, 1, remedy)
    chosen = [names.index(name) for name in wanted]
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
        yield number, [record[place] for place in chosen]


def _header(line, wanted, path):
    kinds, complaint = [], None
    for delimiter in _DELIMITERS:
        try:
            names = next(csv.reader([line], delimiter=delimiter, strict=True), [])
        except csv.Error as error:
            complaint = complaint or error
            continue
        kinds.append([name.strip() for name in names])
        if set(wanted).issubset(kinds[-1]):
            return kinds[-1], delimiter
    if not kinds:
        raise _malformed(complaint, path, 1)
    return max(kinds, key=len), ","


def _malformed(error, path, line):
    remedy = "lines must end with a line feed" if "new-line" in str(error) else "check the quotes from here on"
    return InputError(f"malformed record ({str(error).partition(' - ')[0]})", path=path, line=line, remedy=remedy)


def _records(lines, delimiter, path):
    """Records with the number of the line on which each begins."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        number = reader.line_num + 2
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise _malformed(error, path, number) from None
        if record is None:
            return
        yield number, record
