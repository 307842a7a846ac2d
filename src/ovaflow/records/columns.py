"""One Arrow table with a row for each record: what records have besides the tokens of their texts and their labels."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ovaflow.features.tfidf import GrowingVector
from ovaflow.storage.arrays import Strings

_BATCH = 1 << 16
"""Records that are kept as objects before they are columns."""

# bytes, since text may have halves of surrogate pairs
_TEXT = pa.large_binary()

COLUMNS = {
    "row": pa.int64(),  # of the corpus, from 0
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

    def __init__(self, beside=(), folder=None):
        types = [pa.float64() if column.kind.type is float else _TEXT for column in beside]
        self._schema = pa.schema(COLUMNS | {f"{_BESIDE}{place}": each for place, each in enumerate(types)})
        self._stored = GrowingVector(np.uint8, folder)
        self._stored.extend(np.frombuffer(self._schema.serialize(), np.uint8))
        self._rows = []

    def append(self, row):
        """Append the values of a record in the order of the columns."""
        self._rows.append(row)
        if len(self._rows) == _BATCH:
            self._store()

    def _store(self):
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(self._schema)
        arrays = [_array(values, field.type) for values, field in zip(columns, self._schema, strict=True)]
        batch = pa.record_batch(arrays, schema=self._schema)
        self._stored.extend(np.frombuffer(batch.serialize(), np.uint8))
        self._rows = []

    def table(self):
        """Return the table of all records."""
        self._store()
        return pa.ipc.open_stream(pa.py_buffer(self._stored.mapped())).read_all()


def _array(values, type):
    if type == _TEXT:
        values = [None if value is None else value.encode("utf-8", "surrogatepass") for value in values]
    return pa.array(values, type)


def texts_of(column):
    """Return a column of texts, each decoded on demand."""
    array = column.combine_chunks()
    _, ends, block = array.buffers()
    if block is None:
        return Strings(np.empty(0, np.uint8), np.zeros(len(array) + 1, np.int64))
    offsets = np.frombuffer(ends, np.int64)[array.offset : array.offset + len(array) + 1]
    return Strings(np.frombuffer(block, np.uint8), offsets)


def numbers_of(column):
    """Return a number for each different text of a column, -1 for empty ones: int64 (n,)."""
    encoded = column.combine_chunks().dictionary_encode()
    is_empty = pc.equal(encoded.dictionary, b"").to_numpy(zero_copy_only=False)
    numbers = encoded.indices.to_numpy().astype(np.int64)
    numbers[np.isin(numbers, np.flatnonzero(is_empty))] = -1
    return numbers


def beside_texts(table):
    """Return the values of the columns beside the text, a tuple for each record; empty for one that has none."""
    names = [name for name in table.column_names if name.startswith(_BESIDE)]
    if not names:
        return None
    columns = []
    for name in names:
        values = table[name].to_pylist()
        if table[name].type == _TEXT:
            values = [None if value is None else value.decode("utf-8", "surrogatepass") for value in values]
        columns.append(values)
    return [() if row[0] is None else row for row in zip(*columns, strict=True)]


_BESIDE = "beside "
"""How the names of columns beside the text begin."""
