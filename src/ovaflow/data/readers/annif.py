"""Document corpora as Annif reads them: short texts by line, CSV or JSON Lines, and folders of full texts."""

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import matching, read_lines
from ovaflow.data.readers.texts import CORRECT, TextInstance, clean, read_csv_fields, read_json_object

_SUBJECTS = (".tsv", ".key")
"""Endings of the files beside a full text that hold its subjects."""


def read_annif(location, left_out):
    """Documents with their subjects: URIs, or names where the corpus has these.

    ``left_out``, a Counter, gets the numbers of documents that Annif leaves out of training, by reason.
    """
    for path in matching(location):
        kind = [ending for ending in path.suffixes if ending.lower() not in (".gz", ".bz2", ".xz", ".zst")][-1:]
        if path.is_dir():
            yield from _read_folder(path, left_out)
        elif kind == [".csv"]:
            yield from _read_csv(path)
        elif kind == [".jsonl"]:
            for number, line in read_lines(path):
                if line.strip():
                    yield from _document(read_json_object(line, path, number), path, number, left_out)
        else:
            yield from _read_tsv(path, left_out)


def _instance(text, subjects, record):
    found = dict.fromkeys(subject.strip() for subject in subjects)
    return TextInstance(clean(text), tuple(clean(without_brackets(subject)) for subject in found if subject), record)


def without_brackets(uri):
    """A URI that may be between < and >."""
    uri = uri.strip()
    return uri[1:-1] if uri.startswith("<") and uri.endswith(">") else uri


def _read_tsv(path, left_out):
    for number, line in read_lines(path):
        text, tab, subjects = line.partition("\t")
        if tab:
            yield _instance(text, subjects.split(), f"line {number}")
        elif text.strip():
            left_out["lines_without_a_tab"] += 1


def _read_csv(path):
    lines = (line for _, line in read_lines(path, keep_ends=True))
    for number, (text, subjects) in read_csv_fields(
        lines, ["text", "subject_uris"], path, remedy="name them in the first line"
    ):
        yield _instance(text, subjects.split(), f"line {number}")


def _document(entry, path, number, left_out):
    """A document of JSON; one without subjects is left out."""
    subjects = entry.get("subjects") or []
    try:
        labels = [subject.get("uri") or subject["label"] for subject in subjects]
        text = entry.get("text") or ""
        if not isinstance(text, str) or not all(isinstance(label, str) for label in labels):
            raise TypeError
    except (AttributeError, KeyError, TypeError):
        message = "expected text, and subjects with a uri or a label each"
        raise InputError(message, path=path, line=number, remedy=CORRECT) from None
    if labels:
        yield _instance(text, labels, path.name if number is None else f"line {number}")
    else:
        left_out["documents_without_subjects"] += 1


def _read_folder(folder, left_out):
    names = sorted(path for path in folder.iterdir() if path.suffix in (".txt", ".json"))
    if not names:
        raise InputError("no .txt and no .json file is in the folder", path=folder, remedy="give a folder of documents")
    for path in names:
        if path.suffix == ".json":
            yield from _document(read_json_object(_text_of(path), path, None), path, None, left_out)
            continue
        beside = [path.with_suffix(ending) for ending in _SUBJECTS if path.with_suffix(ending).exists()]
        if beside:
            subjects = [_subject(line) for _, line in read_lines(beside[0])]
            yield _instance(_text_of(path), filter(None, subjects), path.name)
        else:
            left_out["documents_without_subjects"] += 1


def _text_of(path):
    return "\n".join(line for _, line in read_lines(path))


def _subject(line):
    """The URI of a line, or else its first field, a name."""
    fields = [field.strip() for field in line.split("\t") if field.strip()]
    uris = [field for field in fields if field.startswith("<") and field.endswith(">")]
    return (uris or fields or [""])[0]
