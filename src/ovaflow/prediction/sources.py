"""Instances to predict, read as they come: files or standard input, in any format, a few at a time."""

import re
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.data.readers.kernels import Bounds
from ovaflow.data.readers.sparse_text import ID_LIMIT, check_count, parse_blocks, read_header
from ovaflow.data.readers.streams import Lines, open_stream, without_end
from ovaflow.data.readers.texts import (
    CORRECT,
    FIELD,
    check_columns,
    clean,
    joined,
    read_csv_fields,
    read_json_object,
    read_parquet_fields,
    split_names,
)
from ovaflow.sparse.csr import CSR

STDIN = "-"

SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet", ".svm": "svmlight",
            ".svmlight": "svmlight", ".libsvm": "svmlight"}  # fmt: skip
"""Formats that a file's name tells."""

BATCH = 512
"""Most instances scored together."""

_REMEDY = "name it with --text-column or --id-column"


class Batch(NamedTuple):
    """Some instances: what the source calls each, or None; texts None where it has features."""

    X: CSR
    names: list
    texts: list | None


class Instances(NamedTuple):
    """Where instances come from (``-``: standard input) and in which format; ``text_column`` may name several.

    Without ``id_column`` a column ``id`` names the instances where there is one.
    """

    path: str
    format: str
    text_column: str = "text"
    first_feature: int | None = None
    id_column: str | None = None
    weighted: bool = False  # whether the text columns have weights of their own

    @property
    def name(self):
        """As messages call it."""
        return "standard input" if self.path == STDIN else self.path

    @property
    def columns(self):
        """Columns that there must be: those of the text, and last that of the names if it was chosen."""
        return split_names(self.text_column) + [self.id_column] * (self.id_column is not None)

    @property
    def optional(self):
        """The column of the names where none was chosen."""
        return ("id",) if self.id_column is None else ()


def format_of(path, takes_text):
    """Format of a file by its name, compressed or not; other names hold what the model takes."""
    return format_named(path) or ("lines" if takes_text else "svmlight")


def format_named(path):
    """Format that a file's name tells, compressed or not; None where it tells none."""
    return SUFFIXES.get(Path(re.sub(r"\.(gz|bz2|xz|zst)$", "", path.lower())).suffix)


def text_column_of(model):
    """Column of the text in the files that a model was trained on; ``"text"`` where they had no columns."""
    return model.transform.get("source", {}).get("text_column", "text")


def columns_of(model):
    """Names of the text columns that a model was trained on."""
    return split_names(text_column_of(model))


def weighs_columns(model):
    """Whether the model's text columns have weights of their own, so that they stay apart."""
    return len(model.transform.get("column_weights", ())) > 1


def text_of_columns(model, columns):
    """The text that a model reads, of its columns by name."""
    return joined([columns[name] for name in columns_of(model)], weighs_columns(model))


def remark_on_columns(model):
    """What to know before a plain text is given to a model that weighs columns apart; empty for other models."""
    if not weighs_columns(model):
        return ""
    columns = columns_of(model)
    return (
        f"the model weighs the columns {', '.join(columns)}: all words of a plain text count as those of {columns[0]}"
    )


def batches_of(source, predictor):
    """Read instances as batches, which end where the next line would have to be waited for."""
    if source.format in _ROWS:
        with _opened(source) as stream:
            for X in _ROWS[source.format](source, stream, predictor):
                yield Batch(predictor.transformed(X), [None] * X.n_rows, None)
        return
    predictor.from_texts([])
    source = source._replace(weighted=weighs_columns(predictor.model))
    for names, texts in _batched_parquet(source) if source.format == "parquet" else _batched_lines(source):
        yield Batch(predictor.from_texts(texts), names, [text.replace(FIELD, " ") for text in texts])


def _opened(source):
    return nullcontext(sys.stdin.buffer) if source.path == STDIN else open_stream(source.path)


def _batched_lines(source):
    with _opened(source) as stream:
        lines = Lines(stream, source.name)
        yield from _batched(_LINES[source.format](source, lines), lambda: lines.ready)


def _batched_parquet(source):
    if source.path == STDIN:
        raise InputError("Parquet cannot be read from a pipe", path=source.name, remedy="give a file")
    yield from _batched(_read_parquet(source), lambda: True)


def _batched(instances, ready):
    names, texts = [], []
    for name, text in instances:
        names.append(name)
        texts.append(text)
        if len(texts) == BATCH or not ready():
            yield names, texts
            names, texts = [], []
    if texts:
        yield names, texts


def _read_lines(source, lines):
    for _, line in lines:
        yield None, clean(without_end(line))


def _read_jsonl(source, lines):
    columns, seen, entry = source.columns, {}, None
    for number, line in lines:
        if line.strip():
            entry = read_json_object(line, source.name, number)
            seen |= dict.fromkeys(entry)
        # before anything is answered: a record need not have every key, the first batch has
        if entry is not None and (number == BATCH or not lines.ready):
            check_columns(columns, seen, source.name, remedy=_REMEDY)
        if line.strip():
            yield _named([entry.get(name) for name in (*columns, *source.optional)], source, number)


def _read_csv(source, lines):
    texts = (line for _, line in lines)
    for number, fields in read_csv_fields(texts, source.columns, source.name, source.optional, remedy=_REMEDY):
        yield _named(fields, source, number)


def _read_parquet(source):
    for row, fields in read_parquet_fields(source.path, source.columns, source.optional, remedy=_REMEDY):
        yield _named(fields, source, None, f"row {row}: ")


def _named(fields, source, line, where=""):
    """Name of an instance, None where it has none, and its text."""
    n = len(split_names(source.text_column))
    try:
        return next(iter(fields[n:]), None), joined(fields[:n], source.weighted)
    except ValueError as error:
        raise InputError(f"{where}{error}", path=source.name, line=line, remedy=CORRECT) from None


_LINES = {"lines": _read_lines, "jsonl": _read_jsonl, "csv": _read_csv}


def _read_svmlight(source, stream, predictor):
    first = source.first_feature
    if first is None:
        first = predictor.model.transform.get("first_feature", 0)
    bounds = Bounds(-1, first, first + predictor.n_source_features, ID_LIMIT, True)
    for rows in parse_blocks(stream, source.name, bounds):
        rows.X.indices[:] -= first
        yield rows.X._replace(n_columns=predictor.n_source_features)


def _read_xmc_text(source, stream, predictor):
    (n, d, _), theirs = read_header(stream, source.name), predictor.n_source_features
    if d != theirs:
        raise InputError(
            f"{d} features, the model has {theirs}", path=source.name, line=1, remedy="give instances of its features"
        )
    count, last = 0, 1
    for rows in parse_blocks(stream, source.name, Bounds(-1, 0, d, ID_LIMIT, False), 1):
        count, last = count + rows.X.n_rows, rows.lines
        yield rows.X
    check_count(n, count, source.name, last)


_ROWS = {"svmlight": _read_svmlight, "xmc-text": _read_xmc_text}

FORMATS = (*_LINES, "parquet", *_ROWS)
