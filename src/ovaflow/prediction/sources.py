"""Instances to predict, read as they come: files or standard input, in any format, a few at a time."""

import sys
from contextlib import nullcontext
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.data.readers.kernels import Bounds
from ovaflow.data.readers.sparse_text import ID_LIMIT, check_count, parse_blocks, read_header
from ovaflow.data.readers.streams import FORMATS, Lines, ending_of, open_stream
from ovaflow.data.readers.texts import FIELD, LINE_READERS, Columns, joined, read_parquet, split_names
from ovaflow.prediction.drift import Words
from ovaflow.sparse.csr import CSR

STDIN = "-"

BATCH = 512  # most instances scored together


class Batch(NamedTuple):
    """Some instances: what the source calls each, or None; texts None where it has features."""

    X: CSR
    names: list
    texts: list | None
    kept: list  # texts of further columns
    words: Words | None = None


class InputFile(NamedTuple):
    """Where instances come from (``-``: standard input) and in which format; ``text_column`` may name several.

    Without ``id_column`` the first of ``default_ids`` that there is names the instances.
    """

    path: str
    format: str
    text_column: str = "text"
    first_feature: int | None = None
    id_column: str | None = None
    default_ids: tuple = ("id",)
    kept: tuple = ()  # further columns to read

    @property
    def name(self):
        return "standard input" if self.path == STDIN else self.path


def format_of(path, takes_text):
    """Format of a file by its name, compressed or not; other names hold what the model takes."""
    return format_named(path) or ("lines" if takes_text else "svmlight")


def format_named(path):
    """Format that a file's name tells, or None; .tsv and .txt tell none, since they may hold plain lines."""
    named = FORMATS.get(ending_of(path))
    return None if named in ("text-tsv", "xmc-text") else named


def text_column_of(model):
    """Column of the text in the files that a model was trained on; ``"text"`` where they had no columns."""
    return model.transform.get("source", {}).get("text_column", "text")


def labels_columns_of(model):
    """Columns of the labels in these files; ``labels`` where they had no columns."""
    return split_names(model.transform.get("source", {}).get("labels_column", "labels"))


def id_columns_of(model):
    """Columns that may name the records of a file: that of the model's data, or else id."""
    column = model.transform.get("source", {}).get("id_column")
    return ("id",) if column is None else (column, "id")


def columns_of(model):
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
                yield Batch(predictor.transformed(X), [None] * X.n_rows, None, [()] * X.n_rows)
        return
    predictor.from_texts([])
    for instances in _batched_texts(source, weighs_columns(predictor.model)):
        texts, names = [instance.text for instance in instances], [instance.record for instance in instances]
        plain = [text.replace(FIELD, " ") for text in texts]
        kept = [instance.kept for instance in instances]
        X, words = predictor.read_texts(texts)
        yield Batch(X, names, plain, kept, words)


def _opened(source):
    return nullcontext(sys.stdin.buffer) if source.path == STDIN else open_stream(source.path, pipes=True)


def _batched_texts(source, weighted):
    columns = Columns(
        split_names(source.text_column),
        [],
        source.id_column,
        source.default_ids,
        source.kept,
        weighted,
        remedy="name it with --text-column, --id-column or --keep",
        early=True,
    )
    if source.format != "parquet":
        with _opened(source) as stream:
            lines = Lines(stream, source.name)
            yield from _batched(LINE_READERS[source.format](lines, columns, source.name), lambda: lines.ready)
    elif source.path == STDIN:
        raise InputError("Parquet cannot be read from a pipe", path=source.name, remedy="give a file")
    else:
        yield from _batched(read_parquet(source.path, columns), lambda: True)


def _batched(instances, ready):
    batch = []
    for instance in instances:
        batch.append(instance)
        if len(batch) == BATCH or not ready():
            yield batch
            batch = []
    if batch:
        yield batch


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
        message = f"{d} features, the model has {theirs}"
        raise InputError(message, path=source.name, line=1, remedy="give instances of its features")
    count, last = 0, 1
    for rows in parse_blocks(stream, source.name, Bounds(-1, 0, d, ID_LIMIT, False), 1):
        count, last = count + rows.X.n_rows, rows.lines
        yield rows.X
    check_count(n, count, source.name, last)


_ROWS = {"svmlight": _read_svmlight, "xmc-text": _read_xmc_text}

READ_FORMATS = ("lines", "jsonl", "csv", "parquet", *_ROWS)
