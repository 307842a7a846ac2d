"""Texts with labels as every format yields them, and how they are made of a file's columns."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.cells import (
    LABELS_ARE_NAMES,
    LABELS_ARE_ONE_HOT,
    MISSING_WORDS,
    NOT_JUDGED_LEAVE_OUT,
    NotAListError,
    clean_name,
    extract_names,
    is_empty_truth,
    parse_group,
    parse_label,
    parse_list,
    parse_meant,
    parse_split_part,
    parse_text,
    parse_time,
    parse_vector,
    parse_weight,
)
from ovaflow.reading.columns import WantedColumns
from ovaflow.reading.enclosures import (
    AUTO_ENCLOSURE,
    IN_BRACKETS,
    IN_QUOTES,
    list_bracketed,
    split_bracketed,
    split_quoted,
    strip_brackets,
)
from ovaflow.reading.feature_columns import FeatureColumn
from ovaflow.reading.numbered_names import select_names
from ovaflow.reading.streams import RecordFile, clean_text

CORRECT_LINE = "correct or delete the line"
"""Remedy of errors in one line of a file."""

_BRACKETS = frozenset("[({")
FIELD_SEPARATOR = "\x1f"
"""Separates a text's fields where they have weights."""
NO_SEPARATOR = "none"
"""Value of ``label_separator``: a cell is one label."""
AUTO_SEPARATOR = "auto"
"""Value of ``label_separator``: the preview chooses; until then a comma."""


class TextInstance(NamedTuple):
    """A text and its labels: names or ids of the source, each once, without surrounding space."""

    text: str
    labels: Sequence[str] = ()
    record_id: Any = None  # as in the source
    location: str = ""  # in the file
    group: Any = ""  # value of the column of groups; empty for none
    time: float | str | None = None  # or train, test or dev
    file: str = ""  # its name, where there are several
    kept_texts: tuple[str, ...] = ()  # texts of further columns
    weight: float = 1.0  # of its losses
    extra: bool = False  # true for records of extra files
    feature_values: tuple = ()  # values of columns next to the text
    is_judged: bool = True  # false if a column of a label holds neither yes nor no

    @property
    def id(self) -> str:
        """The id as a text; empty without one."""
        return "" if self.record_id is None else clean_text(str(self.record_id))

    @property
    def name(self) -> str:
        """The name in reports: the id or location, after the file if there are several."""
        own_name = self.id or self.location
        if self.file and own_name:
            return f"{self.file}, {own_name}"
        return self.file or own_name


def join_fields(fields: Iterable[Any], *, weighted: bool = False) -> str:
    """Join several fields, strings, numbers, None or lists of them, to one text."""
    texts = [parse_text(each) for each in fields]
    if weighted:
        return clean_text(
            FIELD_SEPARATOR.join(text.replace(FIELD_SEPARATOR, " ") for text in texts)
        )
    return clean_text(" ".join(text for text in texts if text))


class _LabelNames(dict):
    """Labels by their written form: cleaned, whole numbers alike, empty for a missing word.

    A cache: most labels occur in many records.
    """

    def __init__(self, missing: frozenset[str], *, is_numeric: bool) -> None:
        self._missing = missing
        self._is_numeric = is_numeric

    def __missing__(self, written: str) -> str:
        name = clean_name(written)
        if self._is_numeric:
            name = _WITH_ZEROS.sub(r"\1", name)
        if name in self._missing:
            name = ""
        self[written] = name
        return name


_WITH_ZEROS = re.compile(r"(-?\d+)\.0+")


class IdentifiedNames:
    """Names of labels that have identifiers, one for each.

    Parameters
    ----------
    known : iterable of str
        Identifiers that are used as names themselves.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.identifiers: dict[str, str] = {}  # by name
        self._names = {identifier: identifier for identifier in known if identifier}

    def get_name(self, identifier: str, heading: str) -> str:
        """Return the name of an identifier, which its first heading gives it."""
        if identifier not in self._names:
            name = clean_name(heading)
            if self.identifiers.get(name, identifier) != identifier:
                name = f"{name} ({identifier})"
            self._names[identifier] = name
            self.identifiers[name] = identifier
        return self._names[identifier]


class RecordCells(NamedTuple):
    """The cells of a record by their purpose."""

    texts: Sequence[Any]
    labels: Sequence[Any]
    kept: Sequence[Any]
    features: list[Any]
    group: Any
    time: Any
    weight: Any
    record_id: Any


@dataclass
class Reading:
    """The making of instances from the contents of columns.

    Parameters
    ----------
    texts, labels : list of str
        Columns of the text and of the labels.
    id_column : str, optional
        By default the first of ``default_ids`` that the file has.
    kept_columns : tuple of str
        Further columns, kept as texts.
    feature_columns : tuple of FeatureColumn
        Columns next to the text whose values are features.
    weighted : bool
        True if the texts' columns have weights and stay apart.
    vectors : bool
        True if the column of the text holds vectors.
    separator : str
        Between labels that are not a list; ``none``: a cell is one label; ``auto``: a comma, unless
        the preview finds that it is part of names.
    label_enclosure : str
        What encloses the labels of a cell: brackets, quotes or none; ``auto``: none, but several
        names in square brackets are a list.
    label_key : str, optional
        Key of the name where labels are objects, or its place where they are lists with numbers.
    label_threshold : float, optional
        The least value of a label that is meant, where labels have values.
    labels_are : str
        ``one-hot``: columns, keys or places of a list are labels, for which cells say yes or no.
    not_judged : str
        ``leave-out``: records in which a column of a label is empty are left out.
    missing : tuple of str
        Words for an empty cell.
    whole_numbers : bool
        True if 3.0 is the label 3.
    n_labels : int, optional
        Labels must be ids below it; by default they are names.
    first_label : int
        The id of the first label, which becomes 0.
    quotes, encoding : str
    sheet : str or list of str, optional
        The settings of these names, for the formats that read them.
    remedy : str
        Remedy of an error about a column that is missing.
    streamed : bool
        True if records are answered before the last is read.
    group_column, time_column, weight_column : str, optional
        Columns of the record's group, of its time and of its weight.
    parts : bool
        True if ``time_column`` holds train, test or dev.
    identified : IdentifiedNames
        Names of the labels that have identifiers.
    counts : Counter
        Gets the numbers of what was left out.
    seen : dict
        Gets what a reader found, for the summary: ``columns``, ``delimiter``, ``encoding``,
        what there is in a workbook (see :mod:`~ovaflow.reading.spreadsheet`), or how ``labels``
        are written; ``separated`` and ``cut``, true if the separator was looked for, and if it was
        found; ``uncut``, true if it was found but is part of names; ``bracketed``, true if there
        were several names in brackets; and ``name_with_separator``, a name of a list for which
        there is no separator.
    """

    texts: list[str]
    labels: list[str]
    id_column: str | None = None
    default_ids: tuple[str, ...] = ("id",)
    kept_columns: tuple[str, ...] = ()
    feature_columns: tuple[FeatureColumn, ...] = ()
    weighted: bool = False
    vectors: bool = False
    separator: str = AUTO_SEPARATOR
    label_enclosure: str = AUTO_ENCLOSURE
    label_key: str | None = None
    label_threshold: float | None = None
    labels_are: str = "auto"
    not_judged: str = "negative"
    missing: tuple[str, ...] = MISSING_WORDS
    whole_numbers: bool = False
    n_labels: int | None = None
    first_label: int = 0
    quotes: str = "auto"
    encoding: str = "utf-8"
    sheet: str | list[str] | None = None
    remedy: str = "set text_column and labels_column"
    streamed: bool = False
    group_column: str | None = None
    time_column: str | None = None
    parts: bool = False
    weight_column: str | None = None
    identified: IdentifiedNames = field(default_factory=IdentifiedNames)
    counts: Counter = field(default_factory=Counter)
    seen: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._missing = frozenset(self.missing)
        self._names = _LabelNames(self._missing, is_numeric=self.whole_numbers)
        self._end_of_texts = len(self.texts)
        self._end_of_labels = self._end_of_texts + len(self.labels)
        self._end_of_kept = self._end_of_labels + len(self.kept_columns)

    @cached_property
    def mark(self) -> str:
        """The mark between labels of a cell: a comma, unless a separator is given."""
        if self.separator in (AUTO_SEPARATOR, NO_SEPARATOR):
            return ","
        return self.separator

    @property
    def required(self) -> list[str]:
        """Columns that a file must have: of texts, labels, and further ones, of the ids last."""
        columns = [*self.texts, *self.labels, *self.kept_columns]
        columns += [column.name for column in self.feature_columns]
        for chosen in (self.group_column, self.time_column, self.weight_column, self.id_column):
            if chosen:
                columns.append(chosen)
        return columns

    @property
    def optional(self) -> tuple[str, ...]:
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

    @property
    def wanted_columns(self) -> WantedColumns:
        """The columns to read a table for."""
        return WantedColumns(self.required, self.optional, self.remedy)

    def divide_fields(self, fields: Sequence[Any]) -> RecordCells:
        """Divide the contents of the columns ``required`` and ``optional``, in their order."""
        further = iter(fields[self._end_of_kept :])
        features = [next(further) for _ in self.feature_columns]
        group = next(further) if self.group_column else None
        time = next(further) if self.time_column else None
        weight = next(further) if self.weight_column else 1.0
        # the first id that is not empty
        record_id = next((content for content in further if content is not None), None)
        return RecordCells(
            texts=fields[: self._end_of_texts],
            labels=fields[self._end_of_texts : self._end_of_labels],
            kept=fields[self._end_of_labels : self._end_of_kept],
            features=features,
            group=group,
            time=time,
            weight=weight,
            record_id=record_id,
        )

    def make_instance(
        self,
        fields: Sequence[Any],
        path: StrPath,
        line: int | None = None,
        row: int | None = None,
        location: str | None = None,
    ) -> TextInstance:
        """Make an instance of the contents of the columns ``required`` and ``optional``.

        Parameters
        ----------
        fields : list
            Contents in the order of the columns.
        path : path
            The file's name in messages.
        line, row : int, optional
            Number of the record's line, or of its row in a table, from 1.
        location : str, optional
            The location in the file, by default its line or row.
        """
        cells = self.divide_fields(fields)
        try:
            text = self._parse_text(cells.texts)
            labels, is_judged = self.parse_judged_labels(cells.labels)
            group = parse_group(cells.group)
            time = self._parse_time(cells.time)
            weight = 1.0
            # only training records need a weight
            if self.weight_column and not (self.parts and time != "train"):
                weight = parse_weight(cells.weight)
            kept_texts = tuple(clean_text(parse_text(content)) for content in cells.kept)
            feature_values = self._parse_feature_values(cells.features)
        except (ValueError, RecursionError) as error:
            raise unreadable_cell_error(error, path, line, row) from None
        if not location:
            location = f"line {line}" if row is None else f"row {row}"
        return TextInstance(
            text,
            labels,
            cells.record_id,
            location,
            group,
            time,
            kept_texts=kept_texts,
            weight=weight,
            feature_values=feature_values,
            is_judged=is_judged,
        )

    def make_plain_instance(
        self,
        text: str,
        labels: Any,
        path: StrPath,
        line: int | None = None,
        location: str | None = None,
        record_id: Any = None,
    ) -> TextInstance:
        """Make an instance of a format without columns; see :meth:`make_instance`."""
        fields = [text]
        if self.labels:
            fields.append(labels)
        fields.append(record_id)
        return self.make_instance(fields, path, line, location=location)

    def _parse_text(self, contents: Sequence[Any]) -> Any:
        """Parse the text, or the vector in its place."""
        if self.vectors:
            return parse_vector(contents[0])
        present = [self._replace_missing_word(content) for content in contents]
        return join_fields(present, weighted=self.weighted)

    def _parse_time(self, content: Any) -> Any:
        """Parse the cell of the time, or of the part of a split."""
        if not self.time_column:
            return None
        if self.parts:
            return parse_split_part(content)
        return parse_time(content)

    def _parse_feature_values(self, cells: list) -> tuple:
        """Parse the cells of columns next to the text; an error names the column."""
        values = []
        for column, content in zip(self.feature_columns, cells, strict=True):
            if isinstance(content, str) and content.strip() in self._missing:
                content = None
            try:
                values.append(column.kind.parse_value(content))
            except ValueError as error:
                message, *remedy = error.args
                raise ValueError(f"{column.name}: {message}", *remedy) from None
        return tuple(values)

    def _replace_missing_word(self, content: Any) -> Any:
        """Return the content of a cell, None for a word that means an empty cell."""
        if isinstance(content, str) and content in self._missing:
            self.counts["missing_texts"] += 1
            return None
        return content

    def parse_judged_labels(self, contents: Sequence[Any]) -> tuple[tuple[str, ...], bool]:
        """Parse the labels of some cells, and tell whether all labels were judged."""
        if self.labels_are != LABELS_ARE_ONE_HOT or not contents:
            return self._parse_labels(contents), True
        places = self._name_truth_values(contents)
        remedy = "write 1 or 0"
        if len(contents) == 1:
            remedy = f"correct it, or set labels_are: {LABELS_ARE_NAMES} if they are ids"
        return self._parse_one_hot(places, remedy), self._are_judged(places.values())

    def _parse_labels(self, contents: Sequence[Any]) -> tuple[str, ...]:
        """Parse the labels of some cells, each label once."""
        labels: dict[str, None] = {}
        for content in contents:
            for written in self.split_labels(content):
                label = self._names[written]
                if label:
                    labels[label] = None
                elif written and not written.isspace():
                    self.counts["missing_labels"] += 1
        if self.n_labels is not None:
            return tuple(self._parse_id(label) for label in labels)
        return tuple(labels)

    def split_labels(self, content: Any) -> Iterator[str]:
        """Yield the labels of a cell as they are written."""
        found = self.parse_listed(content)
        if found is not None:
            yield from self._extract_labels(found)
        elif content is not None:
            yield from self._split_text(content)

    def list_names(self, content: Any) -> list[str] | None:
        """List the labels of a cell that is a list or an object; None for a plain text."""
        found = self.parse_listed(content)
        if found is None:
            return None
        return list(self._extract_labels(found))

    def _extract_labels(self, found: Any) -> Iterator[str]:
        """Yield the labels of what a cell was parsed to, as they are written."""
        if self.labels_are != LABELS_ARE_NAMES:
            found = select_names(found, self.label_key)
        for name in extract_names(found, self.label_key, self.label_threshold):
            yield parse_label(name)

    @property
    def written_labels(self) -> KeysView[str]:
        """All different labels so far, as they are written."""
        return self._names.keys()

    def parse_cell(self, content: Any) -> Any:
        """Parse a cell of labels: a list, an object, or a text divided by the separator."""
        found = self.parse_listed(content)
        if found is not None or content is None:
            return found
        return self._split_text(content) or None

    def _split_text(self, content: str) -> list[str]:
        """Divide a text that is no list into labels."""
        content = content.strip()
        if not content:
            return []
        if self.label_enclosure == IN_QUOTES:
            return split_quoted(content, self.mark)
        if self.separator == NO_SEPARATOR:
            if "name_with_separator" in self.seen and self.mark in content:
                self.seen["uncut"] = True
            return [content]
        self.seen["separated"] = True
        names = content.split(self.mark)
        if len(names) > 1:
            self.seen["cut"] = True
        return names

    def parse_listed(self, content: Any) -> Any:
        """Parse a cell of labels that is a list or an object; None for a plain text."""
        if not isinstance(content, str):
            return content
        content = content.strip()
        in_brackets = self.label_enclosure == IN_BRACKETS
        try:
            found = parse_list(content, self.mark if in_brackets else ",")
        except NotAListError:
            if self.separator != NO_SEPARATOR and not in_brackets:
                raise
            found = None
        if found is None and content[:1] in _BRACKETS:
            return self._parse_bracketed(content)
        return found

    def _parse_bracketed(self, content: str) -> list[str | None] | None:
        """Parse names in brackets without quotes; None for a name that begins with a bracket.

        Where the preview did not decide, these are only several names in square brackets.
        """
        if self.label_enclosure == IN_BRACKETS:
            names: list[str | None] = []
            for part in list_bracketed(content, self.mark):
                names += split_bracketed(part, self.mark)
            return names or None
        inside = strip_brackets(content)
        if inside is None:
            return None
        marks = [mark for mark in (self.mark, ",") if mark in inside]
        if not marks or content[0] != "[" or self.label_enclosure != AUTO_ENCLOSURE:
            return None
        self.seen["bracketed"] = True
        return split_bracketed(inside, marks[0])

    def _parse_one_hot(self, places: Mapping[str, Any], remedy: str) -> tuple[str, ...]:
        """Return the names of the columns, or the places in the list, that say yes."""
        labels = []
        for name, content in places.items():
            is_true = parse_meant(content, self.label_threshold)
            if is_true is None:
                raise ValueError(f"{name!r} is neither yes nor no", remedy)
            if is_true:
                labels.append(clean_name(name))
        return tuple(labels)

    def _are_judged(self, places: Collection[Any]) -> bool:
        """Tell whether all columns, or places in the list, say yes or no; count those empty."""
        n_empty = sum(1 for content in places if is_empty_truth(content))
        n_yes = sum(1 for content in places if parse_meant(content, self.label_threshold))
        if self.not_judged == NOT_JUDGED_LEAVE_OUT:
            self.counts["records_without_judgement"] += n_empty > 0
        else:
            self.counts["places_not_judged"] += n_empty
            self.counts["places_that_say_no"] += len(places) - n_empty - n_yes
            self.counts["records_not_judged"] += n_empty > 0
        return n_empty == 0

    def _name_truth_values(self, contents: Sequence[Any]) -> dict[str, Any]:
        """Return the contents of columns, of a list or of an object by label."""
        if len(contents) > 1:
            return dict(zip(self.labels, contents, strict=True))
        flags = self.parse_cell(contents[0])
        if not isinstance(flags, dict):
            flags = dict(enumerate(flags or ()))
        if self.n_labels is not None and flags and len(flags) != self.n_labels:
            raise ValueError(f"{len(flags)} truth values for {self.n_labels} labels")
        return {parse_label(name): each for name, each in flags.items()}

    def _parse_id(self, label: str) -> str:
        """Parse the id of a label, and count it from 0."""
        assert self.n_labels is not None
        number = _WITH_ZEROS.sub(r"\1", label)
        last = self.n_labels - 1 + self.first_label
        is_number = number.isascii() and number.isdigit() and len(number) < 20
        if is_number and self.first_label <= int(number) <= last:
            return str(int(number) - self.first_label)
        message = f"label {label[:60]!r} is not an id from {self.first_label} to {last}"
        remedy = "leave out the file of label names if the data holds the names themselves"
        other = 1 - self.first_label
        several = _SEVERAL_IDS.fullmatch(label)
        if is_number and int(number) == other * self.n_labels:
            remedy = f"if ids are counted from {other}, set first_label: {other}"
        elif several:
            remedy = f'if it is several ids, set label_separator: "{several[1]}"'
        raise ValueError(message, remedy)


def read_kept_instances(
    read: Callable[..., Iterator[TextInstance]], path: StrPath, reading: Reading
) -> Iterator[TextInstance]:
    """Read the instances of a file by the reader of its format.

    With ``not_judged: leave-out`` only those are yielded of which all labels are judged.
    """
    for instance in read(RecordFile(path, reading.encoding), reading):
        if instance.is_judged or reading.not_judged != NOT_JUDGED_LEAVE_OUT:
            yield instance


_SEVERAL_IDS = re.compile(r"\d+(?: *)([^\w.-])(?: *)\d+.*")


def unreadable_cell_error(
    error: Exception, path: StrPath, line: int | None = None, row: int | None = None
) -> InputError:
    """Make the error of a cell that cannot be read, with its place and its own remedy, if any."""
    message, remedy = (*error.args, CORRECT_LINE)[:2]
    if isinstance(error, RecursionError):
        message = "a cell has too many lists inside one another"
    if row is not None:
        message = f"row {row}: {message}"
    return InputError(message, path=path, line=line, remedy=remedy)


def merge_repeated(instances: Iterable[TextInstance], repeated: str) -> Iterator[TextInstance]:
    """Merge instances with the same id.

    Parameters
    ----------
    instances : iterable of TextInstance
    repeated : str
        The setting ``repeated``: ``keep`` all, ``join`` them to one, or use only the ``last``.
    """
    if repeated == "join":
        return join_repeated(instances)
    if repeated == "last":
        return _keep_last(instances)
    return iter(instances)


def _keep_last(instances: Iterable[TextInstance]) -> Iterator[TextInstance]:
    """Keep the last instance of each id, and all without an id."""
    found: dict[Any, TextInstance] = {}
    for number, instance in enumerate(instances):
        key = instance.id or number
        found.pop(key, None)
        found[key] = instance
    return iter(found.values())


def join_repeated(instances: Iterable[TextInstance]) -> Iterator[TextInstance]:
    """Join instances of the same id, or without ids of the same text, with the labels of all."""
    found: dict[str, TextInstance] = {}
    for instance in instances:
        key = instance.id or instance.text
        first = found.setdefault(key, instance)
        if first is not instance:
            labels = tuple(dict.fromkeys([*first.labels, *instance.labels]))
            found[key] = first._replace(labels=labels)
    return iter(found.values())


def count_relabelled(instances: Iterable[TextInstance], counts: Counter) -> Iterator[TextInstance]:
    """Yield instances; count the ids, or texts without ids, that occur again with other labels."""
    first_labels: dict[int, int] = {}
    relabelled = set()
    for instance in instances:
        counts["records_compared"] += 1
        key = hash(instance.id or instance.text)
        labels = hash(frozenset(instance.labels))
        if first_labels.setdefault(key, labels) != labels and key not in relabelled:
            relabelled.add(key)
            counts["relabelled_ids" if instance.id else "relabelled_texts"] += 1
            counts.setdefault("first_relabelled_id", instance.id)  # type: ignore[arg-type]
        yield instance


def empty_file_error(path: StrPath) -> InputError:
    """Make the error of a file without content."""
    return InputError("is empty", path=path, remedy="export it again, or give another file")
