"""Parquet files with text columns and a column of label lists."""

import os

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import allowed_in_memory, open_seekable

BATCH = 1024
BUFFER = 1 << 20
"""Bytes read at a time of each column; without it a whole row group would be."""
LONGEST_LIST = 1_000_000
"""Entries of a row's list."""


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
        # names of columns that are no UTF-8 are a ValueError
        except (pyarrow.ArrowException, OSError, KeyError, ValueError, OverflowError, RecursionError) as error:
            raise InputError(
                f"not a readable Parquet file ({error})", path=path, remedy="download or copy it again"
            ) from None


def _instances(stream, path, columns):
    # a text that stands once in the file and a thousand times in a batch is not made a thousand times
    plain = pyarrow.parquet.ParquetFile(stream)
    shared = [field.name for field in plain.schema_arrow if pyarrow.types.is_string(field.type)]
    file = pyarrow.parquet.ParquetFile(stream, metadata=plain.metadata, buffer_size=BUFFER, read_dictionary=shared)
    columns.check(file.schema_arrow.names, path)
    chosen = [*columns.texts, columns.labels]
    row, left = 0, allowed_in_memory(os.stat(path).st_size)
    for batch in file.iter_batches(BATCH, columns=chosen):
        left -= sum(_bytes_of(batch.column(name)) for name in chosen)
        if left < 0:
            allowed = allowed_in_memory(os.stat(path).st_size)
            raise InputError(
                f"row {row + 1}: rows of more than {allowed:,} bytes in all: refused as a bomb",
                path=path,
                remedy="mend this file, or give another one",
            )
        lists = [_contents(batch.column(name), name, row, path) for name in chosen]
        for *texts, labels in zip(*lists, strict=True):
            row += 1
            try:
                yield columns.instance(texts, labels)
            except ValueError as error:
                raise InputError(
                    f"row {row}: {error}", path=path, remedy="mend this file, or give another one"
                ) from None


def _bytes_of(column):
    if pyarrow.types.is_dictionary(column.type) and not pyarrow.types.is_nested(column.type.value_type):
        lengths = pyarrow.compute.binary_length(column.dictionary.cast(pyarrow.large_string()))
        return pyarrow.compute.sum(lengths.take(column.indices)).as_py() or 0
    return column.nbytes


def _contents(column, name, row, path):
    if pyarrow.types.is_list(column.type):
        longest = pyarrow.compute.max(pyarrow.compute.list_value_length(column)).as_py() or 0
        if longest > LONGEST_LIST:
            raise InputError(
                f"column {name!r}: a list of {longest:,} entries, more than {LONGEST_LIST:,}",
                path=path,
                remedy="mend this file, or give another one",
            )
    try:
        return _objects(column)
    except (ValueError, OverflowError, RecursionError):
        for number in range(len(column)):
            try:
                column[number].as_py()
            except (ValueError, OverflowError, RecursionError) as error:
                raise InputError(
                    f"row {row + number + 1}, column {name!r}: {error}",
                    path=path,
                    remedy="mend this file, or give another one",
                ) from None
        raise


def _objects(column):
    if not pyarrow.types.is_dictionary(column.type):
        return column.to_pylist()
    values = [*column.dictionary.to_pylist(), None]
    return [values[index] for index in column.indices.fill_null(len(values) - 1).to_pylist()]
