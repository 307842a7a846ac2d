"""CSV with a header; its columns are divided by commas, semicolons, tabs or bars."""

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.columns import (
    WantedColumns,
    find_columns,
    has_required_column,
    normalize_column_name,
)
from ovaflow.reading.instances import Reading, TextInstance, empty_file_error
from ovaflow.reading.missing_header import refuse_record_as_header
from ovaflow.reading.streams import CONVERT_LINE_ENDS, Lines, RecordFile

DELIMITERS = ",;\t|"
"""Delimiters that a header is tried with."""
_DIALECTS: dict[str, dict[str, Any]] = {
    "auto": {"strict": True},
    "double": {"strict": True},
    "backslash": {"strict": True, "doublequote": False, "escapechar": "\\"},
    "none": {"quoting": csv.QUOTE_NONE, "quotechar": None},
}
"""Options of :func:`csv.reader` by the setting ``quotes``."""


def read(file: RecordFile, reading: Reading) -> Iterator[TextInstance]:
    """Yield the instances of a file."""
    with file.lines() as lines:
        for number, fields in read_fields(lines, reading.wanted_columns, file.name, reading):
            yield reading.make_instance(fields, file.name, number)


def read_fields(
    lines: Lines, wanted: WantedColumns, path: StrPath, reading: Reading | None = None
) -> Iterator[tuple[int, list]]:
    """Yield the number of each record's first line, and its fields in the wanted columns.

    Parameters
    ----------
    lines : Lines
    wanted : WantedColumns
        Optional columns are among the fields where there are such columns.
    path : path
        The file's name in messages.
    reading : Reading, optional
        Has the setting ``quotes``, and gets columns, delimiter and encoding.
    """
    quotes = reading.quotes if reading else "double"
    counts = reading.counts if reading else None
    header = _read_header(lines, wanted, path, quotes)
    if header.last_line == 1 and not has_required_column(header.names, wanted):
        beginning = [header.first_line]
        while lines.ready and len(beginning) < _MOST_LINES_OF_BEGINNING:
            beginning.append(next(lines)[1])
        earlier_names = reading.seen.get("columns") if reading else None
        refuse_record_as_header(
            beginning, DELIMITERS, _DIALECTS[quotes], wanted, path, earlier_names
        )
    if reading:
        reading.seen |= {
            "columns": header.names,
            "delimiter": header.delimiter,
            "encoding": lines.encoding,
        }
    rows = read_csv_records(
        lines, path, header.delimiter, header.last_line + 1, quotes=quotes, counts=counts
    )
    yield from select_fields(
        header.names, rows, wanted, path, delimiter=header.delimiter, quotes=quotes
    )


def select_fields(
    names: list[str],
    rows: Iterable[tuple[int, list]],
    wanted: WantedColumns,
    path: StrPath,
    *,
    delimiter: str = ",",
    header_line: int | None = 1,
    quotes: str = "double",
) -> Iterator[tuple[int, list]]:
    """Yield the number of each row, and its fields in the wanted columns.

    Rows that do not fit the header are refused.

    Parameters
    ----------
    names : list of str
        The header.
    rows : iterable of pairs
        Number of each row, or of its first line, and all its fields.
    wanted : WantedColumns
    path : path
        The file's name in messages.
    delimiter, quotes : str
        The delimiter and the setting ``quotes``, for messages.
    header_line : int, optional
        Number of the header's line; None for rows of a sheet.
    """
    columns = find_columns(names, wanted, path, header_line)
    for number, record in rows:
        if not record:
            continue
        if len(record) != len(names):
            message = f"{len(record)} fields, the header has {len(names)}"
            remedy = (
                f"put quotes around fields that contain {delimiter!r} or a line end, "
                'and write a quote inside them as ""'
            )
            if quotes == "none":
                remedy = (
                    f"remove {delimiter!r} from the fields, "
                    "or set quotes: double if there are quotes around them"
                )
            raise InputError(message, path=path, line=number, remedy=remedy)
        if len(record) > 1 and record[0] is not None and _clean_names(record) == names:
            raise _repeated_header_error(path, number, is_sheet=header_line is None)
        yield number, [record[column] for column in columns]


def _repeated_header_error(path: StrPath, number: int, *, is_sheet: bool) -> InputError:
    if is_sheet:
        message = f"row {number}: the header occurs a second time"
        return InputError(message, path=path, remedy="delete this row in the workbook")
    return InputError(
        "the header occurs a second time",
        path=path,
        line=number,
        remedy="if files were joined, name each of them instead, "
        "or a pattern such as exports/*.csv",
    )


def read_csv_records(
    lines: Iterable[tuple[int, str]],
    path: StrPath,
    delimiter: str = ",",
    first_line: int = 1,
    *,
    quotes: str = "double",
    counts: Counter | None = None,
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each record's first line, and its fields.

    Parameters
    ----------
    lines : iterable of pairs
        Numbers and texts of lines.
    path : path
        The file's name in messages.
    delimiter : str
    first_line : int
        Number of the first of the lines.
    quotes : str
        The setting ``quotes``.
    counts : Counter, optional
        Gets the number of fields that look like several records; needed for quotes ``auto``.
    """
    csv.field_size_limit(sys.maxsize)
    line = ""
    n_with_line_ends = 0
    n_like_records = 0

    def iterate_texts() -> Iterator[str]:
        nonlocal line
        for _, line in lines:
            yield line

    reader = csv.reader(iterate_texts(), delimiter=delimiter, **_DIALECTS[quotes])
    while True:
        number = reader.line_num + first_line
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise _malformed_error(error, path, number, quotes, line) from None
        if record is None:
            break
        if quotes == "auto" and reader.line_num + first_line > number + 1:
            _refuse_swallowed_records(record, delimiter, path, number)
            n_with_line_ends += 1
            if _looks_like_records(record, delimiter):
                n_like_records += 1
        yield number, record
    # if only some of them look like records, these are texts
    if counts is not None and n_with_line_ends and n_like_records == n_with_line_ends:
        counts["fields_like_records"] += n_like_records


def _looks_like_records(record: list[str], delimiter: str) -> bool:
    """Tell whether a field of a record looks like several records.

    The text on each side of its line ends would then be a whole record with the other fields.
    """
    last = len(record) - 1
    for place, field in enumerate(record):
        n_line_ends = field.count("\n")
        if n_line_ends:
            n_delimiters = [line.count(delimiter) for line in field.split("\n")]
            if n_delimiters == [last - place, *[last] * (n_line_ends - 1), place]:
                return True
    return False


def _refuse_swallowed_records(
    record: list[str], delimiter: str, path: StrPath, number: int
) -> None:
    """Refuse a field whose lines look like records of their own."""
    n_delimiters = len(record) - 1
    for field in record:
        inner = field.split("\n")[1:-1]
        are_records = (
            n_delimiters > 0
            and len(inner) >= _FEWEST_RECORD_LINES
            and all(line.count(delimiter) == n_delimiters for line in inner)
        )
        if are_records or (delimiter == "\t" and "\t" in field and "\n" in field):
            n_lines = field.count("\n")
            raise InputError(
                f"a quote opened here closes {n_lines} lines later, "
                "and these lines look like records",
                path=path,
                line=number,
                remedy="set quotes: none if quotes mean nothing in this file, "
                "or quotes: double if this is one text",
            )


_FEWEST_RECORD_LINES = 3
"""Lines of a field with as many delimiters as a record; one or two may have them by chance."""


_MOST_LINES_OF_BEGINNING = 100
"""Lines that tell what the columns of a file without a header hold."""


class _Header(NamedTuple):
    """The names of columns, the delimiter, and the lines of the header."""

    names: list[str]
    delimiter: str
    first_line: str
    last_line: int  # its number


def _read_header(lines: Lines, wanted: WantedColumns, path: StrPath, quotes: str) -> _Header:
    """Read the header with the delimiter that makes most of the required columns."""
    number, header = next(lines, (1, None))
    if header is None:
        raise empty_file_error(path)
    delimiters = DELIMITERS
    if header[:4].casefold() == "sep=" and header.rstrip("\r\n")[5:] == "":
        # a line that tells Excel the delimiter
        delimiters = header[4]
        number, header = next(lines, (2, ""))
    parts = [header]
    while quotes != "none" and "".join(parts).count('"') % 2 and len(parts) < _MOST_HEADER_LINES:
        number, line = next(lines, (number, None))
        if line is None:
            break
        parts.append(line)
    return _choose_delimiter(parts, delimiters, wanted, path, number, quotes)


def _choose_delimiter(
    parts: list[str],
    delimiters: str,
    wanted: WantedColumns,
    path: StrPath,
    last_line: int,
    quotes: str,
) -> _Header:
    """Choose the delimiter of a header, given its lines.

    The best one makes all required columns; else as many columns as are required; else the most.
    """
    candidates = []
    required = {normalize_column_name(name) for name in wanted.required}
    for delimiter in delimiters:
        try:
            record = next(csv.reader(parts, delimiter=delimiter, **_DIALECTS[quotes]), [])
        except csv.Error as error:
            malformed = _malformed_error(error, path, last_line, quotes, parts[0])
            continue
        names = _clean_names(record)
        has_required = required <= {normalize_column_name(name) for name in names}
        is_full = len(names) == len(wanted.required) > 1
        candidates.append((has_required, is_full, len(names), names, delimiter))
    if not candidates:
        raise malformed
    _, _, _, names, delimiter = max(candidates)
    return _Header(names, delimiter, parts[0], last_line)


_MOST_HEADER_LINES = 100
"""Lines of a header whose names hold line ends."""


def _clean_names(record: Iterable[Any]) -> list[str]:
    return [str(field).strip().lstrip("\ufeff") for field in record]


def _malformed_error(
    error: csv.Error, path: StrPath, line: int, quotes: str, written: str
) -> InputError:
    """Make the error of a record that :mod:`csv` refuses."""
    if "new-line" in str(error):
        remedy = CONVERT_LINE_ENDS
    else:
        remedy = "check the quotes from here on"
        if quotes == "auto":
            if '\\"' in written:
                remedy += ', or set quotes: backslash if \\" is a quote'
            else:
                remedy += ", or set quotes: none if they mean nothing"
    reason = str(error).partition(" - ")[0]
    return InputError(f"malformed record ({reason})", path=path, line=line, remedy=remedy)
