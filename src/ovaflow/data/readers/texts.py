"""Texts with labels, one by one: lines of ``labels<TAB>text``, CSV with a header, JSON Lines, Parquet."""

import csv
import html
import json
import math
import os
import re
import sys
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import Lines, clean, open_seekable, open_stream, read_lines, without_end
from ovaflow.settings.models import COLUMN_FORMATS

CORRECT = "correct or delete the line"

FIELD = "\x1f"
"""Separates a text's fields where they have weights."""

# [Festschrift] is a label; a list begins with a quoted name, a number or nothing
_JSON_LIST = re.compile(r"""\[\s*(["'\]]|-?\d[\d\s,.eE+-]*\]$)""")


class TextInstance(NamedTuple):
    """A text and its labels: names or ids as the source has them, each once, stripped of white space."""

    text: str
    labels: tuple = ()
    record: Any = None  # its id, as the source has it
    place: str = ""  # in the file
    group: str = ""  # what it has in the column of groups; empty for none
    time: float | str | None = None  # or part, in the column by which records are divided
    file: str = ""  # its name, where there are several
    kept: tuple = ()  # texts of further columns
    weight: float | None = None  # of an extra instance

    @property
    def id(self):
        """Its id as a text; empty without one."""
        return "" if self.record is None else clean(str(self.record))

    @property
    def name(self):
        """What a report calls it: its id or place, after its file if there are several."""
        return ", ".join(filter(None, (self.file, self.id or self.place)))


class Instances(NamedTuple):
    """Training and test instances, to be read once, and figures, complete when both are read."""

    train: Iterable
    test: Iterable
    counts: dict


class Columns(NamedTuple):
    """Where a table has texts, labels, and ids, by default in the first of ``default_ids`` if any."""

    texts: list
    labels: list
    id_column: str | None = None
    default_ids: tuple = ("id",)
    kept: tuple = ()  # further columns, as texts
    weighted: bool = False  # whether the texts' columns have weights and stay apart
    separator: str = ","  # between labels that are not a list
    n_labels: int | None = None  # labels must be ids below it; None: they are names
    remedy: str = "set text_column and labels_column"
    early: bool = False  # whether records are answered before the last is read
    group_column: str | None = None
    time_column: str | None = None
    parts: bool = False  # whether that column says train, test or dev

    @property
    def required(self):
        """Columns that there must be: of texts, of labels, and further ones, of the ids last."""
        chosen = self.group_column, self.time_column, self.id_column
        return [*self.texts, *self.labels, *self.kept, *filter(None, chosen)]

    @property
    def optional(self):
        """Columns of the ids where none was chosen."""
        if self.id_column is not None:
            return ()
        others = [*self.texts, *self.labels, self.group_column, self.time_column]
        return tuple(name for name in self.default_ids if name not in others)

    def instance(self, fields, path, line=None, row=None):
        """The instance in the contents of the columns, in the order of ``required`` and ``optional``."""
        n_texts, end = len(self.texts), len(self.texts) + len(self.labels)
        end_of_kept = end + len(self.kept)
        further = iter(fields[end_of_kept:])
        group = next(further) if self.group_column else None
        time = next(further) if self.time_column else None
        # the first id that there is
        record = next((field for field in further if field is not None), None)
        try:
            text, labels = joined(fields[:n_texts], self.weighted), self._labels_in(fields[n_texts:end])
            group, time = _group_of(group), (part_of if self.parts else time_of)(time)
            kept = tuple(clean(_text_of(field)) for field in fields[end:end_of_kept])
        except (ValueError, RecursionError) as error:
            where = "" if row is None else f"row {row}: "
            raise InputError(f"{where}{error}", path=path, line=line, remedy=CORRECT) from None
        place = f"line {line}" if row is None else f"row {row}"
        return TextInstance(text, labels, record, place, group, time, kept=kept)

    def _labels_in(self, fields):
        names = (clean(_label_of(label)).strip() for content in fields for label in self._listed(content))
        labels = tuple(dict.fromkeys(filter(None, names)))
        if self.n_labels is not None:
            _check_ids(labels, self.n_labels)
        return labels

    def _listed(self, content):
        if isinstance(content, str):
            return self._separated(content.strip())
        if content is None:
            return ()
        return content if isinstance(content, list) else (content,)

    def _separated(self, content):
        if not _JSON_LIST.match(content):
            return content.split(self.separator)
        try:
            return json.loads(content)
        except json.JSONDecodeError:
            raise ValueError("labels begin with '[' but are not a JSON list") from None


def split_names(columns):
    return [name.strip() for name in columns.split(",") if name.strip()]


def check_columns(required, existing, path, line=None, remedy=None):
    """Refuse a source that lacks one of the columns, naming those that it has."""
    missing = [name for name in required if name not in existing]
    if missing:
        columns = ", ".join(map(repr, existing)) or "none"
        message = f"no column {', '.join(map(repr, missing))}, there are {columns[:500]}"
        raise InputError(message, path=path, line=line, remedy=remedy)
    repeated = [name for name in required if list(existing).count(name) > 1]
    if repeated:
        message = f"there are several columns {repeated[0]!r}"
        raise InputError(message, path=path, line=line, remedy="rename all but one")


def joined(fields, weighted=False):
    """Text of several fields: strings, numbers, None, or lists of them."""
    texts = map(_text_of, fields)
    if weighted:
        return clean(FIELD.join(text.replace(FIELD, " ") for text in texts))
    return clean(" ".join(filter(None, texts)))


_MARKUP = re.compile(
    r"<!--(?:[^\x1f]*?-->|[^\x1f]*)|<(?P<unread>script|style)\b(?:[^\x1f]*?</(?P=unread)\s*>|[^\x1f]*)"
    r"|</?(?P<inside>a|b|em|font|i|mark|small|span|strong|su[bp]|u)\b[^<>\x1f]*>|<[!/?]?[a-z][^<>\x1f]*>"
    r"|&(?:[a-z]\w*|#\d{1,9}|#x[\da-f]+);",
    re.IGNORECASE,
)
"""Comments, scripts, tags and entities; tags inside words, and others; what is never closed ends with the text."""


def without_markup(text):
    """Text without the markup of HTML; tags that may be inside words do not separate them."""
    return _MARKUP.sub(_meaning, text) if "<" in text or "&" in text else text


def _meaning(markup):
    if markup[0][0] == "&":
        return clean(html.unescape(markup[0]))
    return "" if markup["inside"] else " "


def places_without_markup(text):
    """Text without markup, and where each of its characters begins and ends in the text with markup."""
    pieces, starts, ends, last = [], [], [], 0
    for markup in _MARKUP.finditer(text):
        start, end = markup.span()
        meaning = _meaning(markup)
        pieces += text[last:start], meaning
        starts += (*range(last, start), *[start] * len(meaning))
        ends += (*range(last + 1, start + 1), *[end] * len(meaning))
        last = end
    starts += range(last, len(text))
    ends += range(last + 1, len(text) + 1)
    return "".join([*pieces, text[last:]]), starts, ends


def _text_of(content):
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return " ".join(filter(None, map(_text_of, content)))
    if not isinstance(content, int | float) or content in (math.inf, -math.inf):
        raise ValueError(f"a text is {content!r:.60}, neither words nor a finite number")
    # tables have nan where a number is missing
    return str(content) if content == content else ""


def _group_of(content):
    """The name of a group; empty where there is none."""
    missing = content is None or content != content
    return "" if missing else clean(str(content)).strip()


def time_of(content):
    """A number, or an ISO date or time as a year with its fraction; None without a value."""
    written = content.isoformat() if isinstance(content, date) else str(content).strip()
    if content is None or written in ("", "nan", "NaN"):
        return None
    try:
        number = float(written)
    except ValueError:
        number = _year_of(written)
    if not math.isfinite(number):
        raise ValueError(f"{written:.60} cannot be compared")
    return number


_PARTS = {
    **dict.fromkeys(("train", "training"), "train"),
    "test": "test",
    **dict.fromkeys(("dev", "val", "valid", "validation"), "dev"),
}


def part_of(content):
    """``train``, ``test`` or ``dev``, as a column of parts has it."""
    written = _group_of(content)
    if written.casefold() not in _PARTS:
        value = repr(written[:60]) if written else "empty"
        raise ValueError(f"split_column is {value}, not train, test or dev; for numbers and dates set split: last")
    return _PARTS[written.casefold()]


_MONTH = re.compile(r"\d{4}-\d\d")


def _year_of(written):
    """2020.5 or nearly so for the middle of the year 2020."""
    day = "-01" if _MONTH.fullmatch(written) else ""
    try:
        time = datetime.fromisoformat(written + day)
        if time.tzinfo is not None:
            time = time.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        message = f"{written!r:.60} is neither a number nor an ISO date such as 2024-05-31"
        raise ValueError(message) from None
    return time.year + (time - datetime(time.year, 1, 1)) / timedelta(366)


def _label_of(content):
    if not isinstance(content, str | int):
        raise ValueError(f"a label is {content!r:.60}, neither a name nor a whole number")
    return str(content)


def _check_ids(labels, n_labels):
    for label in labels:
        if not (label.isascii() and label.isdigit() and len(label) < 20 and int(label) < n_labels):
            raise ValueError(
                f"label {label[:60]!r} is not an id from 0 to {n_labels - 1}; "
                "leave out the file of label names if the data holds the names themselves"
            )


_DELIMITERS = ",;\t"
_EARLY = 512
"""Lines of JSON in which every column occurs, if records are answered before the last is read."""
_BATCH = 1024
_BUFFER = 1 << 20
"""Bytes read at a time of each column of Parquet; without it a whole row group would be."""


def read_texts(settings, path, n_labels=None):
    """Instances of a file; with ``n_labels`` their labels must be ids below it."""
    columns = _columns_of(settings, n_labels)
    if settings.format == "parquet":
        yield from read_parquet(path, columns)
        return
    with open_stream(path) as stream:
        yield from LINE_READERS[settings.format](Lines(stream, path), columns, path)


_CHOSEN = ("text_column", "id_column", "group_column", "split_column")
"""Settings that name columns, besides labels_column."""


def _columns_of(settings, n_labels=None):
    weighted, separator = bool(settings.column_weights), settings.label_separator
    if settings.format not in COLUMN_FORMATS:
        return Columns(["text"], ["labels"], weighted=weighted, separator=separator, n_labels=n_labels)
    chosen = [name for name in _CHOSEN if getattr(settings, name)]
    return Columns(
        split_names(settings.text_column),
        split_names(settings.labels_column),
        settings.id_column,
        weighted=weighted,
        separator=separator,
        n_labels=n_labels,
        remedy=f"set {', '.join(chosen)} and labels_column",
        group_column=settings.group_column,
        time_column=settings.split_column,
        parts=bool(settings.split_column) and settings.split != "last",
    )


def check_beginning(settings, path):
    """Refuse a file that is empty, lacks a column or cannot be read, from as little of it as tells."""
    if os.path.getsize(path) == 0:
        raise empty(path)
    if settings.format != "jsonl":
        next(read_texts(settings, path), None)
        return
    columns = _columns_of(settings)
    for *_, keys in _json_entries(read_lines(path), columns, path):
        if keys.keys() >= set(columns.required):
            break


def empty(path):
    return InputError("is empty", path=path, remedy="export it again, or give another file")


def _read_tsv(lines, columns, path):
    for number, line in lines:
        line = without_end(line)
        labels, tab, text = line.partition("\t")
        if "\r" in line and "\t" in text.partition("\r")[2]:
            remedy = "they must end with a line feed"
            raise InputError("lines end with carriage returns alone", path=path, line=number, remedy=remedy)
        if tab:
            yield columns.instance([text, labels], path, number)
        elif line.strip():
            message = f"expected labels, a tab and a text, found no tab in {line[:40]!r}"
            raise InputError(message, path=path, line=number, remedy="put a tab between labels and text")


def _read_plain(lines, columns, path):
    for _, line in lines:
        yield TextInstance(clean(without_end(line)))


def _read_csv(lines, columns, path):
    rows = read_csv_fields(lines, columns.required, path, columns.optional, columns.remedy)
    for number, fields in rows:
        yield columns.instance(fields, path, number)


def read_csv_fields(lines, required, path, optional=(), remedy=None):
    """Fields of each record, after the number of its first line; optional ones where they exist."""
    _, header = next(lines, (1, None))
    if header is None:
        raise empty(path)
    names, delimiter = _header(header, required, path)
    check_columns(required, names, path, 1, remedy)
    columns = [names.index(name) for name in _existing(required, optional, names)]
    for number, record in csv_records(lines, path, delimiter, 2):
        if record and len(record) != len(names):
            message = f"{len(record)} fields, the header has {len(names)}"
            advice = f'quote fields that contain {delimiter!r}, line ends or quotes ("")'
            raise InputError(message, path=path, line=number, remedy=advice)
        if len(record) > 1 and [field.strip().lstrip("\ufeff") for field in record] == names:
            advice = "if files were joined, name each of them instead, or a pattern such as exports/*.csv"
            raise InputError("the header occurs a second time", path=path, line=number, remedy=advice)
        if record:
            yield number, [record[column] for column in columns]


def csv_records(lines, path, delimiter=",", first=1):
    """Fields of each record, after the number of its first line."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader((line for _, line in lines), delimiter=delimiter, strict=True)
    while True:
        number = reader.line_num + first
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise _malformed(error, path, number) from None
        if record is None:
            return
        yield number, record


def _existing(required, optional, names):
    return [*required, *(name for name in optional if name in names)]


def _header(line, required, path):
    """Names of the columns, and the delimiter with which most of those required are among them."""
    candidates = []
    for delimiter in _DELIMITERS:
        try:
            names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
        except csv.Error as error:
            raise _malformed(error, path, 1) from None
        candidates.append((set(required) <= set(names), len(names), names, delimiter))
    return max(candidates)[2:]


def _malformed(error, path, line):
    remedy = "lines must end with a line feed" if "new-line" in str(error) else "check the quotes from here on"
    return InputError(f"malformed record ({str(error).partition(' - ')[0]})", path=path, line=line, remedy=remedy)


def _read_jsonl(lines, columns, path):
    for number, entry, _ in _json_entries(lines, columns, path):
        yield columns.instance([entry.get(name) for name in (*columns.required, *columns.optional)], path, number)


def _json_entries(lines, columns, path):
    """Line number and object of each record, and the keys so far, among which all columns are at the end."""
    keys, entry = {}, None
    for number, line in lines:
        if not line.strip():
            continue
        entry = read_json_object(line, path, number)
        keys |= dict.fromkeys(entry)
        if columns.early and (number >= _EARLY or not lines.ready):
            check_columns(columns.required, keys, path, remedy=columns.remedy)
        yield number, entry, keys
    if entry is not None:
        check_columns(columns.required, keys, path, remedy=columns.remedy)


def read_json_object(line, path, number):
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON ({error})", path=path, line=number, remedy=CORRECT) from None
    if not isinstance(entry, dict):
        message = f"expected a JSON object, found {line[:40]!r}"
        raise InputError(message, path=path, line=number, remedy="write one object per line")
    return entry


LINE_READERS = {"text-tsv": _read_tsv, "csv": _read_csv, "jsonl": _read_jsonl, "lines": _read_plain}
"""Readers of instances out of a file's :class:`Lines`, by format."""


def read_parquet(path, columns):
    # Arrow takes a tenth of a second to load
    import pyarrow.parquet

    with open_seekable(path) as stream:
        row = 0
        try:
            file = pyarrow.parquet.ParquetFile(stream, buffer_size=_BUFFER)
            existing = file.schema_arrow.names
            check_columns(columns.required, existing, path, remedy=columns.remedy)
            names = _existing(columns.required, columns.optional, existing)
            for row, fields in enumerate(_parquet_rows(file, names), 1):
                yield columns.instance(fields, path, row=row)
        except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
            message = f"not a readable Parquet file, or a damaged one after row {row} ({error})"
            raise InputError(message, path=path, remedy="download or copy it again") from None


def _parquet_rows(file, names):
    for batch in file.iter_batches(_BATCH, columns=[*dict.fromkeys(names)]):
        # iter_batches keeps the file's order of columns
        yield from zip(*(batch.column(name).to_pylist() for name in names), strict=True)
