"""Files of label names: one label per line, in id order."""

from collections import Counter

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import read_lines
from ovaflow.data.readers.texts import clean


def read_label_names(path, n_labels=None):
    """Names out of lines of ``name`` or ``identifier<TAB>name``, all different; ``n_labels`` of them, if given.

    Names that several labels share carry the identifier (or else the label's number, counted from 0) in brackets.
    """
    entries = [_entry(line) for _, line in read_lines(path)]
    while entries and not any(entries[-1]):
        entries.pop()
    if n_labels is not None and len(entries) != n_labels:
        message = f"{len(entries)} names for {n_labels} labels"
        raise InputError(message, path=path, remedy="give one line per label, in id order")
    return _distinct(entries)


def _entry(line):
    identifier, tab, name = clean(line).partition("\t")
    return (identifier.strip(), name.strip()) if tab else ("", line.strip())


def _distinct(entries):
    names = [name or identifier or f"label {number}" for number, (identifier, name) in enumerate(entries)]
    names = _marked(names, [identifier for identifier, _ in entries])
    while len(set(names)) < len(names):
        names = _marked(names, range(len(names)))
    return names


def _marked(names, marks):
    counts = Counter(names)
    return [
        f"{name} ({mark})" if counts[name] > 1 and mark != "" else name for name, mark in zip(names, marks, strict=True)
    ]
