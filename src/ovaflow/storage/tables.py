"""Tables whose cells may be lists: Parquet, where lists stay lists, or CSV."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

from ovaflow.console.errors import StrPath
from ovaflow.storage.writing import write_atomically, write_csv

MARK = " | "
"""Stands between the entries of a list in CSV."""


def is_parquet(path: StrPath) -> bool:
    return Path(path).suffix.lower() == ".parquet"


def write_table(path: StrPath, columns: Mapping[str, Any], rows: Iterable[tuple]) -> None:
    """Write rows, as Parquet or CSV by the name; columns are types by name: str, int, float or lists of them."""
    if is_parquet(path):
        _write_parquet(path, columns, rows)
    else:
        write_csv(path, [columns, *([_cell(value) for value in row] for row in rows)])


def _cell(value: Any) -> Any:
    return MARK.join("" if each is None else str(each) for each in value) if isinstance(value, list) else value


def _write_parquet(path: StrPath, columns: Mapping[str, Any], rows: Iterable[tuple]) -> None:
    # loaded by nothing else that writes
    import pyarrow
    import pyarrow.parquet

    types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    schema = pyarrow.schema(
        (name, pyarrow.list_(types[get_args(kind)[0]]) if get_args(kind) else types[kind])
        for name, kind in columns.items()
    )
    table = pyarrow.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], schema)
    with write_atomically(path) as temporary:
        pyarrow.parquet.write_table(table, temporary)
