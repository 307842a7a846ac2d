"""One Arrow table with a row for each record: what records have besides the tokens of their texts
and their labels.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ovaflow.features.tfidf import GrowingVector

_BATCH = 1 << 16
"""Records that are kept as objects before they are columns."""

# bytes, since text may have halves of surrogate pairs
_TEXT = pa.binary()

RECORD_COLUMNS = {
    "id": _TEXT,  # empty where a record has none
    "name": _TEXT,  # what a report calls it
    "text_hash": pa.uint64(),
    "group": pa.int64(),  # -1 for none
    "time": pa.float64(),
    "part": _TEXT,  # train, test or dev, where a column says so
    "weight": pa.float32(),  # of the losses
    "extra": pa.bool_(),  # of an extra file
}
"""What every record has; columns beside the text follow."""


class GrowingColumns:
    """Columns of records, which are appended row by row; with a folder they are mapped from there."""

    def __init__(self, beside=(), folder=None) -> None:
        types = [
            pa.float64() if isinstance(column.kind.missing, float) else _TEXT for column in beside
        ]
        self._schema = pa.schema(
            RECORD_COLUMNS | {f"{_BESIDE}{place}": each for place, each in enumerate(types)}
        )
        self._stored = GrowingVector(np.uint8, folder)
        self._stored.extend(np.frombuffer(self._schema.serialize(), np.uint8))
        self._rows = []

    def append(self, row) -> None:
        """Append the values of a record in the order of the columns."""
        self._rows.append(row)
        if len(self._rows) == _BATCH:
            self._store()

    def _store(self) -> None:
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(self._schema)
        arrays = [
            _array(values, field.type) for values, field in zip(columns, self._schema, strict=True)
        ]
        batch = pa.record_batch(arrays, schema=self._schema)
        self._stored.extend(np.frombuffer(batch.serialize(), np.uint8))
        self._rows = []

    def table(self):
        """Return the table of all records."""
        self._store()
        return pa.ipc.open_stream(pa.py_buffer(self._stored.mapped())).read_all()


def _array(values, type):
    if type == _TEXT:
        values = [
            None if value is None else value.encode("utf-8", "surrogatepass") for value in values
        ]
    return pa.array(values, type)


class TextColumn(Sequence):
    """Some rows of a column of texts, in ascending order, each decoded on demand."""

    def __init__(self, column, rows) -> None:
        self._column = column
        self._rows = rows

    def __len__(self):
        return len(self._rows)

    def __getitem__(self, place):
        if isinstance(place, slice):
            return list(TextColumn(self._column, self._rows[place]))
        return _decoded(self._column[int(self._rows[place])].as_py())

    def __iter__(self):
        first = 0
        for chunk in self._column.chunks:
            low, high = np.searchsorted(self._rows, [first, first + len(chunk)])
            values = chunk.to_pylist()
            yield from (_decoded(values[row]) for row in (self._rows[low:high] - first).tolist())
            first += len(chunk)


def _decoded(content):
    return None if content is None else content.decode("utf-8", "surrogatepass")


def number_texts(column):
    """Return a number for each different text of a column, -1 for empty ones: int64 (n,)."""
    hashes = [
        np.fromiter(map(hash, chunk.to_pylist()), np.int64, len(chunk)) for chunk in column.chunks
    ]
    _, numbers = np.unique(np.concatenate(hashes), return_inverse=True)
    numbers[pc.binary_length(column).to_numpy() == 0] = -1
    return numbers


def read_feature_values(table, rows):
    """Return the values of the columns beside the text, a tuple for each row; empty for one that
    has none.
    """
    names = [name for name in table.column_names if name.startswith(_BESIDE)]
    if not names:
        return None
    columns = []
    for name in names:
        column = table[name]
        columns.append(
            TextColumn(column, rows)
            if column.type == _TEXT
            else column.take(pa.array(rows)).to_pylist()
        )
    return [() if row[0] is None else row for row in zip(*columns, strict=True)]


_BESIDE = "beside "
"""How the names of columns beside the text begin."""
