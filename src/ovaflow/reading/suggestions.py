"""Suggestions of other programs: CSV of id, label and perhaps score, or Annif's results."""

from collections.abc import Iterator
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.reading.annif import strip_brackets
from ovaflow.reading.columns import WantedColumns
from ovaflow.reading.csv_table import read_fields
from ovaflow.reading.formats import file_ending
from ovaflow.reading.instances import CORRECT_LINE
from ovaflow.reading.streams import Lines, clean_text, open_stream, read_lines

SUGGESTIONS_ENDING = ".annif"
"""Ending of Annif's results, which are next to the documents."""
_COLUMNS = WantedColumns(
    ["id", "label"],
    ["score"],
    remedy="name id, label, and score if there are scores, in the first line",
)
_SCORE_LIMIT = 1e38
"""Scores are stored as float32, whose numbers end little above it."""

Suggestion = tuple[str, str, float]
"""The id of a text, a label and its score."""


def read_suggestion_rows(path: Path) -> Iterator[Suggestion]:
    """Yield the suggestions of a file or a folder; a text without any has an empty label."""
    if path.is_dir():
        return _read_folder(path)
    if file_ending(path) == ".csv":
        return _read_csv(path)
    message = f"neither a .csv file nor a folder of {SUGGESTIONS_ENDING} files"
    raise InputError(message, path=path, remedy="give one of these")


def _read_csv(path: Path) -> Iterator[Suggestion]:
    with open_stream(path) as stream:
        for number, fields in read_fields(Lines(stream, path), _COLUMNS, path):
            text, label, *scores = fields
            label = clean_text(label).strip()
            score = 0.0
            if scores and label:
                score = _parse_score(scores[0], path, number)
            yield clean_text(text), strip_brackets(label), score


def _read_folder(folder: Path) -> Iterator[Suggestion]:
    files = sorted(path for path in folder.iterdir() if path.suffix == SUGGESTIONS_ENDING)
    if not files:
        remedy = "give the folder in which annif index wrote its results"
        raise InputError(f"the folder has no {SUGGESTIONS_ENDING} file", path=folder, remedy=remedy)
    for path in files:
        yield path.stem, "", 0.0
        for number, line in read_lines(path):
            if line.strip():
                # there may be a notation between name and score
                uri, *others = clean_text(line).split("\t")
                score = _parse_score(others[-1] if others else "", path, number)
                yield path.stem, strip_brackets(uri), score


def _parse_score(content: str, path: Path, line: int) -> float:
    """Parse a score; errors name its line."""
    try:
        score = float(content)
    except ValueError:
        score = float("nan")
    # nan fails the comparison
    if not abs(score) < _SCORE_LIMIT:
        message = f"the score is {content[:40]!r}, not a number"
        raise InputError(message, path=path, line=line, remedy=CORRECT_LINE)
    return score
