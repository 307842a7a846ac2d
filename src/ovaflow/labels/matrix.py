"""Label matrices of labels given by name, by number or by subject; files of their names."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.features.tokens import Numbering
from ovaflow.labels.choice import LabelFinder, ListChoice, NameChoice, expand_entries
from ovaflow.labels.hierarchy import (
    BROADER,
    build_ancestor_matrix,
    find_ancestors_by_name,
    find_ancestors_by_relation,
)
from ovaflow.labels.label_map import (
    DEPRECATED_REASON,
    NAMELESS_REASON,
    RESPELLED_REASON,
    UNKNOWN_REASON,
    UnknownSubject,
    read_label_map,
)
from ovaflow.labels.lists import LabelLists
from ovaflow.labels.meanings import Meanings
from ovaflow.labels.subjects import Vocabulary, get_name, make_names_distinct, read_vocabulary
from ovaflow.reading.cells import clean_name
from ovaflow.reading.instances import IdentifiedNames
from ovaflow.reading.streams import read_lines
from ovaflow.sparse.csr import CSR

_REPLACED_SUBJECT_EXAMPLES = 2
"""Replaced subjects that a message names."""


class LabelMatrices(NamedTuple):
    """Labels of training and test instances.

    Attributes
    ----------
    names : sequence of str
        Name of each label.
    train, test : CSR
        Ones for the labels of each instance, shape (n, l).
    counts : dict
        Figures about the labels, by name.
    """

    names: Sequence[str]
    train: CSR
    test: CSR
    counts: dict[str, Any]


class Labels(ABC):
    """Labels as a source gives them, with the facts about them that the dataset file holds.

    Parameters
    ----------
    **described
        Facts about the labels that the dataset file holds, such as ``uris``.

    Attributes
    ----------
    n_labels : int or None
        Number of labels, where it is known from the start.
    choice : ListChoice, NameChoice or None
        The names that are labels, where not all are.
    above : callable or None
        Gives the labels above a label, where they are a hierarchy.
    others : sequence of tuples of str
        Alternative names of each label.
    language : str or None
        Language of the names.
    identified : IdentifiedNames
        Identifiers of names.
    new_names : dict
        New names by old ones, of the setting ``label_map``.
    replaced : dict
        URIs of the subjects that replace others, by the URIs of these.
    followed : Counter
        Number of instances that had each of the replaced subjects.
    """

    n_labels: int | None = None
    choice: ListChoice | NameChoice | None = None
    above: Callable[[str], Iterable[str]] | None = None
    others: Sequence[tuple[str, ...]] = ()
    language: str | None = None
    number_of: Callable[[Any], int]

    def __init__(self, **described: Any) -> None:
        self.identified = IdentifiedNames()
        self.described = described
        self.new_names: dict[str, str] = {}
        self.replaced: Mapping[str, str] = {}
        self.followed: Counter[str] = Counter()

    @cached_property
    def meanings(self) -> Meanings:
        """Meanings of these labels as records write them."""
        return Meanings(self)

    def select_learnt_names(self, names: Iterable[str]) -> Iterable[str]:
        """Return the names of all labels that are training texts; empty for those left out."""
        return names

    @abstractmethod
    def matrices(self, train: LabelLists, test: LabelLists) -> LabelMatrices:
        """Make the label matrices of training and test instances."""

    @abstractmethod
    def names_in(self, lists: LabelLists) -> list[str]:
        """Return the names of labels in some lists."""

    def unknown_subjects(self, *_: LabelLists) -> list[UnknownSubject]:
        """Return the rows of the list of subjects that are no labels."""
        return []


class NamedLabels(Labels):
    """Labels given by name: those of training instances, in the order of their names.

    Parameters
    ----------
    choice : NameChoice, optional
        The names that are labels, where not all are.
    above : callable, optional
        Gives the names above a name, where they are a hierarchy.
    """

    def __init__(
        self,
        choice: NameChoice | None = None,
        above: Callable[[str], Iterable[str]] | None = None,
    ) -> None:
        super().__init__()
        self.choice = choice
        self.above = above
        if choice is not None:
            choice.identifiers = self.identified.identifiers
        self._numbers = Numbering()
        self._written: list[str] = []
        self.number_of = self._numbers.__getitem__

    def matrices(self, train: LabelLists, test: LabelLists) -> LabelMatrices:
        """Make the label matrices; names that only test instances have are left out."""
        in_train = np.zeros(len(self._numbers), bool)
        in_train[train.numbers] = True
        names = sorted(name for name, number in self._numbers.items() if in_train[number])
        ids = np.full(len(self._numbers), -1, np.int32)
        ids[[self._numbers[name] for name in names]] = np.arange(len(names))
        Y = train.matrix(ids[train.numbers], len(names))
        Y_test = test.matrix(ids[test.numbers], len(names))
        unknown = test.numbers[~in_train[test.numbers]]
        counts = {
            "test_labels_unknown_in_train": len(unknown),
            "different_test_labels_unknown_in_train": len(np.unique(unknown)),
            "test_with_unknown_labels_only": _count_unknown_labels_only(test, Y_test),
        }
        if self.above is not None:
            self.described["above"] = build_ancestor_matrix(names, self.above)
        if self.identified.identifiers:
            self.described["uris"] = [self.identified.identifiers.get(name, "") for name in names]
        return LabelMatrices(names, Y, Y_test, counts)

    def names_in(self, lists: LabelLists) -> list[str]:
        """Return the names of the labels that some instances have."""
        names = list(self._numbers)
        return [names[number] for number in np.unique(lists.numbers)]

    def written(self, number: int) -> str:
        """Return a label as a text may have it."""
        if len(self._written) != len(self._numbers):
            self._written = list(self._numbers)
        return self._written[number]


def _count_unknown_labels_only(lists: LabelLists, Y: CSR) -> int:
    """Count the instances whose labels are all left out."""
    return int(np.count_nonzero(lists.lengths[np.diff(Y.indptr) == 0]))


class ListedLabels(Labels):
    """Labels that a file lists; all of them are labels."""

    def __init__(self, names: Sequence[str], **described: Any) -> None:
        super().__init__(**described)
        self._names = names

    def names_in(self, lists: LabelLists) -> list[str]:
        """Return the preferred and other names of all labels."""
        names = [name for name in self.select_learnt_names(self._names) if name]
        for others in self.others:
            names += others
        return names

    def matrices(self, train: LabelLists, test: LabelLists) -> LabelMatrices:
        """Make the label matrices."""
        Y = train.matrix(train.numbers, len(self._names))
        Y_test = test.matrix(test.numbers, len(self._names))
        return LabelMatrices(self._names, Y, Y_test, {})


class NumberedLabels(ListedLabels):
    """Labels given by their 0-based line numbers in a file of names.

    Parameters
    ----------
    names, uris : sequences of str
        Name of each label, and its identifier if they have any.
    include, exclude : collections of str
        Entries of a choice; the other labels keep their numbers.
    """

    number_of = int

    def __init__(
        self,
        names: Sequence[str],
        uris: Sequence[str] = (),
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> None:
        super().__init__(names, uris=uris)
        self.n_labels = len(names)
        self._left_out = np.empty(0, np.int64)
        if include or exclude:
            allowed = LabelFinder(names, uris).allowed(include, exclude)
            self._left_out = np.flatnonzero(~allowed)
            marks = [str(label) for label in self._left_out]
            self.choice = ListChoice(marks, len(self._left_out))

    def written(self, number: int) -> str:
        """Return a label as a text may have it."""
        return str(number)

    def select_learnt_names(self, names: Iterable[str]) -> list[str]:
        """Return the names of all labels that are training texts; empty for those left out."""
        learnt = list(names)
        for label in self._left_out:
            learnt[label] = ""
        return learnt


class SubjectLabels(ListedLabels):
    """Labels given by URIs, or names, of a subject vocabulary.

    Parameters
    ----------
    vocabulary : Vocabulary
        The subjects.
    include, exclude : collections of str
        Entries of a choice.
    hierarchical : bool, default=False
        Whether records have the subjects above theirs, too.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        *,
        hierarchical: bool = False,
    ) -> None:
        chosen = vocabulary
        if include or exclude:
            finder = LabelFinder(vocabulary.names, vocabulary.uris, vocabulary.groups)
            allowed = finder.allowed(include, exclude)
            chosen = vocabulary.take(np.flatnonzero(allowed))
            marks = {*vocabulary.names, *vocabulary.uris} - {*chosen.names, *chosen.uris}
            self.choice = ListChoice(marks, int(np.count_nonzero(~allowed)))
        uris = chosen.uris
        names = chosen.names
        # a URI that is a name, too, means the subject with the URI
        self._numbers = {name: number for number, name in enumerate(names)}
        self._numbers |= {uri: number for number, uri in enumerate(uris)}
        super().__init__(
            names,
            uris=uris,
            notations=chosen.notations,
            translations=chosen.translations,
            alternatives=chosen.alternatives,
            groups=chosen.groups,
            former_uris=chosen.former_uris,
        )
        self.replaced = vocabulary.replaced
        self._vocabulary = vocabulary
        self._unknown: list[str] = []
        self.others = chosen.others
        self.language = chosen.language
        self._counts = chosen.counts
        if hierarchical:
            self._add_hierarchy(chosen)
        self._uris = uris
        self.identified = IdentifiedNames([*vocabulary.uris, *vocabulary.replaced])

    def _add_hierarchy(self, chosen: Vocabulary) -> None:
        find_ancestors = find_ancestors_by_relation(chosen.broader)
        self.described["above"] = build_ancestor_matrix(chosen.uris, find_ancestors)
        uri_by_name = dict(zip(chosen.names, chosen.uris, strict=True))
        known = set(self._vocabulary.uris)

        def find_known_ancestors(label: str) -> list[str]:
            uri = uri_by_name.get(label, label)
            return [ancestor for ancestor in find_ancestors(uri) if ancestor in known]

        self.above = find_known_ancestors

    def written(self, number: int) -> str:
        """Return a label as a text may have it."""
        return self._uris[number] if number >= 0 else self._unknown[-1 - number]

    def number_of(self, label: str) -> int:
        """Return the number of the subject with a URI or a name.

        Each label that the vocabulary lacks has a negative number.
        """
        if label not in self._numbers:
            self._unknown.append(label)
            self._numbers[label] = -len(self._unknown)
        return self._numbers[label]

    def unknown_subjects(self, *lists: LabelLists) -> list[UnknownSubject]:
        """Return the subjects of instances that are no labels.

        Deprecated ones are first, then those that most instances have.
        """
        numbers = np.concatenate([each.numbers for each in lists])
        amounts = np.bincount(-1 - numbers[numbers < 0], minlength=len(self._unknown)).tolist()
        subjects = []
        for label, amount in zip(self._unknown, amounts, strict=True):
            if amount:
                subjects.append(self._describe_unknown_subject(label, amount))
        return sorted(subjects, key=lambda each: (each.why, -each.records, each.subject))

    def _describe_unknown_subject(self, label: str, amount: int) -> UnknownSubject:
        if label in self._respelled:
            return UnknownSubject(label, self._respelled[label], RESPELLED_REASON, amount)
        former = self._vocabulary.former.get(label)
        if former is None:
            return UnknownSubject(label, "", UNKNOWN_REASON, amount)
        if former.lacks_only_name:
            return UnknownSubject(label, "", NAMELESS_REASON, amount)
        name = get_name(former, self.language) if former.names else ""
        replaced_by = " ".join(former.replaced_by)
        return UnknownSubject(label, "", DEPRECATED_REASON, amount, name, replaced_by)

    @cached_property
    def _respelled(self) -> dict[str, str]:
        """URIs of the vocabulary by those of records that differ in http, https or a final slash.

        It is made when all records have been read.
        """
        known = (*self._vocabulary.replaced, *self._vocabulary.uris)
        uris = {_strip_spelling(uri): uri for uri in known}
        respelled = {}
        for label in self._unknown:
            uri = uris.get(_strip_spelling(label))
            if uri is not None and label not in self._vocabulary.former:
                respelled[label] = uri
        return respelled

    def _count_respelled(self, numbers: np.ndarray) -> dict[str, Any]:
        """Count the subjects of instances that are written in another way, and show one."""
        if not self._respelled:
            return {}
        is_respelled = np.array([label in self._respelled for label in self._unknown])
        example, uri = next(iter(self._respelled.items()))
        return {
            "respelled_subjects": int(np.count_nonzero(is_respelled[-1 - numbers[numbers < 0]])),
            "respelled_subjects_such_as": f"{example} for {uri}",
        }

    def _count_followed(self) -> dict[str, Any]:
        """Count the replaced subjects of instances, and describe some of them."""
        if not self.followed:
            return {}
        names = dict(zip(self._vocabulary.uris, self._vocabulary.names, strict=True))
        examples = []
        for old, _ in self.followed.most_common(_REPLACED_SUBJECT_EXAMPLES):
            new = self.replaced[old]
            examples.append(f"{old} for {new} ({names[new]!r:.60})")
        return {
            "replaced_subjects_of_records": len(self.followed),
            "replaced_subjects_such_as": "; ".join(examples),
        }

    def matrices(self, train: LabelLists, test: LabelLists) -> LabelMatrices:
        """Make the label matrices."""
        made = super().matrices(train, test)
        numbers = np.concatenate([train.numbers, test.numbers])
        counts = {
            "subjects_given": len(numbers),
            "subjects_not_in_vocabulary": int(np.count_nonzero(numbers < 0)),
            "train_with_unknown_labels_only": _count_unknown_labels_only(train, made.train),
            "test_with_unknown_labels_only": _count_unknown_labels_only(test, made.test),
        }
        counts |= self._count_respelled(numbers)
        return made._replace(counts=self._counts | counts | self._count_followed())


def _strip_spelling(uri: str) -> str:
    """Return a URI without http, https and a final slash."""
    return uri.removeprefix("http://").removeprefix("https://").removesuffix("/")


def make_labels(source: Any) -> NamedLabels | NumberedLabels | SubjectLabels:
    """Make the labels of texts: by name, by number in a file of names, or by a vocabulary.

    Parameters
    ----------
    source : ovaflow.records.source.SourceFiles
        The files, with their settings.

    Returns
    -------
    labels : NamedLabels, NumberedLabels or SubjectLabels
        The labels, by the way they are given.

    Raises
    ------
    InputError
        If settings do not fit the way labels are given, or a file is wrong.
    """
    include = expand_entries(source.settings.include)
    exclude = expand_entries(source.settings.exclude)
    hierarchy = source.settings.hierarchy
    if hierarchy and (hierarchy == BROADER) != (source.vocabulary is not None):
        message = "hierarchy: broader goes with a vocabulary, a separator with names of labels"
        raise InputError(message, remedy="correct hierarchy")
    labels: NamedLabels | NumberedLabels | SubjectLabels
    if source.vocabulary is not None:
        vocabulary = read_vocabulary(source.vocabulary, source.settings.language)
        is_hierarchical = hierarchy == BROADER
        labels = SubjectLabels(vocabulary, include, exclude, hierarchical=is_hierarchical)
    elif source.labels is not None:
        if hierarchy:
            raise InputError("hierarchy is for names of labels, not for ids", remedy="leave it out")
        names, identifiers = read_label_names(source.labels)
        labels = NumberedLabels(names, identifiers, include, exclude)
    else:
        above = find_ancestors_by_name(hierarchy) if hierarchy else None
        choice = NameChoice(include, exclude) if include or exclude else None
        labels = NamedLabels(choice, above)
    if source.settings.label_map:
        if labels.n_labels is not None:
            message = "label_map is for names of labels, not for ids"
            raise InputError(message, remedy="correct the file of label names")
        labels.new_names = read_label_map(source.settings.label_map)
    return labels


def read_label_names(path: StrPath) -> tuple[list[str], list[str]]:
    """Read names of labels from lines ``name`` or ``identifier<TAB>name``.

    Returns
    -------
    names : list of str
        The names, all different.
    identifiers : list of str
        The identifiers; empty unless all labels have one.
    """
    identifiers = []
    names = []
    for _, line in read_lines(path):
        identifier, tab, name = line.partition("\t")
        if not tab:
            name = identifier
            identifier = ""
        identifiers.append(clean_name(identifier))
        names.append(clean_name(name))
    while names and not names[-1] and not identifiers[-1]:
        del names[-1]
        del identifiers[-1]
    for number, name in enumerate(names):
        names[number] = name or identifiers[number] or f"label {number}"
    return make_names_distinct(names, identifiers), identifiers if all(identifiers) else []


def read_names_by_id(source: Any, n_labels: int) -> list[str]:
    """Read the names of labels that are ids; without a file their numbers are their names.

    InputError is raised if the file does not have one name for each label.
    """
    if source.labels is None:
        return [str(label) for label in range(n_labels)]
    names, _ = read_label_names(source.labels)
    # an svmlight file does not contain the number of labels
    is_too_long = len(names) > n_labels and source.format != "svmlight"
    if len(names) < n_labels or is_too_long:
        message = f"{len(names)} names for {n_labels} labels"
        remedy = (
            "give one line per label, in id order; if ids are counted from 1, set first_label: 1"
        )
        raise InputError(message, path=source.labels, remedy=remedy)
    return names


def read_names_by_mark(source: Any) -> dict[str, tuple[str, ...]] | None:
    """Read the names of each label by its mark in texts: an id, a URI or a name.

    None is returned where labels are names.
    """
    names: dict[str, tuple[str, ...]] = {}
    if source.vocabulary is not None:
        subjects = read_vocabulary(source.vocabulary, source.settings.language)
        names_of_subjects = []
        for name, others in zip(subjects.names, subjects.others, strict=True):
            names_of_subjects.append((name, *others))
        names |= zip(subjects.names, names_of_subjects, strict=True)
        names |= zip(subjects.uris, names_of_subjects, strict=True)
        return names
    if source.labels is not None:
        label_names, _ = read_label_names(source.labels)
        for number, name in enumerate(label_names):
            names[str(number)] = (name,)
        return names
    return None


def number_labels_by_mark(named: Any) -> dict[str, int]:
    """Map names, URIs and replaced URIs to the labels of a dataset or a model."""
    numbers = {}
    for marks in (named.label_names, named.label_uris):
        for label, mark in enumerate(marks):
            if mark:
                numbers[mark] = label
    return numbers | named.names.replaced


def number_labels(
    named: Any, parameters: Mapping[str, Any], first: int | None = None
) -> dict[str, int]:
    """Map marks to labels as :func:`number_labels_by_mark`, and numbers if the source has these.

    The ``first`` label has the number 0 or 1, by default as in the source.
    """
    numbers = number_labels_by_mark(named)
    source = parameters.get("source", {})
    if "labels" in source.get("files", {}):
        if first is None:
            first = source.get("first_label", 0)
        for label in range(named.n_labels):
            numbers[str(label + first)] = label
    return numbers


def count_labels_from_zero(Y: CSR, first: int, path: StrPath) -> CSR:
    """Return labels (n, l) of a file whose ``first`` label has the number 0 or 1."""
    if not first:
        return Y
    if Y.indices.min(initial=first) < first:
        raise InputError("a label has the number 0", path=path, remedy="leave out first_label: 1")
    return Y._replace(indices=Y.indices - np.int32(first), n_columns=Y.n_columns - first)
