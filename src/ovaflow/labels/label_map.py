"""Renaming of labels: files of old and new names, and the list of unknown subjects that a person
fills in.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.cells import clean_name
from ovaflow.reading.columns import WantedColumns
from ovaflow.reading.csv_table import read_csv_records, select_fields
from ovaflow.reading.streams import Lines, open_stream
from ovaflow.storage.writing import from_csv_cell, write_csv

UNKNOWN_SUBJECTS = "unknown_subjects.csv"
"""Name of the list of unknown subjects."""

DEPRECATED_REASON = "deprecated"
UNKNOWN_REASON = "unknown"
NAMELESS_REASON = "without a name"
RESPELLED_REASON = "written in another way"
"""Reasons why subjects of records are no labels."""


class UnknownSubject(NamedTuple):
    """A subject of records that is no label: a row of the list.

    Attributes
    ----------
    subject : str
        The subject, as the records have it.
    stands_for : str
        URI or name of a subject of the vocabulary, for a person to fill in; the URI is there if
        only its way of writing differs.
    why : str
        Reason why it is no label.
    records : int
        Number of records that have it.
    name : str
        Name of a deprecated subject.
    replaced_by : str
        URIs of the subjects that replace it, with spaces between them.
    """

    subject: str
    stands_for: str
    why: str
    records: int
    name: str = ""
    replaced_by: str = ""


_FILLED_IN = ["subject", "stands_for"]
"""Columns of the list that make it a file of old and new names."""


def read_label_map(path: StrPath) -> dict[str, str]:
    """Read new names of labels by their old ones.

    Rows have a comma, a semicolon or a tab between the two names.

    Parameters
    ----------
    path : path-like
        File of old and new names, or a list of unknown subjects that is filled in.

    Returns
    -------
    new_names : dict
        New names by old ones; an empty name drops a label.

    Raises
    ------
    InputError
        If a row has not two fields, or an old name appears twice.
    """
    new_names: dict[str, str] = {}
    with open_stream(path) as stream:
        lines = list(Lines(stream, path))
    delimiter = _detect_delimiter(lines[0][1]) if lines else ","
    rows = read_csv_records(lines, path, delimiter)
    for number, row in _read_pairs(rows, path, delimiter):
        names = [clean_name(name) for name in row]
        if not names:
            continue
        if len(names) != 2:
            message = f"{len(row)} fields, expected an old name and a new one"
            remedy = "leave the new name empty to drop a label"
            raise InputError(message, path=path, line=number, remedy=remedy)
        old, new = names
        if old in new_names:
            message = f"{old!r} appears twice"
            raise InputError(message, path=path, line=number, remedy="delete all but one")
        new_names[old] = new
    return new_names


def _detect_delimiter(line: str) -> str:
    for delimiter in ("\t", ";"):
        if delimiter in line:
            return delimiter
    return ","


def _read_pairs(
    rows: Iterator[tuple[int, list[str]]], path: StrPath, delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Read all rows of old and new names, or those of a list of unknown subjects that are filled
    in.
    """
    number, first = next(rows, (1, []))
    if not set(_FILLED_IN) <= set(first):
        yield number, first
        yield from rows
        return
    wanted = WantedColumns(_FILLED_IN)
    selected = select_fields(first, rows, wanted, path, delimiter=delimiter)
    for line, (subject, stands_for) in selected:
        if stands_for.strip():
            yield line, [from_csv_cell(subject), stands_for]


def require_another_file(label_map: StrPath | None, path: StrPath) -> None:
    """Refuse a label map that is the list of unknown subjects which is about to be written."""
    if label_map and os.path.realpath(label_map) == os.path.realpath(path):
        message = "label_map is the list that each preparation writes anew"
        remedy = "copy it to another folder, and set label_map to the copy"
        raise InputError(message, path=path, remedy=remedy)


def write_unknown_subjects(path: Path, subjects: Sequence[UnknownSubject]) -> None:
    """Write the list of unknown subjects; without any, remove an earlier list."""
    if subjects:
        write_csv(path, [UnknownSubject._fields, *subjects])
    else:
        path.unlink(missing_ok=True)
