"""Parquet tables."""

from collections.abc import Iterator

# Arrow takes a tenth of a second to load
import pyarrow
import pyarrow.parquet
import pyarrow.types

from ovaflow.console.errors import InputError
from ovaflow.reading.columns import find_columns
from ovaflow.reading.instances import Reading, TextInstance
from ovaflow.reading.streams import RecordFile

_BATCH_ROWS = 1024
_BUFFER_BYTES = 1 << 20
"""Bytes read at a time of each column; without it a whole row group would be."""


def read(file: RecordFile, reading: Reading) -> Iterator[TextInstance]:
    """Yield the instances of a file."""
    with file.seekable() as stream:
        row = 0
        try:
            table = pyarrow.parquet.ParquetFile(stream, buffer_size=_BUFFER_BYTES)
            names = table.schema_arrow.names
            reading.seen["columns"] = names
            places = find_columns(names, reading.wanted_columns, file.name)
            selected = [names[place] for place in places]
            for row, fields in enumerate(_read_rows(table, selected), 1):
                yield reading.make_instance(fields, file.name, row=row)
        except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
            message = f"not a readable Parquet file, or a damaged one after row {row} ({error})"
            raise InputError(message, path=file.name, remedy="download or copy it again") from None


def _read_rows(table: pyarrow.parquet.ParquetFile, names: list[str]) -> Iterator[tuple]:
    """Yield the values of some columns, row by row."""
    for batch in table.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(names))):
        # iter_batches keeps the file's order of columns
        columns = [batch.column(name).to_pylist() for name in names]
        yield from zip(*columns, strict=True)
