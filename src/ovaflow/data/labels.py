"""Label lists of instances, by name, by number or by subject, to the label matrix."""

from array import array
from collections import Counter

import numpy as np
import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.sparse.csr import from_scipy


class NamedLabels:
    """Labels given by name; the ids are the positions of the names in sorted order.

    Only names of training instances are labels: :meth:`add_test` leaves out the others and counts them.
    """

    n_labels = None
    uris, notations, others, language = (), (), (), None

    def __init__(self):
        self._numbers = {}
        self._train, self._test = _Rows(), _Rows()
        self._unknown, self._only_unknown = Counter(), 0
        self.first = []  # of the first training instances, as they were given

    def add_train(self, labels):
        """Append a training instance; repeated names count once."""
        numbers = self._numbers
        if len(self.first) < _SAMPLE:
            self.first.append(labels)
        self._train.append(numbers.setdefault(label, len(numbers)) for label in labels)

    def add_test(self, labels):
        """Append a test instance, after the last training instance."""
        known = [self._numbers[label] for label in labels if label in self._numbers]
        self._unknown.update(label for label in labels if label not in self._numbers)
        self._only_unknown += bool(labels) and not known
        self._test.append(known)

    def finish(self):
        """Names, training matrix (n, l), test matrix, and the number of test labels that were left out."""
        names = sorted(self._numbers)
        ids = np.empty(len(names), np.int32)
        ids[[self._numbers[name] for name in names]] = np.arange(len(names))
        counts = {
            "test_labels_unknown_in_train": self._unknown.total(),
            "different_test_labels_unknown_in_train": len(self._unknown),
            "test_with_unknown_labels_only": self._only_unknown,
        }
        return names, self._train.matrix(len(names), ids), self._test.matrix(len(names), ids), counts


class NumberedLabels:
    """Labels given by their 0-based line numbers in a file of names; all of them are labels."""

    notations, others, language = (), (), None

    def __init__(self, names, uris=()):
        self._names, self.uris = names, uris
        self.n_labels = len(names)
        self._train, self._test = _Rows(), _Rows()

    def add_train(self, labels):
        """Append a training instance: decimal numbers below l; repeated ones count once."""
        self._train.append(map(int, labels))

    def add_test(self, labels):
        """Append a test instance; as :meth:`add_train`."""
        self._test.append(map(int, labels))

    def finish(self):
        """Names and matrices; as :meth:`NamedLabels.finish`."""
        return self._names, self._train.matrix(self.n_labels), self._test.matrix(self.n_labels), {}


class SubjectLabels:
    """Labels given by URIs, or names, of a subject vocabulary; all of its subjects are labels.

    What it lacks is left out and counted.
    """

    n_labels = None

    def __init__(self, vocabulary):
        self._vocabulary = vocabulary
        self.uris, self.notations, self.others = vocabulary.uris, vocabulary.notations, vocabulary.others
        self.language = vocabulary.language
        by_name = {name: number for number, name in enumerate(vocabulary.names)}
        self._numbers = by_name | {uri: number for number, uri in enumerate(vocabulary.uris)}
        self._train, self._test = _Rows(), _Rows()
        self._given = self._lacking = 0

    def add_train(self, labels):
        """Append a training instance."""
        self._train.append(self._known(labels))

    def add_test(self, labels):
        """Append a test instance."""
        self._test.append(self._known(labels))

    def _known(self, labels):
        known = [self._numbers[label] for label in labels if label in self._numbers]
        self._given += len(labels)
        self._lacking += len(labels) - len(known)
        return known

    def finish(self):
        """Names and matrices; as :meth:`NamedLabels.finish`."""
        n_labels = len(self.uris)
        counts = {"subjects_given": self._given, "subjects_not_in_vocabulary": self._lacking}
        matrices = self._train.matrix(n_labels), self._test.matrix(n_labels)
        return self._vocabulary.names, *matrices, self._vocabulary.counts | counts


_SEPARATORS = (";", "|", ",", "\t")
"""What tables usually have between labels."""
_BETWEEN = (";", "|", "\t")
"""Those that hardly any name has inside."""
_FEW = 20
_SAMPLE = 20_000
"""Training instances whose labels tell whether the separator is right."""


def check_separator(first, source):
    """Refuse the labels of the first training instances where another separator is right."""
    first = [labels for labels in first if labels]
    if len(first) >= _FEW:
        names = {label for labels in first for label in labels}
        _refuse_many(first, names, source)
        _refuse_combinations(first, names, source)


def _refuse_many(first, names, source):
    """Refuse labels where another separator would make far fewer of them.

    A separator that was chosen is only doubted where no instance has two labels and hardly any label occurs twice.
    """
    given = source.settings.label_separator
    alone = all(len(labels) == 1 for labels in first) and len(names) >= len(first) / 2
    if not (alone or given == ","):
        return
    whole = [given.join(labels) for labels in first]
    parts = {
        mark: {part.strip() for each in whole for part in each.split(mark)} - {""}
        for mark in (*_SEPARATORS, *[" "] * alone)
        if mark != given and sum(mark in each for each in whole) > len(whole) / (2 if alone else 10)
    }
    mark = min(parts, key=lambda mark: len(parts[mark]), default=None)
    if mark is None or len(parts[mark]) > len(names) / 2:
        return
    example = next(name for name in names if mark in name)
    told = f"the labels of {len(first):,} instances are {len(names):,} different ones"
    raise _wrong_separator(source, told, example, mark, f"be {len(parts[mark]):,}")


def _refuse_combinations(first, names, source):
    """Refuse labels that hardly occur twice and are hardly ever several, if most hold what others write between labels.

    They are combinations of rare labels, of which the right separator makes more.
    """
    given = source.settings.label_separator
    several = sum(len(labels) > 1 for labels in first) / len(first)
    if len(names) < len(first) / 2 or several >= (0.1 if given == "," else 0.01):
        return
    for mark in _BETWEEN:
        held = [name for name in names if mark in name]
        if mark != given and len(held) >= len(names) / 2:
            ours = sum(map(len, first)) / len(first)
            theirs = sum(1 for labels in first for label in labels for part in label.split(mark) if part.strip())
            told = f"{len(first):,} instances have {ours:.1f} labels each"
            raise _wrong_separator(source, told, min(held), mark, f"have {theirs / len(first):.1f}")


def _wrong_separator(source, told, example, mark, otherwise):
    return InputError(
        f"separated by {source.settings.label_separator!r}, {told}, such as {example[:60]!r}; "
        f"separated by {mark!r} they would {otherwise}",
        path=source.trained_on,
        remedy=f'set label_separator: "{mark}"',
    )


class _Rows:
    """A growing CSR of ones."""

    def __init__(self):
        self._ids, self._indptr = array("i"), array("q", [0])

    def append(self, ids):
        self._ids.extend(set(ids))
        self._indptr.append(len(self._ids))

    def matrix(self, n_columns, renamed=None):
        ids = np.array(self._ids, np.int32)
        ids = ids if renamed is None else renamed[ids]
        indptr = np.array(self._indptr, np.int64)
        shape = (len(indptr) - 1, n_columns)
        rows = scipy.sparse.csr_array((np.ones(len(ids), np.float32), ids, indptr), shape=shape)
        rows.sort_indices()
        return from_scipy(rows)
