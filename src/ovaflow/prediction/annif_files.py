"""Suggested labels as Annif writes them: a file for each document, such as doc1.annif of doc1.txt."""

import contextlib
from pathlib import Path

import numpy as np
from scipy.special import expit

from ovaflow.console.errors import InputError
from ovaflow.prediction.answer import AnsweredLabel
from ovaflow.prediction.answer_files import AnswerFormat
from ovaflow.reading.annif import DOCUMENT_ENDINGS
from ovaflow.reading.streams import clean_text
from ovaflow.reading.suggestions import SUGGESTIONS_ENDING
from ovaflow.storage.writing import create_temporary_folder

_LONGEST = 200
"""Bytes of a file's name; most systems have 255."""
_REMEDY = "name another column with --id-column, or write csv or jsonl"


def score_within_one(label: AnsweredLabel) -> np.float32:
    """Return the probability of a label, or else the logistic function of its score."""
    score = np.float32(label.score)
    return score if label.probability is not None else expit(score)


class AnnifLines(AnswerFormat):
    """Lines ``<URI>``, name, notation if there is one, and score, with tabs between them, as
    ``annif index`` has them.

    A label without a URI has none there. Scores lie within 0 and 1, as those of the service do.
    """

    def begin(self, out):
        """Files begin with their labels."""

    def end(self, out, n):
        """Files end with their labels."""

    def write(self, record, answer):
        """The record's name, and its lines."""
        return clean_text(str(record.shown)), "".join(map(self._line, answer.labels))

    def _line(self, label):
        uri = f"<{label.uri}>" if label.uri else ""
        named = filter(None, (uri, " ".join(label.name.split()), label.notation))
        return "\t".join([*named, f"{score_within_one(label):.4f}"]) + "\n"


class _Files:
    """A folder of files, one for each record."""

    def __init__(self, folder) -> None:
        self._folder = folder

    def write(self, named) -> None:
        name, lines = named
        path = self._folder / f"{_stem(name)}{SUGGESTIONS_ENDING}"
        try:
            with open(path, "x", encoding="utf-8", newline="") as file:
                file.write(lines)
        except FileExistsError:
            message = f"two records are called {path.stem!r}, so they cannot have a file each"
            raise InputError(message, remedy=_REMEDY) from None

    def flush(self):
        """Each file is closed."""


def _stem(name):
    """Name of a record's file, without its ending: that of the document, if it is one."""
    stem = next(
        (name.removesuffix(ending) for ending in DOCUMENT_ENDINGS if name.endswith(ending)), name
    )
    if "/" in stem or not stem.strip(". ") or len(stem.encode()) > _LONGEST:
        raise InputError(f"the id {name!r:.100} cannot be a file's name", remedy=_REMEDY)
    return stem


@contextlib.contextmanager
def write_record_files(folder):
    """What is written of records, which comes into a folder when the block ends without an error."""
    folder = Path(folder)
    # one that exists may be a file system of its own
    with create_temporary_folder(folder / "annif" if folder.is_dir() else folder) as unfinished:
        yield _Files(unfinished)
        folder.mkdir(exist_ok=True)
        for file in unfinished.iterdir():
            file.replace(folder / file.name)
