"""Texts with labels, as every format gives them, and how they are made of what a file has in its
columns.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.reading.cells import (
    LABELS_ARE_NAMES,
    LABELS_ARE_ONE_HOT,
    MISSING_WORDS,
    NotAListError,
    clean_name,
    extract_names,
    parse_group,
    parse_label,
    parse_list,
    parse_split_part,
    parse_text,
    parse_time,
    parse_truth,
    parse_vector,
    parse_weight,
)
from ovaflow.reading.feature_columns import FeatureColumn
from ovaflow.reading.streams import clean_text

CORRECT_LINE = "correct or delete the line"

FIELD_SEPARATOR = "\x1f"
"""Separates a text's fields where they have weights."""
NO_SEPARATOR = "none"


class TextInstance(NamedTuple):
    """A text and its labels: names or ids as the source has them, each once, stripped of white
    space.
    """

    text: str
    labels: tuple = ()
    record: Any = None  # its id, as the source has it
    place: str = ""  # in the file
    group: str = ""  # what it has in the column of groups; empty for none
    time: float | str | None = None  # or train, test or dev
    file: str = ""  # its name, where there are several
    kept: tuple = ()  # texts of further columns
    weight: float = 1.0  # of its losses
    extra: bool = False  # whether it is of an extra file
    beside: tuple = ()  # values of columns beside the text

    @property
    def id(self):
        """Its id as a text; empty without one."""
        return "" if self.record is None else clean_text(str(self.record))

    @property
    def name(self):
        """What a report calls it: its id or place, after its file if there are several."""
        return ", ".join(filter(None, (self.file, self.id or self.place)))


def join_fields(fields, weighted=False):
    """Text of several fields: strings, numbers, None, or lists of them."""
    texts = map(parse_text, fields)
    if weighted:
        return clean_text(
            FIELD_SEPARATOR.join(text.replace(FIELD_SEPARATOR, " ") for text in texts)
        )
    return clean_text(" ".join(filter(None, texts)))


class _Names(dict):
    """Labels by what is written: cleaned, whole numbers alike, empty for what stands for nothing."""

    def __init__(self, missing, is_numeric) -> None:
        self._missing = missing
        self._is_numeric = is_numeric

    def __missing__(self, written):
        name = clean_name(written)
        if self._is_numeric:
            name = _WITH_ZEROS.sub(r"\1", name)
        self[written] = "" if name in self._missing else name
        return self[written]


_WITH_ZEROS = re.compile(r"(-?\d+)\.0+")


class IdentifiedNames:
    """Names of labels that have identifiers, one for each; identifiers that are known are names
    themselves.
    """

    def __init__(self, known=()) -> None:
        self.identifiers = {}  # by name
        self._names = {identifier: identifier for identifier in known if identifier}

    def name_of(self, identifier, heading):
        if identifier not in self._names:
            name = clean_name(heading)
            if self.identifiers.get(name, identifier) != identifier:
                name = f"{name} ({identifier})"
            self._names[identifier] = name
            self.identifiers[name] = identifier
        return self._names[identifier]


@dataclass
class Reading:
    """How instances are made of the contents of columns; ``counts`` gets what was left out.

    Parameters
    ----------
    texts, labels : list of str
        Columns of the text and of the labels.
    id_column : str, optional
        By default the first of ``default_ids`` that there is.
    kept : tuple of str
        Further columns, as texts.
    weighted : bool
        Whether the texts' columns have weights and stay apart.
    beside : tuple of FeatureColumn
        Columns beside the text whose values are features.
    vectors : bool
        Whether the column of the text holds vectors.
    separator : str
        Between labels that are not a list; none: a cell is a label.
    label_key : str, optional
        Key of the name where labels are objects.
    labels_are : str
        ``one-hot``: columns, keys or places of a list are labels, which cells say yes or no to.
    n_labels : int, optional
        Labels must be ids below it; by default they are names.
    first_label : int
        The id of the first label, which becomes 0.
    early : bool
        Whether records are answered before the last is read.
    """

    texts: list
    labels: list
    id_column: str | None = None
    default_ids: tuple = ("id",)
    kept: tuple = ()
    beside: tuple[FeatureColumn, ...] = ()
    weighted: bool = False
    vectors: bool = False
    separator: str = ","
    label_key: str | None = None
    labels_are: str = "auto"
    missing: tuple = MISSING_WORDS
    whole_numbers: bool = False  # 3.0 is 3
    n_labels: int | None = None
    first_label: int = 0
    quotes: str = "auto"
    encoding: str = "utf-8"
    sheet: str | None = None
    remedy: str = "set text_column and labels_column"
    early: bool = False
    group_column: str | None = None
    time_column: str | None = None
    parts: bool = False  # whether that column says train, test or dev
    weight_column: str | None = None
    identified: IdentifiedNames = field(default_factory=IdentifiedNames)
    counts: Counter = field(default_factory=Counter)
    seen: dict = field(
        default_factory=dict
    )  # what a reader found: columns, delimiter, encoding, sheet

    def __post_init__(self) -> None:
        self._missing = frozenset(self.missing)
        self._names = _Names(self._missing, self.whole_numbers)
        n_texts = len(self.texts)
        n_labels = len(self.labels)
        self._ends = n_texts, n_texts + n_labels, n_texts + n_labels + len(self.kept)

    @property
    def required(self):
        """Columns that there must be: of texts, of labels, and further ones, of the ids last."""
        chosen = self.group_column, self.time_column, self.weight_column, self.id_column
        return [
            *self.texts,
            *self.labels,
            *self.kept,
            *(each.name for each in self.beside),
            *filter(None, chosen),
        ]

    @property
    def optional(self):
        """Columns of the ids where none was chosen."""
        if self.id_column is not None:
            return ()
        others = [
            *self.texts,
            *self.labels,
            self.group_column,
            self.time_column,
            self.weight_column,
        ]
        return tuple(name for name in self.default_ids if name not in others)

    def instance(self, fields, path, line=None, row=None, place=None):
        """The instance in the contents of the columns, in the order of ``required`` and
        ``optional``.
        """
        n_texts, end, end_of_kept = self._ends
        further = iter(fields[end_of_kept:])
        cells = [next(further) for _ in self.beside]
        group = next(further) if self.group_column else None
        time = next(further) if self.time_column else None
        weight = next(further) if self.weight_column else 1.0
        # the first id that there is
        record = next((content for content in further if content is not None), None)
        try:
            text = (
                parse_vector(fields[0])
                if self.vectors
                else join_fields(map(self._present, fields[:n_texts]), self.weighted)
            )
            labels = self.parse_labels(fields[n_texts:end])
            group = parse_group(group)
            if self.time_column:
                time = (parse_split_part if self.parts else parse_time)(time)
            # what is not for training needs none
            weight = (
                parse_weight(weight)
                if self.weight_column and not (self.parts and time != "train")
                else 1.0
            )
            kept = (
                tuple(clean_text(parse_text(content)) for content in fields[end:end_of_kept])
                if self.kept
                else ()
            )
            beside = self._values_beside(cells) if cells else ()
        except (ValueError, RecursionError) as error:
            raise unreadable_cell_error(error, path, line, row) from None
        place = place or (f"line {line}" if row is None else f"row {row}")
        return TextInstance(
            text, labels, record, place, group, time, kept=kept, weight=weight, beside=beside
        )

    def make_plain_instance(self, text, labels, path, line=None, place=None, record=None):
        """The instance of a format without columns."""
        return self.instance(
            [text, *([labels] if self.labels else []), record], path, line, place=place
        )

    def _values_beside(self, cells):
        """Values of the cells of columns beside the text; an error says in which column."""
        values = []
        for column, content in zip(self.beside, cells, strict=True):
            is_missing = isinstance(content, str) and content.strip() in self._missing
            try:
                values.append(column.kind.parse_value(None if is_missing else content))
            except ValueError as error:
                message, *remedy = error.args
                raise ValueError(f"{column.name}: {message}", *remedy) from None
        return tuple(values)

    def _present(self, content):
        """The content of a cell, or None where it is a word for nothing."""
        if isinstance(content, str) and content in self._missing:
            self.counts["missing_texts"] += 1
            return None
        return content

    def parse_labels(self, contents):
        """Labels of some cells, each once."""
        if self.labels_are == LABELS_ARE_ONE_HOT and contents:
            return self._one_hot(contents)
        labels = {}
        for content in contents:
            for written in self.split_labels(content):
                label = self._names[written]
                if label:
                    labels[label] = None
                elif written and not written.isspace():
                    self.counts["missing_labels"] += 1
        if self.n_labels is not None:
            return tuple(self._number(label) for label in labels)
        return tuple(labels)

    def split_labels(self, content):
        """The labels of a cell as it has them."""
        found = self.listed(content)
        return () if found is None else map(parse_label, extract_names(found, self.label_key))

    @property
    def written_labels(self):
        """All different labels so far as they are written."""
        return self._names.keys()

    def listed(self, content):
        """What a cell holds: a list, an object, or a text divided by the separator."""
        if not isinstance(content, str):
            return content
        content = content.strip()
        try:
            found = parse_list(content)
        except NotAListError:
            if self.separator != NO_SEPARATOR:
                raise
            found = None
        if found is not None or not content:
            return found
        if self.separator == NO_SEPARATOR:
            return [content]
        self.seen["separated"] = True
        return content.split(self.separator)

    def _one_hot(self, contents):
        """Names of the columns, or places in the list, that say yes."""
        if len(contents) > 1:
            truths = dict(zip(self.labels, map(parse_truth, contents), strict=True))
        else:
            found = self.listed(contents[0])
            flags = found if isinstance(found, dict) else dict(enumerate(found or ()))
            truths = {parse_label(name): parse_truth(each) for name, each in flags.items()}
            if self.n_labels is not None and truths and len(truths) != self.n_labels:
                raise ValueError(f"{len(truths)} truth values for {self.n_labels} labels")
        if None in truths.values():
            name = next(name for name, is_true in truths.items() if is_true is None)
            remedy = (
                "write 1 or 0"
                if len(contents) > 1
                else f"correct it, or set labels_are: {LABELS_ARE_NAMES} if they are ids"
            )
            raise ValueError(f"{name!r} is neither yes nor no", remedy)
        return tuple(clean_name(name) for name, is_true in truths.items() if is_true)

    def _number(self, label):
        number = _WITH_ZEROS.sub(r"\1", label)
        last = self.n_labels - 1 + self.first_label
        is_number = number.isascii() and number.isdigit() and len(number) < 20
        if is_number and self.first_label <= int(number) <= last:
            return str(int(number) - self.first_label)
        message = f"label {label[:60]!r} is not an id from {self.first_label} to {last}"
        remedy = "leave out the file of label names if the data holds the names themselves"
        other = 1 - self.first_label
        if is_number and int(number) == other * self.n_labels:
            remedy = f"if ids are counted from {other}, set first_label: {other}"
        elif several := _IDS.fullmatch(label):
            remedy = f'if it is several ids, set label_separator: "{several[1]}"'
        raise ValueError(message, remedy)


_IDS = re.compile(r"\d+(?: *)([^\w.-])(?: *)\d+.*")


def unreadable_cell_error(error, path, line=None, row=None):
    """The error of a cell that means nothing, with its place, and with its own remedy if it has
    one.
    """
    where = "" if row is None else f"row {row}: "
    message, remedy = (*error.args, CORRECT_LINE)[:2]
    return InputError(f"{where}{message}", path=path, line=line, remedy=remedy)


def merge_repeated(instances, repeated):
    """Instances where records with the same id are kept, are one, or only the last counts: see
    setting ``repeated``.
    """
    return {"keep": iter, "join": join_repeated, "last": _last}[repeated](instances)


def _last(instances):
    found = {}
    for number, instance in enumerate(instances):
        key = instance.id or number
        found.pop(key, None)
        found[key] = instance
    return iter(found.values())


def join_repeated(instances):
    """Instances; those with the same id, or the same text where they have none, are one with the
    labels of all.
    """
    found = {}
    for instance in instances:
        first = found.setdefault(instance.id or instance.text, instance)
        if first is not instance:
            labels = tuple(dict.fromkeys([*first.labels, *instance.labels]))
            found[instance.id or instance.text] = first._replace(labels=labels)
    return iter(found.values())


def empty_file_error(path):
    return InputError("is empty", path=path, remedy="export it again, or give another file")
