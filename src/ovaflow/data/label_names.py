"""Names of labels: files of them, what texts have in their place, and names as training instances."""

import csv
from itertools import chain

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import Split
from ovaflow.data.readers.streams import read_lines
from ovaflow.data.readers.texts import clean
from ovaflow.data.subjects import distinct_names, read_vocabulary
from ovaflow.data.tfidf import stack
from ovaflow.sparse.csr import CSR, rows_of


def read_label_names(path):
    """Names out of lines of ``name`` or ``identifier<TAB>name``, all different, and the identifiers, if all have one.

    Names that several labels share carry the identifier (or else the label's number, counted from 0) in brackets.
    """
    entries = [_entry(line) for _, line in read_lines(path)]
    while entries and not any(entries[-1]):
        entries.pop()
    names = [name or identifier or f"label {number}" for number, (identifier, name) in enumerate(entries)]
    identifiers = [identifier for identifier, _ in entries]
    return distinct_names(names, identifiers), identifiers if all(identifiers) else []


def _entry(line):
    identifier, tab, name = clean(line).partition("\t")
    return (identifier.strip(), name.strip()) if tab else ("", line.strip())


def read_label_map(path):
    """New names of labels by their old ones, of rows with a comma, a semicolon or a tab between them."""
    new_names, lines = {}, [line for _, line in read_lines(path)]
    delimiter = next((mark for mark in "\t;" if lines and mark in lines[0]), ",")
    for number, row in enumerate(csv.reader(lines, delimiter=delimiter), 1):
        names = [clean(name).strip() for name in row]
        if not names:
            continue
        if len(names) != 2:
            message = f"{len(row)} fields, expected an old name and a new one"
            raise InputError(message, path=path, line=number, remedy="leave the new name empty to drop a label")
        if names[0] in new_names:
            raise InputError(f"{names[0]!r} appears twice", path=path, line=number, remedy="delete all but one")
        new_names[names[0]] = names[1]
    return new_names


def names_as_given(source):
    """The names of each label by what texts have in its place, an id, a URI or a name; None where labels are names."""
    if source.vocabulary is not None:
        subjects = read_vocabulary(source.vocabulary, source.settings.language)
        names = [(name, *others) for name, others in zip(subjects.names, subjects.others, strict=True)]
        return dict(zip(subjects.names, names, strict=True)) | dict(zip(subjects.uris, names, strict=True))
    if source.labels is not None:
        return {str(number): (name,) for number, name in enumerate(read_label_names(source.labels)[0])}
    return None


def with_label_names(train, names, transform, folder=None, others=()):
    """Training instances and after them the name of each label, as a text with that label, if it has a feature.

    A label with few instances learns most from its name, which is what a person would look for in a text. ``others``
    are further names of each label.
    """
    X, lengths = transform.features_and_norms([*names, *chain.from_iterable(others)], quiet=True)
    rows = np.flatnonzero(np.diff(X.indptr) > (transform.bias != 0))
    labels = np.repeat(np.arange(len(others)), [len(more) for more in others])
    labels = np.concatenate([np.arange(len(names)), labels])[rows].astype(np.int32)
    Y = CSR(np.ones(len(rows), np.float32), labels, np.arange(len(rows) + 1), len(names))
    norms = None if train.norms is None else np.concatenate([train.norms, lengths[rows]])
    X = stack([train.X, rows_of(X, rows)], X.n_columns, folder)
    return Split(X, stack([train.Y, Y], len(names)), norms=norms, records=train.records)
