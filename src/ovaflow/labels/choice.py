"""Which labels a choice means: names, URIs, patterns with ``*``, and groups of a vocabulary; files
of these.
"""

import difflib
import fnmatch
import re
from functools import cached_property

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.reading.annif import strip_brackets
from ovaflow.reading.cells import clean_name
from ovaflow.reading.streams import read_lines
from ovaflow.settings.prepare import is_label_file
from ovaflow.sparse.csr import CSR, offsets


def read_entries(path):
    """Entries of a file: one per line, before a tab if there is one."""
    lines = (line.partition("\t")[0] for _, line in read_lines(path))
    return filter(None, map(clean_name, map(strip_brackets, lines)))


def expand_entries(values):
    """Entries of a choice, those of files in their place."""
    entries = []
    for value in values:
        if is_label_file(value):
            entries += read_entries(value)
        else:
            entries.append(clean_name(strip_brackets(value)))
    return entries


def _compile_pattern(entry):
    """Whether a name matches an entry, in which ``*`` stands for any characters and nothing else is
    special.
    """
    plain = entry.replace("[", "[[]").replace("?", "[?]")
    return re.compile(fnmatch.translate(plain)).match


class LabelFinder:
    """Labels by what they are called; ``groups``: ids of labels by the URI of their group.

    What is a name and another label's ``translation`` means the first.
    """

    def __init__(self, names, uris=(), groups=None, translations=()) -> None:
        self._names = names
        self._uris = uris
        self._groups = groups or {}
        self._translations = translations

    @cached_property
    def _ids(self):
        ids = {name: label for label, name in enumerate(self._translations)}
        ids |= {name or f"label {label}": label for label, name in enumerate(self._names)}
        return ids | {uri: label for label, uri in enumerate(self._uris)}

    def find_ids(self, entry):
        """Ids of the labels that an entry means; none where it is unknown."""
        if entry in self._groups:
            return self._groups[entry]
        if entry in self._ids:
            return [self._ids[entry]]
        if "*" not in entry:
            return []
        matches = _compile_pattern(entry)
        return list({label for mark, label in self._ids.items() if matches(mark)})

    def allowed(self, include, exclude):
        """Which labels are meant: all, or those to include, without those to exclude; bool (l,)."""
        allowed = np.full(len(self._names), not include)
        for entries, value in ((include, True), (exclude, False)):
            for entry in entries:
                allowed[self._require(entry)] = value
        if not allowed.any():
            raise InputError("include and exclude leave no label", remedy="exclude fewer")
        return allowed

    def unknown(self, entries):
        """Places of the entries that mean no label."""
        return [place for place, entry in enumerate(entries) if not len(self.find_ids(entry))]

    def _require(self, entry):
        labels = self.find_ids(entry)
        if len(labels):
            return labels
        close = difflib.get_close_matches(entry, self._ids, cutoff=0.5)
        remedy = "give names, URIs, or patterns with *"
        if close:
            remedy = f"did you mean {' or '.join(map(repr, close))}?"
        elif "://" in entry:
            remedy = "give URIs of labels or of groups of the vocabulary, or patterns with *"
        raise InputError(f"include or exclude: no label {entry!r}", remedy=remedy)


class ListChoice:
    """Which labels are left out of those of a list, by what instances have in their place."""

    def __init__(self, left_out, amount) -> None:
        self._left_out = frozenset(left_out)
        self._amount = amount

    def keeps(self, label):
        return label not in self._left_out

    def n_left_out(self):
        return self._amount


class NameChoice:
    """Which names are labels, where these become known one by one."""

    def __init__(self, include, exclude) -> None:
        self._include = include
        self._exclude = exclude
        self._is_kept, self.identifiers = {}, {}  # identifiers of names
        self._included = _make_matcher(include)
        self._excluded = _make_matcher(exclude)

    def keeps(self, name):
        if name not in self._is_kept:
            marks = [name, *filter(None, [self.identifiers.get(name)])]
            included = not self._include or any(map(self._included, marks))
            self._is_kept[name] = included and not any(map(self._excluded, marks))
        return self._is_kept[name]

    def n_left_out(self):
        """Number of names that are no labels; entries that mean none of all names are refused."""
        names = list(self._is_kept)
        uris = [self.identifiers.get(name, name) for name in names]
        return int(
            np.count_nonzero(~LabelFinder(names, uris).allowed(self._include, self._exclude))
        )


def drop_labels(Y, allowed):
    """Labels of instances (n, l) without those that are not allowed."""
    kept = allowed[Y.indices]
    return CSR(Y.data[kept], Y.indices[kept], offsets(kept)[Y.indptr], Y.n_columns)


def _make_matcher(entries):
    """Whether a name is one of the entries, or one of these is a pattern of it."""
    plain = frozenset(entries)
    patterns = [_compile_pattern(entry) for entry in entries if "*" in entry]
    return lambda name: name in plain or any(matches(name) for matches in patterns)
