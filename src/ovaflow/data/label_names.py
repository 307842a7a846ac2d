"""Names of labels: files of them, what texts have in their place, and names as training instances."""

import csv
from itertools import chain

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import Split
from ovaflow.data.readers.streams import read_lines
from ovaflow.data.readers.texts import clean
from ovaflow.data.subjects import read_vocabulary, told_apart
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
    return told_apart(names, identifiers), identifiers if all(identifiers) else []


def _entry(line):
    identifier, tab, name = clean(line).partition("\t")
    return (identifier.strip(), name.strip()) if tab else ("", line.strip())


def read_label_map(path):
    """New names of labels by their old ones, of rows with a comma, a semicolon or a tab between them."""
    found, lines = {}, [line for _, line in read_lines(path)]
    delimiter = next((mark for mark in "\t;" if lines and mark in lines[0]), ",")
    for number, row in enumerate(csv.reader(lines, delimiter=delimiter), 1):
        if not row:
            continue
        old, *new = (clean(name).strip() for name in row)
        if len(new) != 1 or old in found:
            what = "is there twice" if old in found else f"{len(row)} fields, expected an old name and a new one"
            raise InputError(what, path=path, line=number, remedy="give each old name once, with one new name or none")
        found[old] = new[0]
    return found


def written_names(source):
    """The names of each label by what texts have in its place, an id, a URI or a name; None where labels are names."""
    if source.vocabulary is not None:
        found = read_vocabulary(source.vocabulary, source.settings.language)
        named = [(name, *others) for name, others in zip(found.names, found.others, strict=True)]
        return dict(zip(found.names, named, strict=True)) | dict(zip(found.uris, named, strict=True))
    if source.labels is not None:
        return {str(number): (name,) for number, name in enumerate(read_label_names(source.labels)[0])}
    return None


def with_label_names(train, names, transform, folder=None, others=()):
    """Training instances and after them the name of each label, as a text with that label; names without a feature not.

    A label with few instances learns most from its name, which is what a person would look for in a text. ``others``
    are further names of each label.
    """
    norms, texts = [], [*names, *chain.from_iterable(others)]
    X = transform.transform(texts, quiet=True, norms=norms)
    known = np.flatnonzero(np.diff(X.indptr) > (transform.bias != 0))
    owners = np.concatenate([np.arange(len(names)), np.repeat(np.arange(len(others)), [len(more) for more in others])])
    owners = owners[known].astype(np.int32)
    Y = CSR(np.ones(len(known), np.float32), owners, np.arange(len(known) + 1), len(names))
    lengths = None if train.norms is None else np.concatenate([train.norms, np.concatenate(norms)[known]])
    X = stack([train.X, rows_of(X, known)], X.n_columns, folder)
    return Split(X, stack([train.Y, Y], len(names)), norms=lengths, records=train.records)
