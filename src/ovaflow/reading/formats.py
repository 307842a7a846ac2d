"""The registry of formats: how files of each kind are called, what they hold, and what reads them.

Settings and the workflow are made from it, so a reader is named here and imported where a file is
read.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from ovaflow.console.errors import StrPath

COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz", ".zst")
"""Endings of compressed files' names."""


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Parameters
    ----------
    reader : str or callable
        For texts it gives the instances of a :class:`ovaflow.reading.streams.File` as a
        :class:`ovaflow.reading.instances.Reading` says, for features all matrices of some files.
        A string names a module of this room and a function in it.
    endings : tuple of str Endings of files' names; a name belongs to the first format in the
        registry that has its ending.
    batches : str or callable
        For features: gives matrices of some rows at a time.
    holds_texts : bool
        Whether files hold texts with labels, rather than matrices of features.
    has_columns : bool
        Whether records have named columns, among which settings choose.
    is_ambiguous : bool
        Whether files with these endings may hold something else, such as plain lines.
    has_separator : bool
        Whether ``label_separator`` divides its labels.
    settings : tuple of str
        Settings that it reads besides those of all texts.
    columns : dict
        Defaults of ``text_column`` and ``labels_column``.
    """

    reader: str | Callable[..., Any]
    endings: tuple[str, ...] = ()
    batches: str | Callable[..., Any] = ""
    holds_texts: bool = True
    has_columns: bool = False
    is_ambiguous: bool = False
    has_separator: bool = False
    settings: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def read(self) -> Callable[..., Any]:
        return _imported(self.reader)

    @property
    def read_batches(self) -> Callable[..., Any]:
        return _imported(self.batches)


def _imported(function: str | Callable[..., Any]) -> Callable[..., Any]:
    return resolve_name(f"ovaflow.reading.{function}") if isinstance(function, str) else function


_TABLE: dict[str, Any] = {"has_columns": True, "has_separator": True}
_LINES = ("encoding",)
_FEATURES: dict[str, Any] = {"holds_texts": False}
_MARC: dict[str, Any] = {
    "has_columns": True,
    "columns": {"text_column": "245,246,520,505", "labels_column": "650,655"},
}

FORMATS = {
    "csv": Format("csv_table.read", (".csv",), settings=("encoding", "quotes"), **_TABLE),
    "jsonl": Format("json_lines.read", (".jsonl", ".ndjson"), settings=_LINES, **_TABLE),
    "parquet": Format("parquet.read", (".parquet",), **_TABLE),
    "xlsx": Format("spreadsheet.read", (".xlsx", ".xlsm"), settings=("sheet",), **_TABLE),
    "ods": Format("spreadsheet.read", (".ods",), settings=("sheet",), **_TABLE),
    "text-tsv": Format(
        "text_tsv.read", (".tsv",), is_ambiguous=True, has_separator=True, settings=_LINES
    ),
    "fasttext": Format("fasttext.read", (".ft", ".fasttext"), settings=_LINES),
    "annif": Format("annif.read"),
    "marc": Format("marc.read", (".mrc", ".marc"), **_MARC),
    "marcxml": Format("marc.read_xml", (".xml", ".marcxml"), **_MARC),
    "svmlight": Format(
        "sparse_text.read_svmlight",
        (".svm", ".svmlight", ".libsvm"),
        "sparse_text.svmlight_batches",
        **_FEATURES,
    ),
    "xmc-text": Format(
        "sparse_text.read_xmc_files",
        (".txt",),
        "sparse_text.xmc_batches",
        is_ambiguous=True,
        **_FEATURES,
    ),
    "npz": Format("npz.read", (".npz", ".npy"), "npz.batches", **_FEATURES),
}
"""Formats by their names in a config."""

PLAIN_LINES = Format("plain_lines.read")
"""One text per line, which only files to predict may be."""


def file_ending(path: StrPath) -> str:
    """The ending of a file's name, compressed or not, in lower case: ``.csv`` of ``a.CSV.gz``;
    empty without one.
    """
    name = Path(path).name.lower()
    for packed in COMPRESSED_ENDINGS:
        name = name.removesuffix(packed)
    _, dot, ending = name.rpartition(".")
    return f".{ending}" if dot else ""


def guess_format(path: StrPath) -> str | None:
    """Format of a file by its name; None if that tells none."""
    ending = file_ending(path)
    return next((name for name, each in FORMATS.items() if ending in each.endings), None)
