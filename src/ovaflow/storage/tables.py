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
    """A column of a file.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : type
        Type of its values: ``str``, ``int``, ``float``, ``list[str]`` or ``list[float]``. An empty
        cell is None.
    spec : str
        Format of a number in CSV, as :func:`format` takes it.
    """

    name: str
    kind: Any = str
    spec: str = ""


def write_table(path: StrPath, columns: Sequence[StoredColumn], rows: Sequence[dict]) -> None:
    """Write rows, which have a value for each column's name, as Parquet or CSV.

    A file whose name ends in ``.parquet`` is Parquet, any other one CSV.
    """
    if Path(path).suffix.lower() == ".parquet":
        _write_parquet(path, columns, rows)
        return
    lines: list[list[Any]] = [[column.name for column in columns]]
    for row in rows:
        lines.append([_format_cell(column, row[column.name]) for column in columns])
    write_csv(path, lines)


def _format_cell(column: StoredColumn, value: Any) -> Any:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    if column.spec and value is not None:
        return format(value, column.spec)
    return value


def _write_parquet(path: StrPath, columns: Sequence[StoredColumn], rows: Sequence[dict]) -> None:
    # imported here: no other writer needs it
    import pyarrow
    import pyarrow.parquet

    types: dict[Any, Any] = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        list[str]: pyarrow.list_(pyarrow.string()),
        list[float]: pyarrow.list_(pyarrow.float64()),
    }
    schema = pyarrow.schema([(column.name, types[column.kind]) for column in columns])
    table = pyarrow.Table.from_pylist(list(rows), schema)
    with write_atomically(path) as temporary:
        pyarrow.parquet.write_table(table, temporary)
