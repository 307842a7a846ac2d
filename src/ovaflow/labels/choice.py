"""Choices of labels: names, URIs, patterns with ``*``, vocabulary groups, and files of these."""

import difflib
import fnmatch
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.annif import strip_brackets
from ovaflow.reading.cells import clean_name
from ovaflow.reading.streams import read_lines
from ovaflow.settings.prepare import is_label_file
from ovaflow.sparse.csr import CSR, offsets


def read_entries(path: StrPath) -> list[str]:
    """Read the entries of a file: one per line, before a tab if there is one."""
    entries = []
    for _, line in read_lines(path):
        entry = clean_name(strip_brackets(line.partition("\t")[0]))
        if entry:
            entries.append(entry)
    return entries


def expand_entries(values: Iterable[str]) -> list[str]:
    """Return the entries of a choice, with those of a file in the place of its name."""
    entries = []
    for value in values:
        if is_label_file(value):
            entries += read_entries(value)
        else:
            entries.append(clean_name(strip_brackets(value)))
    return entries


def _compile_pattern(entry: str) -> Callable[[str], Any]:
    """Return a function that tells whether a name matches an entry.

    ``*`` matches any characters; no other character is special.
    """
    plain = entry.replace("[", "[[]").replace("?", "[?]")
    return re.compile(fnmatch.translate(plain)).match


class LabelFinder:
    """Labels by their names.

    Parameters
    ----------
    names : sequence of str
        Name of each label.
    uris : sequence of str
        URI of each label, if they have any.
    groups : mapping, optional
        Ids of the labels of each group, by its URI.
    translations : sequence of str
        A further name of each label. A word that is a name and another label's translation means
        the label with that name.
    """

    def __init__(
        self,
        names: Sequence[str],
        uris: Sequence[str] = (),
        groups: Mapping[str, np.ndarray] | None = None,
        translations: Sequence[str] = (),
    ) -> None:
        self._names = names
        self._uris = uris
        self._groups = groups or {}
        self._translations = translations

    @cached_property
    def _ids(self) -> dict[str, int]:
        ids = {name: label for label, name in enumerate(self._translations)}
        ids |= {name or f"label {label}": label for label, name in enumerate(self._names)}
        return ids | {uri: label for label, uri in enumerate(self._uris)}

    def find_ids(self, entry: str) -> Sequence[int] | np.ndarray:
        """Find the ids of the labels that an entry means; none for an unknown entry."""
        if entry in self._groups:
            return self._groups[entry]
        if entry in self._ids:
            return [self._ids[entry]]
        if "*" not in entry:
            return []
        matches = _compile_pattern(entry)
        return list({label for mark, label in self._ids.items() if matches(mark)})

    def allowed(self, include: Collection[str], exclude: Collection[str]) -> np.ndarray:
        """Find the allowed labels: all, or those to include, without those to exclude.

        Parameters
        ----------
        include, exclude : collections of str
            Names, URIs, patterns or groups.

        Returns
        -------
        allowed : ndarray of bool, shape (l,)
            Whether each label is allowed.

        Raises
        ------
        InputError
            If an entry means no label, or no label is left.
        """
        allowed = np.full(len(self._names), not include)
        for entry in include:
            allowed[self._require(entry)] = True
        for entry in exclude:
            allowed[self._require(entry)] = False
        if not allowed.any():
            raise InputError("include and exclude leave no label", remedy="exclude fewer")
        return allowed

    def unknown(self, entries: Sequence[str]) -> list[int]:
        """Return the indices of the entries that mean no label."""
        return [index for index, entry in enumerate(entries) if not len(self.find_ids(entry))]

    def _require(self, entry: str) -> Sequence[int] | np.ndarray:
        labels = self.find_ids(entry)
        if len(labels):
            return labels
        close = difflib.get_close_matches(entry, self._ids, cutoff=0.5)
        remedy = "give names, URIs, or patterns with *"
        if close:
            remedy = f"did you mean {' or '.join(repr(name) for name in close)}?"
        elif "://" in entry:
            remedy = "give URIs of labels or of groups of the vocabulary, or patterns with *"
        raise InputError(f"include or exclude: no label {entry!r}", remedy=remedy)


class ListChoice:
    """A choice of labels from a list that is known in advance.

    Parameters
    ----------
    left_out : iterable of str
        Marks, names, URIs or numbers, of the labels that are left out, as instances have them.
    amount : int
        Number of these labels.
    """

    def __init__(self, left_out: Iterable[str], amount: int) -> None:
        self._left_out = frozenset(left_out)
        self._amount = amount

    def keeps(self, label: str) -> bool:
        """Return whether a label is chosen."""
        return label not in self._left_out

    def n_left_out(self) -> int:
        """Return the number of labels that are left out."""
        return self._amount


class NameChoice:
    """A choice of names that become known one by one.

    Parameters
    ----------
    include, exclude : collections of str
        Names, URIs or patterns; an empty ``include`` includes all names.

    Attributes
    ----------
    identifiers : dict
        Identifiers of names, filled in by the reader.
    """

    def __init__(self, include: Collection[str], exclude: Collection[str]) -> None:
        self._include = include
        self._exclude = exclude
        self._is_kept: dict[str, bool] = {}
        self.identifiers: dict[str, str] = {}
        self._matches_included = _make_matcher(include)
        self._matches_excluded = _make_matcher(exclude)

    def keeps(self, name: str) -> bool:
        """Return whether a name is a label."""
        if name not in self._is_kept:
            marks = [name]
            identifier = self.identifiers.get(name)
            if identifier:
                marks.append(identifier)
            is_included = not self._include or any(self._matches_included(mark) for mark in marks)
            is_excluded = any(self._matches_excluded(mark) for mark in marks)
            self._is_kept[name] = is_included and not is_excluded
        return self._is_kept[name]

    def n_left_out(self) -> int:
        """Return the number of names that are no labels; refuse entries that mean no name."""
        names = list(self._is_kept)
        uris = [self.identifiers.get(name, name) for name in names]
        allowed = LabelFinder(names, uris).allowed(self._include, self._exclude)
        return int(np.count_nonzero(~allowed))


def drop_labels(Y: CSR, allowed: np.ndarray) -> CSR:
    """Drop labels that are not allowed from those of instances (n, l)."""
    kept = allowed[Y.indices]
    return CSR(Y.data[kept], Y.indices[kept], offsets(kept)[Y.indptr], Y.n_columns)


def _make_matcher(entries: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that tells whether a name is one of the entries or matches a pattern."""
    plain = frozenset(entries)
    patterns = [_compile_pattern(entry) for entry in plain if "*" in entry]
    return lambda name: name in plain or any(matches(name) for matches in patterns)
