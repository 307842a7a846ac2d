"""Tables whose cells may be lists: Parquet, where lists stay lists, or CSV, where they are written
as JSON.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ovaflow.console.errors import StrPath
from ovaflow.storage.writing import write_atomically, write_csv


class StoredColumn(NamedTuple):
    """A column of a file."""

    name: str
    kind: Any = (
        str  # of its values: str, int, float, list[str] or list[float]; None is an empty cell
    )
    spec: str = ""  # how CSV writes a number, as format() takes it


def write_table(path: StrPath, columns: Sequence[StoredColumn], rows: Sequence[dict]) -> None:
    """Write rows, which have a value for each name of the columns, as Parquet or CSV by the name of
    the file.
    """
    if Path(path).suffix.lower() == ".parquet":
        _write_parquet(path, columns, rows)
    else:
        names = [column.name for column in columns]
        write_csv(
            path,
            [names, *([_cell(column, row[column.name]) for column in columns] for row in rows)],
        )


def _cell(column: StoredColumn, value: Any) -> Any:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    if column.spec and value is not None:
        return format(value, column.spec)
    return value


def _write_parquet(path: StrPath, columns: Sequence[StoredColumn], rows: Sequence[dict]) -> None:
    # loaded by nothing else that writes
    import pyarrow
    import pyarrow.parquet

    types: dict[Any, Any] = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    types |= {
        list[str]: pyarrow.list_(pyarrow.string()),
        list[float]: pyarrow.list_(pyarrow.float64()),
    }
    schema = pyarrow.schema([(column.name, types[column.kind]) for column in columns])
    with write_atomically(path) as temporary:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows), schema), temporary)
