"""Document corpora of Annif: short texts by line, CSV, JSON Lines, and folders of full texts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ovaflow.console.errors import InputError
from ovaflow.reading.columns import WantedColumns
from ovaflow.reading.csv_table import read_fields
from ovaflow.reading.formats import file_ending
from ovaflow.reading.instances import CORRECT_LINE, Reading, TextInstance
from ovaflow.reading.json_lines import read_object
from ovaflow.reading.streams import Lines, RecordFile, open_stream, read_lines

DOCUMENT_ENDINGS = (".txt", ".json")
"""Endings of the documents in a folder."""
_SUBJECT_ENDINGS = (".tsv", ".key")
"""Endings of the files that hold the subjects of a full text, next to it."""


def read(file: RecordFile, reading: Reading) -> Iterator[TextInstance]:
    """Yield documents with their subjects.

    ``reading.counts`` gets the numbers of lines and documents that Annif leaves out, too.
    """
    if file.is_pipe:
        raise InputError(
            "Annif's corpora cannot be read from a pipe",
            path=file.name,
            remedy="give a file or a folder",
        )
    reading.seen["labels"] = "URIs or names of subjects, as Annif has them"
    path = Path(file.path)
    ending = file_ending(path)
    if path.is_dir():
        yield from _read_folder(path, reading)
    elif ending == ".csv":
        yield from _read_csv(path, reading)
    elif ending == ".jsonl":
        for number, line in read_lines(path):
            if line.strip():
                yield from _read_document(read_object(line, path, number), path, reading, number)
    else:
        yield from _read_tsv(path, reading)


def _make_instance(
    reading: Reading, text: str, subjects: Sequence[str], path: Path, line: int | None = None
) -> TextInstance:
    """Make the instance of a document; one that fills its file is known by the file's name."""
    location = path.name if line is None else None
    labels = [strip_brackets(subject) for subject in subjects]
    # predictions name their records by it
    record_id = None if reading.labels else location
    return reading.make_plain_instance(text, labels, path, line, location, record_id)


def strip_brackets(uri: str) -> str:
    """Remove the angle brackets around a URI."""
    uri = uri.strip()
    if uri.startswith("<") and uri.endswith(">"):
        return uri[1:-1]
    return uri


def _read_tsv(path: Path, reading: Reading) -> Iterator[TextInstance]:
    for number, line in read_lines(path):
        text, tab, subjects = line.partition("\t")
        if tab or (text.strip() and not reading.labels):
            yield _make_instance(reading, text, subjects.split(), path, number)
        elif text.strip():
            reading.counts["lines_without_a_tab"] += 1


def _read_csv(path: Path, reading: Reading) -> Iterator[TextInstance]:
    columns = ["text", "subject_uris"] if reading.labels else ["text"]
    wanted = WantedColumns(columns, remedy="name them in the first line")
    with open_stream(path) as stream:
        for number, fields in read_fields(Lines(stream, path), wanted, path):
            subjects = fields[1].split() if reading.labels else []
            yield _make_instance(reading, fields[0], subjects, path, number)


def _read_document(
    entry: dict[str, Any], path: Path, reading: Reading, number: int | None = None
) -> Iterator[TextInstance]:
    """Yield a document of JSON; one without subjects is left out where subjects are read."""
    try:
        labels = []
        for subject in entry.get("subjects") or []:
            labels.append(subject.get("uri") or subject["label"])
        text = entry.get("text") or ""
        if not isinstance(text, str) or not all(isinstance(label, str) for label in labels):
            raise TypeError
    except (AttributeError, KeyError, TypeError):
        message = "expected text, and subjects with a uri or a label each"
        raise InputError(message, path=path, line=number, remedy=CORRECT_LINE) from None
    if labels or not reading.labels:
        yield _make_instance(reading, text, labels, path, number)
    else:
        reading.counts["documents_without_subjects"] += 1


def _read_folder(folder: Path, reading: Reading) -> Iterator[TextInstance]:
    paths = sorted(path for path in folder.iterdir() if path.suffix in DOCUMENT_ENDINGS)
    if not paths:
        raise InputError(
            "the folder has no .txt or .json file", path=folder, remedy="give a folder of documents"
        )
    for path in paths:
        if path.suffix == ".json":
            yield from _read_document(read_object(_read_content(path), path, None), path, reading)
        else:
            yield from _read_full_text(path, reading)


def _read_full_text(path: Path, reading: Reading) -> Iterator[TextInstance]:
    """Yield a text file, with the subjects of the first file for them."""
    subject_path = _find_subjects(path)
    subjects = []
    if subject_path is not None:
        for _, line in read_lines(subject_path):
            subject = _parse_subject(line)
            if subject:
                subjects.append(subject)
    elif reading.labels:
        reading.counts["documents_without_subjects"] += 1
        return
    yield _make_instance(reading, _read_content(path), subjects, path)


def _find_subjects(path: Path) -> Path | None:
    """Find the first file of subjects for a text file."""
    for ending in _SUBJECT_ENDINGS:
        subject_path = path.with_suffix(ending)
        if subject_path.exists():
            return subject_path
    return None


def _read_content(path: Path) -> str:
    return "\n".join(line for _, line in read_lines(path))


def _parse_subject(line: str) -> str:
    """Return the URI of a line, or else its first field, a name."""
    fields = [field.strip() for field in line.split("\t") if field.strip()]
    for field in fields:
        if field.startswith("<") and field.endswith(">"):
            return field
    if not fields:
        return ""
    return fields[0]
