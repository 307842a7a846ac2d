"""Parquet tables."""

# Arrow takes a tenth of a second to load
import pyarrow
import pyarrow.parquet
import pyarrow.types

from ovaflow.console.errors import InputError
from ovaflow.reading.columns import find_columns

_BATCH = 1024
_BUFFER = 1 << 20
"""Bytes read at a time of each column; without it a whole row group would be."""


def read(file, reading):
    with file.seekable() as stream:
        row = 0
        try:
            table = pyarrow.parquet.ParquetFile(stream, buffer_size=_BUFFER)
            schema = table.schema_arrow
            reading.seen["columns"] = schema.names
            places = find_columns(
                schema.names, reading.required, file.name, reading.optional, reading.remedy
            )
            for row, fields in enumerate(
                _rows(table, [schema.names[place] for place in places]), 1
            ):
                yield reading.instance(fields, file.name, row=row)
        except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
            message = f"not a readable Parquet file, or a damaged one after row {row} ({error})"
            raise InputError(message, path=file.name, remedy="download or copy it again") from None


def _rows(table, names):
    for batch in table.iter_batches(_BATCH, columns=[*dict.fromkeys(names)]):
        # iter_batches keeps the file's order of columns
        yield from zip(*(batch.column(name).to_pylist() for name in names), strict=True)
