"""Parquet files with text columns and a column of label lists."""

import pyarrow
import pyarrow.parquet

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import open_seekable

BATCH = 1024
BUFFER = 1 << 20
"""Bytes read at a time of each column; without it a whole row group would be."""


def read(path, columns):
    """Read a file in batches.

    Parameters
    ----------
    path : path-like
    columns : Columns

    Yields
    ------
    TextInstance

    Raises
    ------
    InputError
        If the file is no Parquet, lacks a column or has one of another type.
    """
    with open_seekable(path) as stream:
        try:
            yield from _instances(stream, path, columns)
        except (pyarrow.ArrowException, OSError, KeyError) as error:
            raise InputError(
                f"not a readable Parquet file ({error})", path=path, remedy="download or copy it again"
            ) from None


def _instances(stream, path, columns):
    file = pyarrow.parquet.ParquetFile(stream, buffer_size=BUFFER)
    columns.check(file.schema_arrow.names, path)
    chosen = [*columns.texts, columns.labels]
    row = 0
    for batch in file.iter_batches(BATCH, columns=chosen):
        lists = [_contents(batch, name, row, path) for name in chosen]
        for *texts, labels in zip(*lists, strict=True):
            row += 1
            try:
                yield columns.instance(texts, labels)
            except ValueError as error:
                raise InputError(f"row {row}: {error}", path=path) from None


def _contents(batch, name, row, path):
    column = batch.column(name)
    try:
        return column.to_pylist()
    except (ValueError, OverflowError, RecursionError):
        for number in range(len(column)):
            try:
                column[number].as_py()
            except (ValueError, OverflowError, RecursionError) as error:
                raise InputError(f"row {row + number + 1}, column {name!r}: {error}", path=path) from None
        raise
