"""Files of label names: a label a line, in id order."""

from collections import Counter

from ovaflow.console.errors import InputError
from ovaflow.data.readers.instances import clean
from ovaflow.data.readers.streams import read_lines


def read_label_names(path, n_labels=None):
    """Read names, or lines of ``identifier<TAB>name``.

    Parameters
    ----------
    path : path-like
        Plain or compressed.
    n_labels : int, optional
        How many there must be.

    Returns
    -------
    list of str
        All different: names that several labels share carry the identifier (or
        else the label's number, counted from 0) in brackets.

    Raises
    ------
    InputError
        If the file has another number of labels than it must have.
    """
    entries = [_entry(line) for _, line in read_lines(path)]
    while entries and not any(entries[-1]):
        entries.pop()
    if n_labels is not None and len(entries) != n_labels:
        raise InputError(
            f"{len(entries)} names for {n_labels} labels", path=path, remedy="give one line a label, in id order"
        )
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
