"""Suggestions of other programs: CSV of id, label and perhaps score, or Annif's results."""

from ovaflow.console.errors import InputError
from ovaflow.reading.annif import strip_brackets
from ovaflow.reading.csv_table import read_fields
from ovaflow.reading.formats import file_ending
from ovaflow.reading.instances import CORRECT_LINE
from ovaflow.reading.streams import Lines, clean_text, open_stream, read_lines

SUGGESTIONS_ENDING = ".annif"
"""Ending of Annif's results, which lie beside the documents."""


def read_suggestion_rows(path):
    """Text, label and score of each suggestion; a text without suggestions has an empty label."""
    if path.is_dir():
        return _read_folder(path)
    if file_ending(path) == ".csv":
        return _read_csv(path)
    message = f"neither a .csv file nor a folder of {SUGGESTIONS_ENDING} files"
    raise InputError(message, path=path, remedy="give one of these")


def _read_csv(path):
    remedy = "name id, label, and score if there are scores, in the first line"
    with open_stream(path) as stream:
        rows = read_fields(Lines(stream, path), ["id", "label"], path, ["score"], remedy=remedy)
        for number, (text, label, *scores) in rows:
            label = clean_text(label).strip()
            score = 0.0
            if scores and label:
                score = _number(scores[0], path, number)
            yield clean_text(text), strip_brackets(label), score


def _read_folder(folder):
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
                yield (
                    path.stem,
                    strip_brackets(uri),
                    _number(others[-1] if others else "", path, number),
                )


def _number(content, path, line):
    try:
        score = float(content)
    except ValueError:
        score = float("nan")
    if not abs(score) < 1e38:
        message = f"the score is {content[:40]!r}, not a number"
        raise InputError(message, path=path, line=line, remedy=CORRECT_LINE)
    return score
