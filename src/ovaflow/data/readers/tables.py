"""Texts with labels, one by one: lines of ``labels<TAB>text``, CSV with a header, JSON Lines, Parquet."""

import csv
import json
import sys
from collections import Counter

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import open_seekable, read_lines
from ovaflow.data.readers.texts import CORRECT, Columns, check_columns

_DELIMITERS = ",;\t"
_BATCH = 1024
_BUFFER = 1 << 20
"""Bytes read at a time of each column of Parquet; without it a whole row group would be."""


def read_texts(format, path, text_column="text", labels_column="labels", label_separator=",", n_labels=None):
    """Instances of a file, plain or compressed, in bounded memory.

    ``text_column`` may name several columns, separated by commas. With ``n_labels`` the labels must be ids below it;
    otherwise they are names.
    """
    columns = Columns.of(text_column, labels_column, label_separator, n_labels)
    return TEXT_FORMATS[format](path, columns)


def _read_tsv(path, columns):
    for number, line in read_lines(path):
        labels, tab, text = line.partition("\t")
        if "\r" in line and "\t" in text.partition("\r")[2]:
            remedy = "they must end with a line feed"
            raise InputError("lines end with carriage returns alone", path=path, line=number, remedy=remedy)
        if tab:
            yield columns.instance([text, labels], path, number)
        elif line.strip():
            message = f"expected labels, a tab and a text, found no tab in {line[:40]!r}"
            raise InputError(message, path=path, line=number, remedy="put a tab between labels and text")


def _read_csv(path, columns):
    lines = (line for _, line in read_lines(path, keep_ends=True))
    for number, fields in read_csv_fields(lines, columns.names, path):
        yield columns.instance(fields, path, number)


def read_csv_fields(lines, wanted, path, **remedy):
    """Chosen fields of each record, after the number of the line on which it begins.

    The delimiter is the comma, semicolon or tab with which the header has all columns.
    """
    csv.field_size_limit(sys.maxsize)
    names, delimiter = _header(next(lines, ""), wanted, path)
    check_columns(wanted, names, path, 1, **remedy)
    chosen = [names.index(name) for name in wanted]
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        number = reader.line_num + 2
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise _malformed(error, path, number) from None
        if record is None:
            return
        if record and len(record) != len(names):
            message = f"{len(record)} fields, the header has {len(names)}"
            advice = f'quote fields that contain {delimiter!r}, line ends or quotes ("")'
            raise InputError(message, path=path, line=number, remedy=advice)
        if record:
            yield number, [record[column] for column in chosen]


def _header(line, wanted, path):
    kinds, complaint = [], None
    for delimiter in _DELIMITERS:
        try:
            names = next(csv.reader([line], delimiter=delimiter, strict=True), [])
        except csv.Error as error:
            complaint = error
            continue
        kinds.append(([name.strip() for name in names], delimiter))
        if set(wanted).issubset(kinds[-1][0]):
            return kinds[-1]
    if not kinds:
        raise _malformed(complaint, path, 1)
    return max(kinds, key=lambda kind: len(kind[0]))


def _malformed(error, path, line):
    remedy = "lines must end with a line feed" if "new-line" in str(error) else "check the quotes from here on"
    return InputError(f"malformed record ({str(error).partition(' - ')[0]})", path=path, line=line, remedy=remedy)


def _read_jsonl(path, columns):
    for number, line in read_lines(path):
        if line.strip():
            entry = read_json_object(line, path, number)
            check_columns(columns.names, entry, path, number)
            yield columns.instance([entry[name] for name in columns.names], path, number)


def read_json_object(line, path, number):
    """The object that a line of JSON Lines holds."""
    try:
        entry = json.loads(line, object_pairs_hook=_without_repeated_keys, parse_constant=_refuse_constant)
    except (RecursionError, ValueError) as error:
        if isinstance(error, json.JSONDecodeError):
            reason = f"{error.msg} at character {error.pos + 1}"
        else:
            reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise InputError(f"not valid JSON ({reason})", path=path, line=number, remedy=CORRECT) from None
    if not isinstance(entry, dict):
        message = f"expected a JSON object, found {line[:40]!r}"
        raise InputError(message, path=path, line=number, remedy="write one object per line")
    return entry


def _without_repeated_keys(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {key[:60]!r} appears twice")
    return found


def _refuse_constant(name):
    raise ValueError(f"{name} is not a number of JSON")


def _read_parquet(path, columns):
    # Arrow takes a tenth of a second to load
    import pyarrow.parquet

    with open_seekable(path) as stream:
        row = 0
        try:
            for fields in _parquet_rows(pyarrow.parquet.ParquetFile(stream, buffer_size=_BUFFER), columns.names, path):
                row += 1
                yield columns.instance(fields, path, None, row)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            message = f"not a readable Parquet file, or a damaged one after row {row} ({error})"
            raise InputError(message, path=path, remedy="download or copy it again") from None


def _parquet_rows(file, names, path):
    check_columns(names, file.schema_arrow.names, path)
    for batch in file.iter_batches(_BATCH, columns=names):
        # iter_batches keeps the file's order of columns
        yield from zip(*(batch.column(name).to_pylist() for name in names), strict=True)


TEXT_FORMATS = {"text-tsv": _read_tsv, "csv": _read_csv, "jsonl": _read_jsonl, "parquet": _read_parquet}
"""Formats that hold texts and label names (or ids), with their readers."""
