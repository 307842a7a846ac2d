"""The registry of formats: endings, content and reader of each kind of file.

Settings and the workflow are made from it, so readers are named here, and imported where a file is
read.

To add a format of texts:

1. Write a module here with a function ``read(file, reading)``, which yields the records of a
   :class:`~ovaflow.reading.streams.RecordFile`. It passes their contents to a
   :class:`~ovaflow.reading.instances.Reading`: to ``make_instance`` if records have columns (see
   :mod:`~ovaflow.reading.parquet`), else to ``make_plain_instance`` (see
   :mod:`~ovaflow.reading.fasttext`).
2. Refuse what is wrong by an :class:`~ovaflow.console.errors.InputError` with its line, and a file
   that lacks a column by :func:`~ovaflow.reading.columns.find_columns`. For the summary that people
   see, enter the columns of the file into ``reading.seen``.
3. Enter the format in :data:`FORMATS`.
4. Write the records of tests/written_formats.py in it, and enter them in its ``FILE_CONTENTS``: the
   tests that hold for all formats read them.
5. Describe it in docs/how-to/read-strange-data.md and in the table of docs/prediction.md, and run
   docs/make/reference.py.
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
        For texts: yields the instances of a :class:`ovaflow.reading.streams.RecordFile`, given a
        :class:`ovaflow.reading.instances.Reading`. For features: returns the matrices of some
        files. A string names a module of this package and a function in it.
    endings : tuple of str
        Endings of files' names; a name belongs to the first format in the registry that has its
        ending.
    batches : str or callable
        For features: yields matrices of some rows at a time.
    holds_texts : bool
        True if files hold texts with labels, rather than matrices of features.
    has_columns : bool
        True if records have named columns, among which settings choose.
    is_ambiguous : bool
        True if files with these endings may hold something else, such as plain lines.
    has_separator : bool
        True if ``label_separator`` divides its labels.
    holds_vectors : bool
        True if a column may hold vectors.
    settings : tuple of str
        Settings that it reads in addition to those of all texts.
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
    holds_vectors: bool = False
    settings: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def label_settings(self) -> list[str]:
        """Settings that say where the labels of a record are."""
        settings = []
        if self.has_columns:
            settings.append("labels_column")
        if self.has_separator:
            settings.append("label_separator")
        return settings

    @property
    def read(self) -> Callable[..., Any]:
        """The function ``reader``."""
        return _import_function(self.reader)

    @property
    def read_batches(self) -> Callable[..., Any]:
        """The function ``batches``."""
        return _import_function(self.batches)


def _import_function(function: str | Callable[..., Any]) -> Callable[..., Any]:
    if isinstance(function, str):
        return resolve_name(f"ovaflow.reading.{function}")
    return function


_TABLE: dict[str, Any] = {"has_columns": True, "has_separator": True, "holds_vectors": True}
_ENCODING = ("encoding",)
_FEATURES: dict[str, Any] = {"holds_texts": False}
_MARC: dict[str, Any] = {
    "has_columns": True,
    "columns": {"text_column": "245,246,520,505", "labels_column": "650,655"},
}

FORMATS = {
    "csv": Format("csv_table.read", (".csv",), settings=("encoding", "quotes"), **_TABLE),
    "jsonl": Format("json_lines.read", (".jsonl", ".ndjson"), settings=_ENCODING, **_TABLE),
    "parquet": Format("parquet.read", (".parquet",), **_TABLE),
    "xlsx": Format("spreadsheet.read", (".xlsx", ".xlsm"), settings=("sheet",), **_TABLE),
    "ods": Format("spreadsheet.read", (".ods",), settings=("sheet",), **_TABLE),
    "text-tsv": Format(
        "text_tsv.read", (".tsv",), is_ambiguous=True, has_separator=True, settings=_ENCODING
    ),
    "fasttext": Format("fasttext.read", (".ft", ".fasttext"), settings=_ENCODING),
    "annif": Format("annif.read"),
    "marc": Format("marc.read", (".mrc", ".marc"), **_MARC),
    "marcxml": Format("marc.read_xml", (".xml", ".marcxml"), **_MARC),
    "svmlight": Format(
        "sparse_text.read_svmlight",
        (".svm", ".svmlight", ".libsvm"),
        "sparse_text.svmlight_batches",
        settings=("first_feature",),
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

LINES_FORMAT = "lines"
PLAIN_LINES = Format("plain_lines.read", settings=("encoding", "repeated"))
"""One text per line, and the name of the format; only files to predict may have it.

Its settings are all that it reads.
"""


def file_ending(path: StrPath) -> str:
    """Return the ending of a file's name before compression, in lower case.

    It is ``.csv`` for ``a.CSV.gz``, and empty for a name without one.
    """
    name = Path(path).name.lower()
    for ending in COMPRESSED_ENDINGS:
        name = name.removesuffix(ending)
    _, dot, ending = name.rpartition(".")
    return f".{ending}" if dot else ""


def guess_format(path: StrPath) -> str | None:
    """Guess the format of a file by its name; None if no format has its ending."""
    ending = file_ending(path)
    for name, format in FORMATS.items():
        if ending in format.endings:
            return name
    return None
