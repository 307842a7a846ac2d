"""Labels of instances, by name, by number or by subject, to the label matrix; files of their names."""

from collections import Counter
from functools import cached_property
from itertools import chain

import numpy as np

from ovaflow.console.errors import InputError
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
    UNKNOWN_REASON,
    UnknownSubject,
    read_label_map,
)
from ovaflow.labels.meanings import Meanings
from ovaflow.labels.subjects import get_name, make_names_distinct, read_vocabulary
from ovaflow.reading.cells import clean_name
from ovaflow.reading.instances import IdentifiedNames
from ovaflow.reading.streams import read_lines

_REPLACED_SUBJECT_EXAMPLES = 2


class Labels:
    """How labels are given, and what the dataset file holds about them."""

    n_labels = None
    choice = None  # which of them are labels, where not all are
    above = None  # gives the labels above a label, where they are a hierarchy
    others = ()
    language = None

    def __init__(self, **described) -> None:
        self.identified = IdentifiedNames()
        self.described = described
        self.new_names = {}  # by label_map
        self.replaced = {}  # URIs of the subjects that stand for others
        self.followed = Counter()  # how many instances had each of these

    @cached_property
    def meanings(self):
        """What these labels are as records write them."""
        return Meanings(self)

    def select_learnt_names(self, names):
        """What to learn of the names of all labels: empty for those left out."""
        return names

    def unknown_subjects(self, *_):
        """Rows of the list of subjects that are no labels."""
        return []


class NamedLabels(Labels):
    """Labels given by name: those of training instances, in the order of their names."""

    def __init__(self, choice=None, above=None) -> None:
        super().__init__()
        self.choice = choice
        self.above = above
        if choice is not None:
            choice.identifiers = self.identified.identifiers
        self._numbers = Numbering()
        self._written = []
        self.number_of = self._numbers.__getitem__

    def matrices(self, train, test):
        """Names, training matrix (n, l), test matrix, and figures; names of test instances alone
        are left out.
        """
        in_train = np.zeros(len(self._numbers), bool)
        in_train[train.numbers] = True
        names = sorted(name for name, number in self._numbers.items() if in_train[number])
        ids = np.full(len(self._numbers), -1, np.int32)
        ids[[self._numbers[name] for name in names]] = np.arange(len(names))
        Y, Y_test = (lists.matrix(ids[lists.numbers], len(names)) for lists in (train, test))
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
        return names, Y, Y_test, counts

    def names_in(self, lists):
        """Names of the labels that some instances have."""
        names = list(self._numbers)
        return [names[number] for number in np.unique(lists.numbers)]

    def written(self, number):
        """A label as a text may have it."""
        if len(self._written) != len(self._numbers):
            self._written = list(self._numbers)
        return self._written[number]


def _count_unknown_labels_only(lists, Y):
    """Number of instances whose labels are all left out."""
    return int(np.count_nonzero(lists.lengths[np.diff(Y.indptr) == 0]))


class ListedLabels(Labels):
    """Labels that a file lists; all of them are labels."""

    def __init__(self, names, **described) -> None:
        super().__init__(**described)
        self._names = names

    def names_in(self, lists):
        """Preferred and other names of all labels."""
        return [
            *filter(None, self.select_learnt_names(self._names)),
            *chain.from_iterable(self.others),
        ]

    def matrices(self, train, test):
        """Names and matrices; as :meth:`NamedLabels.matrices`."""
        Y, Y_test = (lists.matrix(lists.numbers, len(self._names)) for lists in (train, test))
        return self._names, Y, Y_test, {}


class NumberedLabels(ListedLabels):
    """Labels given by their 0-based line numbers in a file of names."""

    number_of = int

    def __init__(self, names, uris=(), include=(), exclude=()) -> None:
        super().__init__(names, uris=uris)
        self.n_labels = len(names)
        self._left_out = np.empty(0, np.int64)
        if include or exclude:
            # the others keep their numbers
            allowed = LabelFinder(names, uris).allowed(include, exclude)
            self._left_out = np.flatnonzero(~allowed)
            self.choice = ListChoice(map(str, self._left_out), len(self._left_out))

    def written(self, number):
        return str(number)

    def select_learnt_names(self, names):
        names = list(names)
        for label in self._left_out:
            names[label] = ""
        return names


class SubjectLabels(ListedLabels):
    """Labels given by URIs, or names, of a subject vocabulary."""

    def __init__(self, vocabulary, include=(), exclude=(), hierarchical=False) -> None:
        every = vocabulary
        if include or exclude:
            finder = LabelFinder(every.names, every.uris, every.groups)
            allowed = finder.allowed(include, exclude)
            vocabulary = every.take(np.flatnonzero(allowed))
            marks = {*every.names, *every.uris} - {*vocabulary.names, *vocabulary.uris}
            self.choice = ListChoice(marks, int(np.count_nonzero(~allowed)))
        uris = vocabulary.uris
        names = vocabulary.names
        self._numbers = {
            mark: number for marks in (names, uris) for number, mark in enumerate(marks)
        }
        described = {
            name: getattr(vocabulary, name)
            for name in ("notations", "translations", "groups", "former_uris")
        }
        super().__init__(names, uris=uris, **described)
        self.replaced = every.replaced
        self._vocabulary = every
        self._unknown = []
        self.others = vocabulary.others
        self.language = vocabulary.language
        self._counts = vocabulary.counts
        if hierarchical:
            above = find_ancestors_by_relation(vocabulary.broader)
            self.described["above"] = build_ancestor_matrix(uris, above)
            uri_of = dict(zip(names, uris, strict=True))
            known = {*every.uris}
            self.above = lambda label: filter(known.__contains__, above(uri_of.get(label, label)))
        self._uris = uris
        self.identified = IdentifiedNames([*every.uris, *every.replaced])

    def written(self, number):
        return self._uris[number] if number >= 0 else self._unknown[-1 - number]

    def number_of(self, label):
        """Number of the subject with a URI or a name; what the vocabulary lacks has a negative
        number of its own.
        """
        if label not in self._numbers:
            self._unknown.append(label)
            self._numbers[label] = -len(self._unknown)
        return self._numbers[label]

    def unknown_subjects(self, *lists):
        """Subjects of instances that are no labels, deprecated ones first, by falling number of
        instances.
        """
        numbers = np.concatenate([each.numbers for each in lists])
        amounts = np.bincount(-1 - numbers[numbers < 0], minlength=len(self._unknown)).tolist()
        found = [
            self._unknown_subject(*each)
            for each in zip(self._unknown, amounts, strict=True)
            if each[1]
        ]
        return sorted(found, key=lambda each: (each.why, -each.records, each.subject))

    def _unknown_subject(self, label, amount):
        former = self._vocabulary.former.get(label)
        if former is None:
            return UnknownSubject(label, "", UNKNOWN_REASON, amount)
        name = get_name(former, self.language) if former.names else ""
        return UnknownSubject(
            label, "", DEPRECATED_REASON, amount, name, " ".join(former.replaced_by)
        )

    def _figures_of_followed(self):
        """How many replaced subjects instances had, and some of them."""
        if not self.followed:
            return {}
        name_of = dict(zip(self._vocabulary.uris, self._vocabulary.names, strict=True))
        pairs = [
            (old, self.replaced[old])
            for old, _ in self.followed.most_common(_REPLACED_SUBJECT_EXAMPLES)
        ]
        some = [f"{old} for {new} ({name_of[new]!r:.60})" for old, new in pairs]
        return {
            "replaced_subjects_of_records": len(self.followed),
            "replaced_subjects_such_as": "; ".join(some),
        }

    def matrices(self, train, test):
        names, Y, Y_test, _ = super().matrices(train, test)
        numbers = np.concatenate([train.numbers, test.numbers])
        counts = {
            "subjects_given": len(numbers),
            "subjects_not_in_vocabulary": int(np.count_nonzero(numbers < 0)),
            "train_with_unknown_labels_only": _count_unknown_labels_only(train, Y),
            "test_with_unknown_labels_only": _count_unknown_labels_only(test, Y_test),
        }
        return names, Y, Y_test, self._counts | counts | self._figures_of_followed()


def make_labels(source):
    """How the labels of texts are given: by name, by number in a file of names, or by a subject
    vocabulary.
    """
    choice = expand_entries(source.settings.include), expand_entries(source.settings.exclude)
    hierarchy = source.settings.hierarchy
    if (hierarchy == BROADER) != (source.vocabulary is not None) and hierarchy:
        message = "hierarchy: broader goes with a vocabulary, a separator with names of labels"
        raise InputError(message, remedy="correct hierarchy")
    if source.vocabulary is not None:
        vocabulary = read_vocabulary(source.vocabulary, source.settings.language)
        labels = SubjectLabels(vocabulary, *choice, hierarchy == BROADER)
    elif source.labels is not None:
        if hierarchy:
            raise InputError("hierarchy is for names of labels, not for ids", remedy="leave it out")
        labels = NumberedLabels(*read_label_names(source.labels), *choice)
    else:
        above = find_ancestors_by_name(hierarchy) if hierarchy else None
        labels = NamedLabels(NameChoice(*choice) if any(choice) else None, above)
    if source.settings.label_map:
        if labels.n_labels is not None:
            message = "label_map is for names of labels, not for ids"
            raise InputError(message, remedy="correct the file of label names")
        labels.new_names = read_label_map(source.settings.label_map)
    return labels


def read_label_names(path):
    """Names of lines ``name`` or ``identifier<TAB>name``, and identifiers, if all have one."""
    identifiers = []
    names = []
    for _, line in read_lines(path):
        identifier, tab, name = line.partition("\t")
        if not tab:
            identifier, name = "", identifier
        identifiers.append(clean_name(identifier))
        names.append(clean_name(name))
    while names and not names[-1] and not identifiers[-1]:
        del names[-1], identifiers[-1]
    for number, name in enumerate(names):
        names[number] = name or identifiers[number] or f"label {number}"
    return make_names_distinct(names, identifiers), identifiers if all(identifiers) else []


def read_names_by_id(source, n_labels):
    """Names of labels that are ids: those of the source's file, which must have one for each, or
    their numbers.
    """
    if source.labels is None:
        return [str(label) for label in range(n_labels)]
    names, _ = read_label_names(source.labels)
    # svmlight does not say how many labels there are
    if len(names) < n_labels or (len(names) > n_labels and source.format != "svmlight"):
        message = f"{len(names)} names for {n_labels} labels"
        remedy = (
            "give one line per label, in id order; if ids are counted from 1, set first_label: 1"
        )
        raise InputError(message, path=source.labels, remedy=remedy)
    return names


def read_names_by_mark(source):
    """The names of each label by what texts have in its place, an id, a URI or a name; None where
    labels are names.
    """
    if source.vocabulary is not None:
        subjects = read_vocabulary(source.vocabulary, source.settings.language)
        names = [
            (name, *others) for name, others in zip(subjects.names, subjects.others, strict=True)
        ]
        return dict(zip(subjects.names, names, strict=True)) | dict(
            zip(subjects.uris, names, strict=True)
        )
    if source.labels is not None:
        return {
            str(number): (name,) for number, name in enumerate(read_label_names(source.labels)[0])
        }
    return None


def number_labels_by_mark(named):
    """Labels of a dataset or a model by name, URI and replaced URI."""
    marks = named.label_names, named.label_uris
    return {
        mark: label for each in marks for label, mark in enumerate(each) if mark
    } | named.names.replaced


def number_labels(named, parameters):
    """Labels of a dataset or a model as :func:`numbers_of_marks`, and by number if its source had
    these.
    """
    numbers = number_labels_by_mark(named)
    source = parameters.get("source", {})
    if "labels" in source.get("files", {}):
        first = source.get("first_label", 0)
        numbers |= {str(label + first): label for label in range(named.n_labels)}
    return numbers
