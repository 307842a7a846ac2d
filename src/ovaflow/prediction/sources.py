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
    split_names,
)
from ovaflow.sparse.csr import CSR

STDIN = "-"

SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".svm": "svmlight", ".svmlight": "svmlight",
            ".libsvm": "svmlight"}  # fmt: skip
"""Formats that a file's name tells."""

BATCH = 512
"""Most instances scored together."""

_REMEDY = "name it with --text-column"


class Batch(NamedTuple):
    """Some instances: what the source calls each (``id`` in JSON Lines), or None; texts None where it has features."""

    X: CSR
    names: list
    texts: list | None


class Instances(NamedTuple):
    """Where instances come from (``-``: standard input) and in which format; ``text_column`` may name several."""

    path: str
    format: str
    text_column: str = "text"
    first_feature: int | None = None
    weighted: bool = False  # whether the text columns have weights of their own

    @property
    def name(self):
        """As messages call it."""
        return "standard input" if self.path == STDIN else self.path


def format_of(path, takes_text):
    """Format of a file by its name, compressed or not; other names hold what the model takes."""
    suffix = Path(re.sub(r"\.(gz|bz2|xz|zst)$", "", path.lower())).suffix
    return SUFFIXES.get(suffix, "lines" if takes_text else "svmlight")


def text_column_of(model):
    """Column of the text in the files that a model was trained on; ``"text"`` where they had no columns."""
    return model.transform.get("source", {}).get("text_column", "text")


def batches_of(source, predictor):
    """Read instances as batches, which end where the next line would have to be waited for."""
    reads_texts = source.format in _TEXTS
    if reads_texts:
        predictor.from_texts([])
        source = source._replace(weighted=len(predictor.transform.column_weights) > 1)
    with nullcontext(sys.stdin.buffer) if source.path == STDIN else open_stream(source.path) as stream:
        if reads_texts:
            for names, texts in _batched(_TEXTS[source.format], source, stream):
                yield Batch(predictor.from_texts(texts), names, [text.replace(FIELD, " ") for text in texts])
        else:
            for X in _ROWS[source.format](source, stream, predictor):
                yield Batch(predictor.transformed(X), [None] * X.n_rows, None)


def _batched(read, source, stream):
    lines = Lines(stream, source.name)
    names, texts = [], []
    for name, text in read(source, lines):
        names.append(name)
        texts.append(text)
        if len(texts) == BATCH or not lines.ready:
            yield names, texts
            names, texts = [], []
    if texts:
        yield names, texts


def _read_lines(source, lines):
    for _, line in lines:
        yield None, clean(without_end(line))


def _read_jsonl(source, lines):
    columns, seen, entry = split_names(source.text_column), {}, None
    for number, line in lines:
        if line.strip():
            entry = read_json_object(line, source.name, number)
            seen |= dict.fromkeys(entry)
        # before anything is answered: a record need not have every key, the first batch has
        if entry is not None and (number == BATCH or not lines.ready):
            check_columns(columns, seen, source.name, remedy=_REMEDY)
        if line.strip():
            yield entry.get("id"), _joined([entry.get(name) for name in columns], source, number)


def _read_csv(source, lines):
    columns = split_names(source.text_column)
    for number, fields in read_csv_fields((line for _, line in lines), columns, source.name, remedy=_REMEDY):
        yield None, _joined(fields, source, number)


def _joined(fields, source, number):
    try:
        return joined(fields, source.weighted)
    except ValueError as error:
        raise InputError(error, path=source.name, line=number, remedy=CORRECT) from None


_TEXTS = {"lines": _read_lines, "jsonl": _read_jsonl, "csv": _read_csv}


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

FORMATS = (*_TEXTS, *_ROWS)
