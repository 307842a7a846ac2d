"""CSV with a header; commas, semicolons, tabs or bars are between its columns."""

import csv
import sys

from ovaflow.console.errors import InputError
from ovaflow.reading.columns import find_columns, normalize_column_name
from ovaflow.reading.instances import empty_file_error

DELIMITERS = ",;\t|"
_QUOTES = {
    "auto": {"strict": True},
    "double": {"strict": True},
    "backslash": {"strict": True, "doublequote": False, "escapechar": "\\"},
    "none": {"quoting": csv.QUOTE_NONE, "quotechar": None},
}
"""How fields are quoted, by the setting ``quotes``."""


def read(file, reading):
    with file.lines() as lines:
        for number, fields in read_fields(
            lines, reading.required, file.name, reading.optional, reading
        ):
            yield reading.instance(fields, file.name, number)


def read_fields(lines, required, path, optional=(), reading=None, remedy=None):
    """Fields of each record, after the number of its first line; optional ones where they exist."""
    quotes = reading.quotes if reading else "double"
    names, delimiter, number = _header(lines, required, path, quotes)
    if reading:
        reading.seen |= {"columns": names, "delimiter": delimiter, "encoding": lines.encoding}
    rows = read_csv_records(
        lines, path, delimiter, number + 1, quotes, reading.counts if reading else None
    )
    remedy = reading.remedy if reading else remedy
    yield from select_fields(
        names, rows, required, path, optional, remedy, delimiter, quotes=quotes
    )


def select_fields(
    names, rows, required, path, optional=(), remedy=None, delimiter=",", first=1, quotes="double"
):
    """Fields of the rows of a table, after their numbers; rows that do not fit its header are
    refused.
    """
    columns = find_columns(names, required, path, optional, remedy, first, delimiter)
    for number, record in rows:
        if record and len(record) != len(names):
            message = f"{len(record)} fields, the header has {len(names)}"
            advice = f'quote fields that contain {delimiter!r}, line ends or quotes ("")'
            if quotes == "none":
                advice = f"remove {delimiter!r} from the fields, or set quotes: double if there are quotes around them"
            raise InputError(message, path=path, line=number, remedy=advice)
        if len(record) > 1 and record[0] is not None and _names(record) == names:
            advice = "if files were joined, name each of them instead, or a pattern such as exports/*.csv"
            raise InputError(
                "the header occurs a second time", path=path, line=number, remedy=advice
            )
        if record:
            yield number, [record[column] for column in columns]


def read_csv_records(lines, path, delimiter=",", first=1, quotes="double", counts=None):
    """Fields of each record, after the number of its first line; counts fields that look like
    several records.
    """
    csv.field_size_limit(sys.maxsize)
    line = ""
    n_several = 0
    n_alike = 0

    def texts():
        nonlocal line
        for _, line in lines:
            yield line

    reader = csv.reader(texts(), delimiter=delimiter, **_QUOTES[quotes])
    while True:
        number = reader.line_num + first
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise _malformed(error, path, number, quotes, line) from None
        if record is None:
            break
        if quotes == "auto" and reader.line_num + first > number + 1:
            _require_no_swallowed(record, delimiter, path, number)
            n_several += 1
            n_alike += _are_like_records(record, delimiter)
        yield number, record
    if n_several and n_alike == n_several:
        # texts that only look like records would not all do so
        counts["fields_like_records"] += n_alike


def _are_like_records(record, delimiter):
    """Whether what is on each side of a field's line ends would be whole records with the other
    fields.
    """
    return any(
        [line.count(delimiter) for line in field.split("\n")]
        == [len(record) - 1 - place, *[len(record) - 1] * (field.count("\n") - 1), place]
        for place, field in enumerate(record)
        if "\n" in field
    )


def _require_no_swallowed(record, delimiter, path, number) -> None:
    """Refuse a field whose lines look like records of their own."""
    for field in record:
        inner = field.split("\n")[1:-1]
        fit = len(inner) >= _SEVERAL and all(
            line.count(delimiter) == len(record) - 1 > 0 for line in inner
        )
        if fit or (delimiter == "\t" and "\t" in field and "\n" in field):
            message = f"a quote opened here closes {field.count(chr(10))} lines later, and these lines look like records"
            remedy = "set quotes: none if quotes mean nothing in this file, or quotes: double if this is one text"
            raise InputError(message, path=path, line=number, remedy=remedy)


_SEVERAL = 3
"""Lines of a field with as many commas as a record, which one or two may have by chance."""


def _header(lines, required, path, quotes):
    """Names of the columns, the delimiter that makes most of those required, and the number of the
    last line.
    """
    number, header = next(lines, (1, None))
    if header is None:
        raise empty_file_error(path)
    chosen = DELIMITERS
    if header[:4].casefold() == "sep=" and header.rstrip("\r\n")[5:] == "":
        # how Excel is told the delimiter
        chosen = header[4]
        number, header = next(lines, (2, ""))
    parts = [header]
    while quotes != "none" and "".join(parts).count('"') % 2 and len(parts) < _LONGEST_HEADER:
        number, line = next(lines, (number, None))
        if line is None:
            break
        parts.append(line)
    candidates = []
    wanted = set(map(normalize_column_name, required))
    for delimiter in chosen:
        try:
            names = _names(next(csv.reader(parts, delimiter=delimiter, **_QUOTES[quotes]), []))
        except csv.Error as error:
            malformed = _malformed(error, path, number, quotes, header)
        else:
            # without the columns that are wanted, as many as there should be are likelier
            is_full = len(names) == len(required) > 1
            candidates.append(
                (
                    wanted <= set(map(normalize_column_name, names)),
                    is_full,
                    len(names),
                    names,
                    delimiter,
                )
            )
    if not candidates:
        raise malformed
    return *max(candidates)[3:], number


_LONGEST_HEADER = 100
"""Lines of a header whose names hold line ends."""


def _names(record):
    return [str(field).strip().lstrip("\ufeff") for field in record]


def _malformed(error, path, line, quotes, written):
    remedy = "lines must end with a line feed"
    if "new-line" not in str(error):
        remedy = "check the quotes from here on"
        if quotes == "auto":
            meant = (
                'backslash if \\" is a quote' if '\\"' in written else "none if they mean nothing"
            )
            remedy += f", or set quotes: {meant}"
    return InputError(
        f"malformed record ({str(error).partition(' - ')[0]})", path=path, line=line, remedy=remedy
    )
