"""Files of a pattern or a folder, as Spark, Hadoop, Hive and Dask write the parts of a table."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.annif import DOCUMENT_ENDINGS
from ovaflow.reading.formats import FORMATS, file_ending, guess_format
from ovaflow.reading.streams import find_matching_paths, open_stream, read_lines

_HIDDEN_BEGINNINGS = (".", "_")
"""Beginnings of the names of files that are no data by the convention of these programs."""
_DELTA_LOG = "_delta_log"
_ENDINGS_OF_JSON_PARTS = ("", ".json")
_NUMBER = re.compile(r"(\d+)")


class PartFiles(NamedTuple):
    """Files that hold records, and those of the same place that do not."""

    paths: list[Path]
    left_out: list[Path]  # empty files, and marks such as _SUCCESS


def find_part_files(location: StrPath) -> PartFiles:
    """Find the files of a path, a pattern or a folder.

    Files that are empty, or whose names begin with ``.`` or ``_``, are left out unless they are
    named. Those of a folder are in the order of the numbers in their names.
    """
    matching = find_matching_paths(location)
    if matching == [Path(location)] and not matching[0].is_dir():
        return PartFiles(matching, [])
    paths = []
    empty = []
    marks = []
    for path in _list_files(location, matching):
        if _is_hidden(path, location):
            marks.append(path)
        elif _is_empty(path):
            empty.append(path)
        else:
            paths.append(path)
    if not paths and empty:
        # their readers refuse them
        return PartFiles(empty, marks)
    if not paths:
        raise InputError(
            "there is no file of records",
            path=location,
            remedy="give a file, a pattern such as exports/*.csv, or a folder of files",
        )
    for folder in {path.parent for path in paths}:
        if (folder / _DELTA_LOG).is_dir():
            raise InputError(
                "is a Delta table, whose files also hold records that were deleted or replaced",
                path=folder,
                remedy="write its present records to a folder as Parquet, and give that",
            )
    return PartFiles(paths, empty + marks)


def guess_folder_format(folder: Path) -> str | None:
    """Guess the format of a folder's files by their names: Annif's if they are documents."""
    paths = sorted(path for path in folder.iterdir() if not _is_hidden(path, folder))
    for path in paths:
        if file_ending(path) in _ENDINGS_OF_JSON_PARTS and _holds_json_lines(path):
            return "jsonl"
        if path.suffix in DOCUMENT_ENDINGS:
            return "annif"
    for path in paths:
        guessed = guess_format(path)
        if guessed is not None and not FORMATS[guessed].is_ambiguous:
            return guessed
    return None


def _holds_json_lines(path: Path) -> bool:
    """Tell whether a file holds several lines, the first of which is an object."""
    if not path.is_file():
        return False
    beginning = [line.strip() for _, line in islice(read_lines(path), 2)]
    return len(beginning) == 2 and beginning[0][:1] == "{" and beginning[0][-1:] == "}"


def _list_files(location: StrPath, matching: list[Path]) -> Iterator[Path]:
    """Yield the files of a location, and those in its folders."""
    for path in matching:
        if not path.is_dir():
            yield path
        elif path == Path(location) or not _is_hidden(path, location):
            yield from _list_folder(path, location)


def _list_folder(folder: Path, location: StrPath) -> Iterator[Path]:
    """Yield the files of a folder, without invisible ones; refuse further folders in it."""
    for path in sorted(folder.glob("[!.]*"), key=_split_numbers):
        if not path.is_dir():
            yield path
        elif not path.name.startswith(_HIDDEN_BEGINNINGS):
            raise InputError(
                f"holds folders, such as {path.name!r:.60}",
                path=folder,
                remedy=f"give a pattern to read their files, too: {location}/*",
            )


def _split_numbers(path: Path) -> list[str | int]:
    """Split a name so that part.10 is sorted after part.2."""
    pieces: list[str | int] = []
    for piece in _NUMBER.split(path.name):
        pieces.append(int(piece) if piece.isdecimal() else piece)
    return pieces


def _is_hidden(path: Path, location: StrPath) -> bool:
    """Tell whether a name says that a file is no data, and no pattern asks for such names."""
    pattern = Path(location)
    if path.match(pattern.name) and pattern.name.startswith(_HIDDEN_BEGINNINGS):
        return False
    return path.name.startswith(_HIDDEN_BEGINNINGS)


def _is_empty(path: Path) -> bool:
    if not path.is_file():
        return False
    with open_stream(path) as stream:
        return not stream.peek(1)
