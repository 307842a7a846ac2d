"""Texts with labels, one by one: lines of ``labels<TAB>text``, CSV with a header, JSON Lines, Parquet."""

import csv
import html
import json
import math
import os
import re
import sys
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import open_seekable, read_lines
from ovaflow.settings.models import COLUMN_FORMATS

CORRECT = "correct or delete the line"

FIELD = "\x1f"
"""Separates a text's fields where they have weights."""

# [Festschrift] is a label; a list begins with a quoted name, a number or nothing
_JSON_LIST = re.compile(r"""\[\s*(["'\]]|-?\d[\d\s,.eE+-]*\]$)""")


class TextInstance(NamedTuple):
    """A text and its labels: names or ids as the source has them, each once, without surrounding white space."""

    text: str
    labels: tuple
    record: str = ""  # its id, or where in the file it is


class Columns(NamedTuple):
    """Where a source keeps text and labels.

    ``names`` are those of the texts, which are joined by a space, and after them the ``of_labels`` ones of the labels.
    ``separator`` is between labels that are not a list. With ``n_labels`` the labels must be ids below it, otherwise
    they are names. Without ``id_column`` a column ``id`` names the records where there is one.
    """

    names: list
    separator: str
    n_labels: int | None = None
    of_labels: int = 1
    weighted: bool = False  # whether the texts' columns have weights and stay apart
    id_column: str | None = None

    @property
    def wanted(self):
        """Columns that there must be: ``names``, and last that of the ids if it was chosen."""
        return self.names + [self.id_column] * (self.id_column is not None)

    @property
    def optional(self):
        """The column of the ids where none was chosen."""
        return ("id",) if self.id_column is None and "id" not in self.names else ()

    def instance(self, fields, path, line, where=""):
        """The instance in the contents of the columns, in the order of ``wanted`` and ``optional``."""
        end = len(self.names)
        try:
            text = joined(fields[: end - self.of_labels], self.weighted)
            labels = self._labels_of(fields[end - self.of_labels : end])
            record = clean(str(fields[end])) if len(fields) > end and fields[end] not in (None, "") else ""
            return TextInstance(text, labels, record or where.removesuffix(": ") or f"line {line}")
        except (ValueError, RecursionError) as error:
            what = "labels begin with '[' but are not a JSON list" if isinstance(error, json.JSONDecodeError) else ""
            raise InputError(f"{where}{what or _reason(error)}", path=path, line=line, remedy=CORRECT) from None

    def _labels_of(self, fields):
        names = (clean(_label_of(label)).strip() for content in fields for label in self._listed(content))
        found = tuple(dict.fromkeys(name for name in names if name))
        if self.n_labels is not None:
            _check_ids(found, self.n_labels)
        return found

    def _listed(self, content):
        if isinstance(content, str):
            stripped = content.strip()
            return json.loads(stripped) if _JSON_LIST.match(stripped) else stripped.split(self.separator)
        if content is None:
            return ()
        return content if isinstance(content, list) else (content,)


def _reason(error):
    return "nested too deeply" if isinstance(error, RecursionError) else error


def split_names(columns):
    """Names of columns, separated by commas."""
    return [name.strip() for name in columns.split(",") if name.strip()]


def check_columns(wanted, existing, path, line=None, remedy="set text_column and labels_column"):
    """Refuse a source that lacks one of the columns, naming those that there are."""
    missing = [name for name in wanted if name not in existing]
    if missing:
        there = ", ".join(map(repr, existing)) or "none"
        message = f"no column {', '.join(map(repr, missing))}, there are {there[:500]}"
        raise InputError(message, path=path, line=line, remedy=remedy)
    twice = [name for name in wanted if list(existing).count(name) > 1]
    if twice:
        raise InputError(f"there are several columns {twice[0]!r}", path=path, line=line, remedy="rename all but one")


def joined(fields, weighted=False):
    """Text of several fields: strings, numbers, None, or lists of such."""
    texts = map(_text_of, fields)
    if weighted:
        return clean(FIELD.join(text.replace(FIELD, " ") for text in texts))
    return clean(" ".join(filter(None, texts)))


def clean(text):
    """Text that every later step can store and print: NUL becomes a space, a lone surrogate a question mark."""
    if "\0" in text:
        text = text.replace("\0", " ")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


_MARKUP = re.compile(
    r"<!--[^\x1f]*?-->|<(?P<unread>script|style)\b[^\x1f]*?</(?P=unread)\s*>"
    r"|</?(?P<inside>a|b|em|font|i|mark|small|span|strong|su[bp]|u)\b[^<>\x1f]*>|<[!/?]?[a-z][^<>\x1f]*>"
    r"|&(?:[a-z]\w*|#\d+|#x[\da-f]+);",
    re.IGNORECASE,
)
"""Comments, scripts, tags and entities; tags inside of words, and others."""


def without_markup(text):
    """Text without the markup of HTML, which does not separate words if it is for characters alone."""
    return _MARKUP.sub(_meaning, text) if "<" in text or "&" in text else text


def _meaning(markup):
    if markup[0][0] == "&":
        return clean(html.unescape(markup[0]))
    return "" if markup["inside"] else " "


def places_without_markup(text):
    """The same text, and where each of its characters begins and ends in the one with markup."""
    pieces, starts, ends, last = [], [], [], 0
    for markup in (*_MARKUP.finditer(text), None):
        start, end = markup.span() if markup else (len(text), len(text))
        meaning = _meaning(markup) if markup else ""
        pieces += text[last:start], meaning
        starts += (*range(last, start), *[start] * len(meaning))
        ends += (*range(last + 1, start + 1), *[end] * len(meaning))
        last = end
    return "".join(pieces), starts, ends


def _text_of(content):
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return " ".join(filter(None, map(_text_of, content)))
    if not isinstance(content, int | float) or content in (math.inf, -math.inf):
        raise ValueError(f"a text is {content!r:.60}, neither words nor a finite number")
    # tables have nan where a number is missing
    return str(content) if content == content else ""


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
_BATCH = 1024
_BUFFER = 1 << 20
"""Bytes read at a time of each column of Parquet; without it a whole row group would be."""


def read_texts(settings, path, n_labels=None):
    """Instances of a file, plain or compressed, in bounded memory; ``settings`` are those of the prepare step.

    With ``n_labels`` the labels must be ids below it; otherwise they are names.
    """
    return _READERS[settings.format](path, _columns_of(settings, n_labels))


def _columns_of(settings, n_labels=None):
    labels = split_names(settings.labels_column) if settings.format in COLUMN_FORMATS else [settings.labels_column]
    names = [*split_names(settings.text_column), *labels]
    weighted, id_column = bool(settings.column_weights), settings.id_column
    return Columns(names, settings.label_separator, n_labels, len(labels), weighted, id_column)


def check_beginning(settings, path):
    """Refuse a file that is empty, lacks a column or cannot be read, from as little of it as tells."""
    if os.path.getsize(path) == 0:
        raise empty(path)
    if settings.format == "jsonl":
        wanted = set(_columns_of(settings).wanted)
        any(wanted <= seen.keys() for *_, seen in _json_entries(path, wanted))
    else:
        next(read_texts(settings, path), None)


def empty(path):
    """The error of a file in which nothing is."""
    return InputError("is empty", path=path, remedy="export it again, or give another file")


def _read_tsv(path, columns):
    for number, line in read_lines(path):
        labels, tab, text = line.partition("\t")
        if "\r" in line and "\t" in text.partition("\r")[2]:
            remedy = "they must end with a line feed"
            raise InputError("lines end with carriage returns alone", path=path, line=number, remedy=remedy)
        if tab:
            yield columns.instance([text, labels], path, number)
        elif line.strip():
            message = f"expected labels, a tab and a text, found no tab in {line[:40]!r}"
            raise InputError(message, path=path, line=number, remedy="put a tab between labels and text")


def _read_csv(path, columns):
    lines = (line for _, line in read_lines(path, keep_ends=True))
    for number, fields in read_csv_fields(lines, columns.wanted, path, columns.optional):
        yield columns.instance(fields, path, number)


def read_csv_fields(lines, wanted, path, optional=(), **remedy):
    """Chosen fields of each record, after the number of the line on which it begins; optional ones where they exist.

    The delimiter is the comma, semicolon or tab with which the header has all columns.
    """
    csv.field_size_limit(sys.maxsize)
    header = next(lines, None)
    if header is None:
        raise empty(path)
    names, delimiter = _header(header, wanted, path)
    check_columns(wanted, names, path, 1, **remedy)
    chosen = [names.index(name) for name in _existing(wanted, optional, names)]
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        number = reader.line_num + 2
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise _malformed(error, path, number) from None
        if record is None:
            return
        if record and len(record) != len(names):
            message = f"{len(record)} fields, the header has {len(names)}"
            advice = f'quote fields that contain {delimiter!r}, line ends or quotes ("")'
            raise InputError(message, path=path, line=number, remedy=advice)
        if len(record) > 1 and [field.strip().lstrip("\ufeff") for field in record] == names:
            advice = "if files were joined, name each of them instead, or a pattern such as exports/*.csv"
            raise InputError("the header occurs a second time", path=path, line=number, remedy=advice)
        if record:
            yield number, [record[column] for column in chosen]


def _existing(wanted, optional, names):
    return [*wanted, *(name for name in optional if name in names)]


def _header(line, wanted, path):
    kinds = []
    for delimiter in _DELIMITERS:
        try:
            names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
        except csv.Error as error:
            raise _malformed(error, path, 1) from None
        kinds.append((set(wanted) <= set(names), len(names), names, delimiter))
    return max(kinds)[2:]


def _malformed(error, path, line):
    remedy = "lines must end with a line feed" if "new-line" in str(error) else "check the quotes from here on"
    return InputError(f"malformed record ({str(error).partition(' - ')[0]})", path=path, line=line, remedy=remedy)


def _read_jsonl(path, columns):
    for number, entry, _ in _json_entries(path, columns.wanted):
        yield columns.instance([entry.get(name) for name in (*columns.wanted, *columns.optional)], path, number)


def _json_entries(path, wanted):
    """Line number and object of each record, and the keys seen so far, among which all columns are at the end."""
    seen, entry = {}, None
    for number, line in read_lines(path):
        if line.strip():
            entry = read_json_object(line, path, number)
            seen |= dict.fromkeys(entry)
            yield number, entry, seen
    if entry is not None:
        check_columns(wanted, seen, path)


def read_json_object(line, path, number):
    """The object that a line of JSON Lines holds."""
    try:
        entry = json.loads(line, object_pairs_hook=_without_repeated_keys, parse_constant=_refuse_constant)
    except (RecursionError, ValueError) as error:
        raise InputError(f"not valid JSON ({_reason(error)})", path=path, line=number, remedy=CORRECT) from None
    if not isinstance(entry, dict):
        message = f"expected a JSON object, found {line[:40]!r}"
        raise InputError(message, path=path, line=number, remedy="write one object per line")
    return entry


def _without_repeated_keys(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice")
    return found


def _refuse_constant(name):
    raise ValueError(f"{name} is not a number of JSON")


def _read_parquet(path, columns):
    for row, fields in read_parquet_fields(path, columns.wanted, columns.optional):
        yield columns.instance(fields, path, None, f"row {row}: ")


def read_parquet_fields(path, wanted, optional=(), **remedy):
    """Chosen fields of each row, after its number from 1; optional ones where they exist."""
    # Arrow takes a tenth of a second to load
    import pyarrow.parquet

    with open_seekable(path) as stream:
        row = 0
        try:
            file = pyarrow.parquet.ParquetFile(stream, buffer_size=_BUFFER)
            there = file.schema_arrow.names
            check_columns(wanted, there, path, **remedy)
            for row, fields in enumerate(_parquet_rows(file, _existing(wanted, optional, there)), 1):
                yield row, fields
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            message = f"not a readable Parquet file, or a damaged one after row {row} ({error})"
            raise InputError(message, path=path, remedy="download or copy it again") from None


def _parquet_rows(file, names):
    for batch in file.iter_batches(_BATCH, columns=names):
        # iter_batches keeps the file's order of columns
        yield from zip(*(batch.column(name).to_pylist() for name in names), strict=True)


_READERS = {"text-tsv": _read_tsv, "csv": _read_csv, "jsonl": _read_jsonl, "parquet": _read_parquet}
