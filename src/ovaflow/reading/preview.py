"""A first look at files of texts: how their labels are to be read, and what a person should see of
it.
"""

import re
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, islice
from pathlib import Path
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.reading.cells import LABELS_ARE_NAMES, LABELS_ARE_ONE_HOT, find_name_keys, parse_truth
from ovaflow.reading.columns import normalize_column_name
from ovaflow.reading.instances import Reading, TextInstance, unreadable_cell_error
from ovaflow.reading.streams import RecordFile

PREVIEWED_RECORDS = 1000
"""How many records of the first file are looked at; of each further file it is a few."""
_OF_FURTHER = 50


@dataclass(frozen=True)
class Preview:
    """How files are read, what was decided about it, and the first records as read.

    ``settings`` are those that would say the same.
    """

    reading: Reading
    settings: dict
    paths: list = field(default_factory=list)
    instances: list[TextInstance] = field(default_factory=list)


class _Row(NamedTuple):
    """A record before its cells are understood, as readers give it to :meth:`Reading.instance`."""

    fields: list
    texts: list
    labels: list
    path: Path
    line: int | None
    row: int | None
    place: str | None

    def understood(self, function):
        """What a function makes of the cells of labels."""
        try:
            return [function(content) for content in self.labels]
        except ValueError as error:
            raise unreadable_cell_error(error, self.path, self.line, self.row) from None

    def instance(self, reading):
        return reading.instance(self.fields, self.path, self.line, self.row, self.place)


class _Cells(Reading):
    """Collects cells instead of making instances."""

    def instance(self, fields, path, line=None, row=None, place=None):
        n_texts, end, _ = self._ends
        return _Row(fields, fields[:n_texts], fields[n_texts:end], path, line, row, place)


def preview_files(paths, kind, reading):
    """Look at the beginnings of some files, all of which must be readable."""
    if paths and kind.has_columns and max(len(reading.texts), len(reading.labels)) > 1:
        reading = _with_commas(paths[0], kind, reading)
    cells = _Cells(**{name: getattr(reading, name) for name in reading.__dataclass_fields__})
    rows = []
    first = 0
    seen = {}
    for path in paths:
        rows += islice(
            kind.read(RecordFile(path, reading.encoding), cells),
            _OF_FURTHER if first else PREVIEWED_RECORDS,
        )
        first = first or len(rows)
        seen = seen or dict(cells.seen)
    if not reading.vectors:
        _refuse_vectors(rows, reading)
    listed = [row.understood(reading.listed) for row in rows]
    settings = {}
    if reading.label_key is None and (key := _key_of_names(rows, listed)) is not None:
        settings["label_key"] = key
    if reading.labels_are == "auto" and _is_one_hot(reading, rows, listed):
        settings["labels_are"] = LABELS_ARE_ONE_HOT
    decided = replace(reading, seen=seen, **settings)
    if decided.labels_are != LABELS_ARE_ONE_HOT:
        names = chain.from_iterable(
            row.understood(lambda content: list(decided.split_labels(content))) for row in rows
        )
        decided = replace(decided, whole_numbers=_are_whole(chain.from_iterable(names)))
    if not kind.has_columns:
        for _, of_file in groupby(rows, lambda row: row.path):
            _require_order(list(of_file))
    instances = [row.instance(decided) for row in rows[:first]]
    return Preview(decided, settings, list(map(Path, paths)), instances)


def add_weights(look, kind, column):
    """The same look at records with their weights, which only the first file, one for training,
    must have.
    """
    reading = replace(look.reading, weight_column=column)
    path = look.paths[0]
    instances = list(
        islice(kind.read(RecordFile(path, reading.encoding), reading), PREVIEWED_RECORDS)
    )
    return replace(look, reading=reading, instances=instances)


def _refuse_vectors(rows, reading) -> None:
    """Refuse columns of texts that hold lists of numbers."""
    for row in rows:
        for name, content in zip(reading.texts, row.texts, strict=True):
            if (
                isinstance(content, list)
                and len(content) > 1
                and all(isinstance(each, float) for each in content)
            ):
                message = f"the column {name!r} holds vectors, not texts"
                raise InputError(
                    message, path=row.path, line=row.line, remedy=f"set vector_column: {name}"
                )


def _with_commas(path, kind, reading):
    """A reading in which names of columns are whole that have commas of their own."""
    others = dict.fromkeys(("id_column", "group_column", "time_column"))
    header = replace(reading, texts=[], labels=[], beside=(), default_ids=(), **others)
    next(kind.read(RecordFile(path, reading.encoding), header), None)
    columns = {normalize_column_name(name): name for name in header.seen.get("columns", ())}
    names = {part: _whole(getattr(reading, part), columns) for part in ("texts", "labels")}
    return replace(reading, **names)


def _whole(names, columns):
    """Names; neighbours that are a column only when they are joined are one."""
    whole = []
    while names:
        lengths = [1, *range(len(names), 1, -1)]
        n = next((n for n in lengths if normalize_column_name(",".join(names[:n])) in columns), 1)
        whole.append(names[0] if n == 1 else columns[normalize_column_name(",".join(names[:n]))])
        names = names[n:]
    return whole


def _key_of_names(rows, listed):
    """The key of the name in labels that are objects; None where they are none."""
    keys = find_name_keys([content for contents in listed for content in contents])
    if keys is None or len(keys) == 1:
        return keys and keys[0]
    remedy = f"say which key has the name: set label_key to one of {', '.join(map(repr, keys))}"
    if not keys:
        remedy = "set label_key to the key of the name; if none has it, write the labels as a list of names"
    first = next(contents for contents in listed if any(contents))
    message = f"labels are objects, such as {first[0]!r:.100}"
    raise InputError(message, path=rows[0].path, line=rows[0].line, remedy=remedy)


def _is_one_hot(reading, rows, listed):
    """Whether labels are truth values: in several columns, or in lists of one length in which ids
    would repeat.
    """
    if len(reading.labels) > 1:
        truths = [parse_truth(content) for row in rows for content in row.labels]
        if None not in truths:
            return any(truths)
        _require_names(rows)
    lists = [
        content
        for contents in listed
        for content in contents
        if isinstance(content, list) and content
    ]
    if len({len(each) for each in lists}) != 1 or not all(
        _is_flag(label) for each in lists for label in each
    ):
        return False
    return any(len(set(map(parse_truth, each))) < len(each) for each in lists)


def _require_names(rows) -> None:
    """Refuse columns of votes, weights or other words for yes and no, which occur in several
    columns of a record.
    """
    filled = [[str(each) for each in row.labels if each not in (None, "")] for row in rows]
    several = [each for each in filled if len(each) > 1]
    again = sum(len(set(each)) < len(each) for each in several)
    odd = [each for each in chain.from_iterable(filled) if _WEIGHT.fullmatch(each)]
    if again > len(several) / 2 or len(odd) > len(rows) / 2:
        values = ", ".join(islice(dict.fromkeys(chain(odd, *filled)), _SHOWN))
        message = f"columns of labels hold the same values, such as {values:.60}, which are neither yes nor no"
        remedy = f"write 1 where a column's label is meant, else 0; or set labels_are: {LABELS_ARE_NAMES} if the values are labels"
        raise InputError(message, path=rows[0].path, line=rows[0].line, remedy=remedy)


_WEIGHT = re.compile(r"-\d.*|\d*\.\d*[1-9]\d*(e-?\d+)?")
_SHOWN = 4


def _is_flag(label):
    return label not in ("", None) and parse_truth(label) is not None


_DECIMAL = re.compile(r"-?\d+\.(\d+)")


def _are_whole(names):
    """Whether numbers with a point are whole ones, as tables with gaps write them: 3.0 for 3."""
    decimals = filter(None, map(_DECIMAL.fullmatch, map(str.strip, names)))
    return {number[1].strip("0") for number in decimals} == {""}


def _require_order(rows):
    """Refuse lines that hold something else than labels, a tab and a text."""
    pairs = [
        (*row.texts, *row.labels, row.path, row.line)
        for row in rows
        if isinstance(row.labels[0], str)
    ]
    if len(pairs) < _ENOUGH:
        return
    texts, labels, (path, *_), (line, *_) = zip(*pairs, strict=True)
    most = _MOSTLY * len(pairs)
    if len(set(labels)) <= most:
        return
    with_more = ["\t" in text for text in texts]
    words = [sum(len(each.split()) for each in part) / len(pairs) for part in (texts, labels)]
    if words[1] > _LONGER * max(words[0], 1):
        message = "the first field looks like the text"
        remedy = "exchange the fields, or write a header line (text, labels) and read it with format: csv"
        if any(with_more):
            remedy = "write a header line with a name for each field and read it with format: csv"
    elif all(with_more) and (
        len({text.partition("\t")[0] for text in texts}) < most or all(map(_ID.fullmatch, labels))
    ):
        message = "there are more fields, and the first looks like an id"
        remedy = "remove it (cut -f 2- old.tsv > new.tsv), or write a header line and read it with format: csv"
    else:
        return
    message = f"expected labels, a tab and the text; {message}: {labels[0]:.60}"
    raise InputError(message, path=path, line=line, remedy=remedy)


_ID = re.compile(r"[\w.:/-]+")
_ENOUGH = 20
_LONGER = 2
_MOSTLY = 0.9
