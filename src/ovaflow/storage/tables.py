"""Tables whose cells may be lists: Parquet, where lists stay lists, or CSV, where they are written as JSON."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ovaflow.console.errors import StrPath
from ovaflow.storage.writing import write_atomically, write_csv


def write_table(path: StrPath, columns: Mapping[str, Any], rows: Sequence[dict]) -> None:
    """Write rows, as Parquet or CSV by the name; columns are types by name: str, int, float, list[str], list[float]."""
    if Path(path).suffix.lower() == ".parquet":
        _write_parquet(path, columns, rows)
    else:
        write_csv(path, [columns, *([_cell(row[name]) for name in columns] for row in rows)])


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def _write_parquet(path: StrPath, columns: Mapping[str, Any], rows: Sequence[dict]) -> None:
    # loaded by nothing else that writes
    import pyarrow
    import pyarrow.parquet

    types: dict[Any, Any] = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    types |= {list[str]: pyarrow.list_(pyarrow.string()), list[float]: pyarrow.list_(pyarrow.float64())}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])
    with write_atomically(path) as temporary:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows), schema), temporary)
