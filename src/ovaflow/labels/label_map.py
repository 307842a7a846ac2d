"""What labels become: files of old and new names, and the list of unknown subjects that a person
fills in.
"""

import os
from itertools import chain
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.reading.cells import clean_name
from ovaflow.reading.columns import WantedColumns
from ovaflow.reading.csv_table import read_csv_records, select_fields
from ovaflow.reading.streams import Lines, open_stream
from ovaflow.storage.writing import from_csv_cell, write_csv

UNKNOWN_SUBJECTS = "unknown_subjects.csv"
DEPRECATED_REASON = "deprecated"
UNKNOWN_REASON = "unknown"
"""Why subjects of records are no labels."""


class UnknownSubject(NamedTuple):
    """A subject of records that is no label: a row of the list."""

    subject: str  # as the records have it
    stands_for: str  # URI or name of a subject of the vocabulary, for a person to fill in
    why: str
    records: int
    name: str = ""
    replaced_by: str = ""  # URIs


_FILLED_IN = list(UnknownSubject._fields[:2])


def read_label_map(path):
    """New names of labels by their old ones, of rows with a comma, a semicolon or a tab between
    them.
    """
    new_names = {}
    with open_stream(path) as stream:
        lines = list(Lines(stream, path))
    delimiter = next((mark for mark in "\t;" if lines and mark in lines[0][1]), ",")
    for number, row in _pairs(read_csv_records(lines, path, delimiter), path, delimiter):
        names = [clean_name(name) for name in row]
        if not names:
            continue
        if len(names) != 2:
            message = f"{len(row)} fields, expected an old name and a new one"
            raise InputError(
                message, path=path, line=number, remedy="leave the new name empty to drop a label"
            )
        if names[0] in new_names:
            raise InputError(
                f"{names[0]!r} appears twice", path=path, line=number, remedy="delete all but one"
            )
        new_names[names[0]] = names[1]
    return new_names


def _pairs(rows, path, delimiter):
    """All rows of old and new names; of a list of unknown subjects those that are filled in."""
    number, first = next(rows, (1, []))
    if not {*_FILLED_IN} <= {*first}:
        yield from chain([(number, first)], rows)
        return
    for line, (subject, stands_for) in select_fields(
        first, rows, WantedColumns(_FILLED_IN), path, delimiter=delimiter
    ):
        if stands_for.strip():
            yield line, [from_csv_cell(subject), stands_for]


def require_another_file(label_map, path) -> None:
    """Refuse the list of unknown subjects that is about to be written as the one that was filled
    in.
    """
    if label_map and os.path.realpath(label_map) == os.path.realpath(path):
        message = "label_map is the list that each preparation writes anew"
        raise InputError(
            message, path=path, remedy="copy it to another folder, and set label_map to the copy"
        )


def write_unknown_subjects(path, subjects) -> None:
    """Write the list; one of before goes where there are none."""
    if subjects:
        write_csv(path, [UnknownSubject._fields, *subjects])
    else:
        path.unlink(missing_ok=True)
