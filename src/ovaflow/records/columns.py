"""One Arrow table with a row for each record: everything but the tokens of texts and the labels."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ovaflow.console.errors import StrPath
from ovaflow.features.tfidf import GrowingVector
from ovaflow.reading.feature_columns import FeatureColumn

_BATCH_RECORDS = 1 << 16
"""Records that are kept as objects before they are columns."""

# bytes, since text may have halves of surrogate pairs
_TEXT = pa.binary()

RECORD_COLUMNS = {
    "id": _TEXT,  # empty where a record has none
    "name": _TEXT,  # in reports
    "text_hash": pa.uint64(),
    "group": pa.int64(),  # -1 for none
    "time": pa.float64(),
    "part": _TEXT,  # train, test or dev, where a column says so
    "weight": pa.float32(),  # of the losses
    "extra": pa.bool_(),  # true for records of extra files
}
"""Types of the columns that every record has; columns next to the text follow."""
_FEATURE_COLUMN_PREFIX = "beside "
"""Beginning of the names of columns next to the text."""


class GrowingColumns:
    """Columns of records, appended row by row.

    Parameters
    ----------
    feature_columns : sequence of FeatureColumn
        Columns next to the text.
    folder : path, optional
        Folder of the temporary file that the columns are mapped from; by default they are in
        memory.
    """

    def __init__(
        self, feature_columns: Sequence[FeatureColumn] = (), folder: StrPath | None = None
    ) -> None:
        types = dict(RECORD_COLUMNS)
        for place, column in enumerate(feature_columns):
            is_number = isinstance(column.kind.missing, float)
            types[f"{_FEATURE_COLUMN_PREFIX}{place}"] = pa.float64() if is_number else _TEXT
        self._schema = pa.schema(types)
        self._stored = GrowingVector(np.uint8, folder)
        self._stored.extend(np.frombuffer(self._schema.serialize(), np.uint8))
        self._rows: list[tuple] = []

    def append(self, row: tuple) -> None:
        """Append the values of a record in the order of the columns."""
        self._rows.append(row)
        if len(self._rows) == _BATCH_RECORDS:
            self._store()

    def _store(self) -> None:
        """Store the rows that are kept as objects."""
        columns: Sequence[Sequence] = [()] * len(self._schema)
        if self._rows:
            columns = list(zip(*self._rows, strict=True))
        arrays = []
        for values, field in zip(columns, self._schema, strict=True):
            arrays.append(_make_array(values, field.type))
        batch = pa.record_batch(arrays, schema=self._schema)
        self._stored.extend(np.frombuffer(batch.serialize(), np.uint8))
        self._rows = []

    def table(self) -> pa.Table:
        """Return the table of all records."""
        self._store()
        return pa.ipc.open_stream(pa.py_buffer(self._stored.mapped())).read_all()


def _make_array(values: Sequence, type: pa.DataType) -> pa.Array:
    """Make the array of some values of a column."""
    if type == _TEXT:
        values = [_encode(value) for value in values]
    return pa.array(values, type)


def _encode(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _decode(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "surrogatepass")


class TextColumn(Sequence):
    """Some rows of a column of texts, in ascending order, each decoded on demand."""

    def __init__(self, column: pa.ChunkedArray, rows: np.ndarray) -> None:
        self._column = column
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> list: ...

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return list(TextColumn(self._column, self._rows[place]))
        return _decode(self._column[int(self._rows[place])].as_py())

    def __iter__(self) -> Iterator[Any]:
        first = 0
        for chunk in self._column.chunks:
            low, high = np.searchsorted(self._rows, [first, first + len(chunk)])
            values = chunk.to_pylist()
            for row in (self._rows[low:high] - first).tolist():
                yield _decode(values[row])
            first += len(chunk)


def number_texts(column: pa.ChunkedArray) -> np.ndarray:
    """Assign numbers to the different texts of a column, -1 to empty ones: int64 (n,)."""
    hashes = []
    for chunk in column.chunks:
        hashes_of_chunk = (hash(content) for content in chunk.to_pylist())
        hashes.append(np.fromiter(hashes_of_chunk, np.int64, len(chunk)))
    _, numbers = np.unique(np.concatenate(hashes), return_inverse=True)
    numbers[pc.binary_length(column).to_numpy() == 0] = -1
    return numbers


def read_feature_values(table: pa.Table, rows: np.ndarray) -> list[tuple] | None:
    """Read the values of the columns next to the text.

    Returns
    -------
    list of tuple, or None
        A tuple for each row, empty for a record without values; None without such columns.
    """
    columns: list[Sequence] = []
    for name in table.column_names:
        if not name.startswith(_FEATURE_COLUMN_PREFIX):
            continue
        column = table[name]
        if column.type == _TEXT:
            columns.append(TextColumn(column, rows))
        else:
            columns.append(column.take(pa.array(rows)).to_pylist())
    if not columns:
        return None
    values = []
    for row in zip(*columns, strict=True):
        values.append(() if row[0] is None else row)
    return values
