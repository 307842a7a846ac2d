"""CSV without a header: what its records hold, and the command that writes a header above them."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.columns import WantedColumns, check_columns

_LONGEST_NAME_WORDS = 12
"""Words of the longest name of a column; a text has more."""
_TEXT_PER_NAME = 3
"""Factor by which a text has more words than the name of its column."""
_PARTS = {re.compile(r"part-.*"): "part-*", re.compile(r"\d{6}_\d+.*"): "[0-9]*"}
"""Patterns of the shell for parts that Spark, Hadoop and Hive write, usually without a header."""
_HIVE_DELIMITER = "\x01"
_UNPACKERS = {".gz": "gzip -dc", ".bz2": "bzip2 -dc", ".xz": "xz -dc", ".zst": "zstd -dc"}


class _Records(NamedTuple):
    """Records as a delimiter divides them, as far as all have as many columns as the first."""

    delimiter: str
    rows: list[list[str]]

    @property
    def n_columns(self) -> int:
        return len(self.rows[0])


def refuse_record_as_header(
    beginning: Sequence[str],
    delimiters: str,
    dialect: dict[str, Any],
    wanted: WantedColumns,
    path: StrPath,
    earlier_names: list[str] | None = None,
) -> None:
    """Refuse a file whose first line has none of the required columns.

    Parameters
    ----------
    beginning : sequence of str
        The first lines.
    delimiters : str
        Delimiters to try.
    dialect : dict
        Further options of :func:`csv.reader`.
    wanted : WantedColumns
    path : path
        The file's name in messages.
    earlier_names : list of str, optional
        The header of an earlier file.
    """
    candidates = []
    for delimiter in delimiters + _HIVE_DELIMITER:
        candidates.append(_divide_records(beginning, delimiter, dialect))
    records = max(candidates, key=_judge_division)
    first = records.rows[0]
    if len(first) < len(wanted.required) or _begin_with_header(records.rows):
        check_columns(wanted.required, first, path, 1, wanted.remedy)
    if earlier_names and len(earlier_names) == len(first):
        _refuse_later_part(first, records.delimiter, earlier_names, path)
    command = _write_header_command(
        records.delimiter, name_columns(records.rows, wanted.required), path
    )
    if max(len(field.split()) for field in first) > _LONGEST_NAME_WORDS:
        message = (
            f"the first line is a record, not the names of the columns: {', '.join(first):.60}"
        )
        raise InputError(message, path=path, line=1, remedy=f"write them above it: {command}")
    remedy = f"write the names of the columns above it: {command}"
    remedy = f"{wanted.remedy}, or, if this is a record, {remedy}"
    check_columns(wanted.required, first, path, 1, remedy)


def _refuse_later_part(
    first: list[str], delimiter: str, names: list[str], path: StrPath
) -> NoReturn:
    """Refuse a file without the header that an earlier one has."""
    remedy = f"write that above it: {_write_header_command(delimiter, names, path)}"
    if _find_parts(path):
        remedy = f"join the files: {_write_reading_command(path)} > new.csv"
    raise InputError(
        f"the first line is not the header of an earlier file: {', '.join(first):.60}",
        path=path,
        line=1,
        remedy=f"name the columns alike in all files, or, if this is a record, {remedy}",
    )


def _begin_with_header(rows: list[list[str]]) -> bool:
    """Tell whether the first row is surely a header: new words, far fewer than a text has."""
    header, *records = rows
    text = _find_text(rows)
    for place, name in enumerate(header):
        if name and name in [record[place] for record in records]:
            return False
    n_words = len(header[text].split())
    return _TEXT_PER_NAME * n_words * len(records) < _count_words(records, text)


def _judge_division(records: _Records) -> tuple[int, int]:
    """Prefer delimiters that divide all records alike, into several columns."""
    n_alike = len(records.rows) if records.n_columns > 1 else 0
    return n_alike, records.n_columns


def _divide_records(lines: Sequence[str], delimiter: str, dialect: dict[str, Any]) -> _Records:
    """Divide the first lines into records, up to one of another number of columns."""
    rows: list[list[str]] = []
    try:
        for row in filter(None, csv.reader(lines, delimiter=delimiter, **dialect)):
            if rows and len(row) != len(rows[0]):
                break
            rows.append([field.strip() for field in row])
    except csv.Error:
        # the last of the lines may end within quotes
        pass
    return _Records(delimiter, rows or [[""]])


def _write_header_command(delimiter: str, names: Sequence[str], path: StrPath) -> str:
    """Write the command that puts a header above the records of a file, or of all parts.

    Tabs take the place of Hive's delimiter.
    """
    reading_command = _write_reading_command(path)
    if delimiter == _HIVE_DELIMITER:
        delimiter = "\t"
        reading_command += r" | tr '\001' '\t'"
    header = io.StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="").writerow(names)
    echo = f"echo {_quote(header.getvalue())}"
    if delimiter == "\t":
        # a message has no tabs
        escaped = header.getvalue().replace("%", "%%").replace("\t", r"\t")
        echo = "printf " + _quote(escaped + r"\n")
    return f"({echo}; {reading_command}) > new.csv"


def _write_reading_command(path: StrPath) -> str:
    """Write the command that prints a file, or all parts, unpacked."""
    ending = Path(path).suffix
    source = "old.csv"
    if ending in _UNPACKERS:
        source += ending
    parts = _find_parts(path)
    if parts:
        source = f"{_quote(str(Path(path).parent))}/{parts}"
    return f"{_UNPACKERS.get(ending, 'cat')} {source}"


def _find_parts(path: StrPath) -> str | None:
    """Find the pattern of the files that are parts as this one is; None if it is no part."""
    for names, pattern in _PARTS.items():
        if names.fullmatch(Path(path).name):
            return pattern
    return None


def _quote(text: str) -> str:
    """Put a text in quotes of the shell."""
    return "'" + text.replace("'", r"'\''") + "'"


def name_columns(rows: list[list[str]], required: Sequence[str]) -> list[str]:
    """Name columns by what they hold: text and labels, if only these are required."""
    n_columns = len(rows[0])
    places = list(range(n_columns))
    if len(required) <= 2:
        text = _find_text(rows)
        labels = min(
            [place for place in reversed(places) if place != text],
            key=lambda place: _count_different(rows, place),
            default=text,
        )
        places = [text, labels]
    names = [f"column{number}" for number in range(1, n_columns + 1)]
    for name, place in zip(required, places, strict=False):
        names[place] = name
    return names


def _find_text(rows: list[list[str]]) -> int:
    """Find the column with the most words."""
    return max(range(len(rows[0])), key=lambda place: _count_words(rows, place))


def _count_words(rows: list[list[str]], place: int) -> int:
    return sum(len(row[place].split()) for row in rows)


def _count_different(rows: list[list[str]], place: int) -> float:
    """Count the different cells of a column, where all alike are no labels."""
    n = len({row[place] for row in rows})
    return n if n > 1 else len(rows)
