"""Document corpora as Annif reads them: short texts by line, CSV or JSON Lines, and folders of full
texts.
"""

from ovaflow.console.errors import InputError
from ovaflow.reading.csv_table import read_fields
from ovaflow.reading.formats import file_ending
from ovaflow.reading.instances import CORRECT_LINE
from ovaflow.reading.json_lines import read_object
from ovaflow.reading.streams import Lines, open_stream, read_lines

DOCUMENT_ENDINGS = (".txt", ".json")
"""Endings of the documents in a folder."""
_SUBJECTS = (".tsv", ".key")
"""Endings of the files beside a full text that hold its subjects."""


def read(file, reading):
    """Documents with their subjects; ``reading.counts`` gets the numbers of those that Annif leaves
    out.
    """
    path = file.path
    if file.is_pipe:
        raise InputError(
            "Annif's corpora cannot be read from a pipe",
            path=file.name,
            remedy="give a file or a folder",
        )
    ending = file_ending(path)
    if path.is_dir():
        yield from _read_folder(path, reading)
    elif ending == ".csv":
        yield from _read_csv(path, reading)
    elif ending == ".jsonl":
        for number, line in read_lines(path):
            if line.strip():
                yield from _document(read_object(line, path, number), path, reading, number)
    else:
        yield from _read_tsv(path, reading)


def _instance(reading, text, subjects, path, line=None):
    place = path.name if line is None else None
    # what is predicted is known by it, too
    record = None if reading.labels else place
    return reading.make_plain_instance(
        text, [strip_brackets(each) for each in subjects], path, line, place, record
    )


def strip_brackets(uri):
    uri = uri.strip()
    return uri[1:-1] if uri.startswith("<") and uri.endswith(">") else uri


def _read_tsv(path, reading):
    for number, line in read_lines(path):
        text, tab, subjects = line.partition("\t")
        if tab or (text.strip() and not reading.labels):
            yield _instance(reading, text, subjects.split(), path, number)
        elif text.strip():
            reading.counts["lines_without_a_tab"] += 1


def _read_csv(path, reading):
    columns = ["text", "subject_uris"] if reading.labels else ["text"]
    remedy = "name them in the first line"
    with open_stream(path) as stream:
        records = read_fields(Lines(stream, path), columns, path, remedy=remedy)
        for number, (text, *subjects) in records:
            yield _instance(reading, text, " ".join(subjects).split(), path, number)


def _document(entry, path, reading, number=None):
    """A document of JSON; one without subjects is left out where they are read."""
    subjects = entry.get("subjects") or []
    try:
        labels = [subject.get("uri") or subject["label"] for subject in subjects]
        text = entry.get("text") or ""
        if not isinstance(text, str) or not all(isinstance(label, str) for label in labels):
            raise TypeError
    except (AttributeError, KeyError, TypeError):
        message = "expected text, and subjects with a uri or a label each"
        raise InputError(message, path=path, line=number, remedy=CORRECT_LINE) from None
    if labels or not reading.labels:
        yield _instance(reading, text, labels, path, number)
    else:
        reading.counts["documents_without_subjects"] += 1


def _read_folder(folder, reading):
    names = sorted(path for path in folder.iterdir() if path.suffix in DOCUMENT_ENDINGS)
    if not names:
        raise InputError(
            "the folder has no .txt or .json file", path=folder, remedy="give a folder of documents"
        )
    for path in names:
        if path.suffix == ".json":
            yield from _document(read_object(_content(path), path, None), path, reading)
            continue
        beside = [
            path.with_suffix(ending) for ending in _SUBJECTS if path.with_suffix(ending).exists()
        ]
        if beside or not reading.labels:
            subjects = [_subject(line) for each in beside[:1] for _, line in read_lines(each)]
            yield _instance(reading, _content(path), filter(None, subjects), path)
        else:
            reading.counts["documents_without_subjects"] += 1


def _content(path):
    return "\n".join(line for _, line in read_lines(path))


def _subject(line):
    """The URI of a line, or else its first field, a name."""
    fields = [field.strip() for field in line.split("\t") if field.strip()]
    uris = [field for field in fields if field.startswith("<") and field.endswith(">")]
    return next(iter(uris or fields), "")
