"""Suggested labels in the format of Annif: a file for each document, doc1.annif of doc1.txt."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.prediction.answer import Answer, AnsweredLabel
from ovaflow.prediction.answer_files import AnsweredRecord, AnswerFormat
from ovaflow.reading.annif import DOCUMENT_ENDINGS
from ovaflow.reading.streams import clean_text
from ovaflow.reading.suggestions import SUGGESTIONS_ENDING
from ovaflow.storage.writing import create_temporary_folder

_MAX_NAME_BYTES = 200
"""Longest name of a file without its ending; most systems allow 255 bytes with it."""

_REMEDY = "name another column with --id-column, or write csv or jsonl"


def score_within_one(label: AnsweredLabel) -> np.float32:
    """Return the probability of a label, or else the logistic function of its score."""
    score = np.float32(label.score)
    if label.probability is not None:
        return score
    return scipy.special.expit(score)


class AnnifLines(AnswerFormat):
    """Lines of ``<URI>``, name, notation and score with tabs between them, as of ``annif index``.

    A label without a URI or a notation has no such cell. Scores are between 0 and 1, as those of
    the service are.
    """

    def begin(self, out: Any) -> None:
        """Write nothing: files begin with their labels."""

    def end(self, out: Any, n: int) -> None:
        """Write nothing: files end with their labels."""

    def write(self, record: AnsweredRecord, answer: Answer) -> tuple[str, str]:
        """Return the name of the record, and its lines."""
        lines = [self._format_line(label) for label in answer.labels]
        return clean_text(str(record.display_name)), "".join(lines)

    def _format_line(self, label: AnsweredLabel) -> str:
        cells = [
            f"<{label.uri}>" if label.uri else "",
            " ".join(label.name.split()),
            label.notation,
            f"{score_within_one(label):.4f}",
        ]
        return "\t".join(cell for cell in cells if cell) + "\n"


class _RecordFiles:
    """A folder of files, one for each record."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, named_lines: tuple[str, str]) -> None:
        """Write the file of a record, given the record's name and lines."""
        name, lines = named_lines
        path = self._folder / f"{_make_stem(name)}{SUGGESTIONS_ENDING}"
        try:
            with open(path, "x", encoding="utf-8", newline="") as file:
                file.write(lines)
        except FileExistsError:
            message = f"two records are called {path.stem!r}, so they cannot have a file each"
            raise InputError(message, remedy=_REMEDY) from None

    def flush(self) -> None:
        """Do nothing: each file is closed already."""


def _make_stem(name: str) -> str:
    """Make the name of a record's file, without endings, of that of the record or its document."""
    stem = name
    for ending in DOCUMENT_ENDINGS:
        if name.endswith(ending):
            stem = name.removesuffix(ending)
            break
    if "/" in stem or not stem.strip(". ") or len(stem.encode()) > _MAX_NAME_BYTES:
        raise InputError(f"the id {name!r:.100} cannot be a file's name", remedy=_REMEDY)
    return stem


@contextlib.contextmanager
def write_record_files(folder: str | Path) -> Iterator[_RecordFiles]:
    """Open a folder for files of records; they appear when the block ends without an error."""
    folder = Path(folder)
    # a folder that exists may be a file system of its own, to which no other folder can be moved
    temporary = folder / "annif" if folder.is_dir() else folder
    with create_temporary_folder(temporary) as unfinished:
        yield _RecordFiles(unfinished)
        folder.mkdir(exist_ok=True)
        for file in unfinished.iterdir():
            file.replace(folder / file.name)
