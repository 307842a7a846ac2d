"""The registry of formats: how files of each kind are called, what they hold, and what reads them.

Settings and the workflow are made from it, so a reader is named here and imported where a file is read.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from ovaflow.console.errors import InputError, StrPath

PACKED = (".gz", ".bz2", ".xz", ".zst")
"""Endings of compressed files' names."""


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Parameters
    ----------
    reader : str or callable
        Of texts: gives the instances of a :class:`ovaflow.reading.streams.File` as a
        :class:`ovaflow.reading.instances.Reading` says. Of features: gives all matrices of some files.
        A text is a module of this room and a function.
    endings : tuple of str
        Of names of files; the first format of the registry with an ending has it.
    batches : str or callable
        Of features: gives matrices of some rows at a time.
    holds_texts : bool
        Texts with labels; else matrices of features.
    has_columns : bool
        Records have named columns, so that settings may choose among them.
    is_ambiguous : bool
        Names with its endings may hold plain lines or anything else.
    settings : tuple of str
        Of its own, besides those of all texts.
    columns : dict
        What ``text_column`` and ``labels_column`` are by default.
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
    if callable(function):
        return function
    module, _, name = function.partition(".")
    reader: Callable[..., Any] = getattr(import_module(f"ovaflow.reading.{module}"), name)
    return reader


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
    "text-tsv": Format("text_tsv.read", (".tsv",), is_ambiguous=True, has_separator=True, settings=_LINES),
    "fasttext": Format("fasttext.read", (".ft", ".fasttext"), settings=_LINES),
    "annif": Format("annif.read"),
    "marc": Format("marc.read", (".mrc", ".marc"), **_MARC),
    "marcxml": Format("marc.read_xml", (".xml", ".marcxml"), **_MARC),
    "svmlight": Format(
        "sparse_text.read_svmlight_files", (".svm", ".svmlight", ".libsvm"), "sparse_text.svmlight_batches", **_FEATURES
    ),
    "xmc-text": Format(
        "sparse_text.read_xmc_files", (".txt",), "sparse_text.xmc_batches", is_ambiguous=True, **_FEATURES
    ),
    "npz": Format("npz.read", (".npz", ".npy"), "npz.batches", **_FEATURES),
}
"""Formats by their names in a config."""

PLAIN_LINES = Format("plain_lines.read")
"""One text per line, which only files to predict may be."""

_PYTHON = 'python3 -c "{}" < old{} > new{}'
_ROWS = "w=csv.writer(sys.stdout); w.writerow({}); w.writerows({})"
_OF_SQLITE = _ROWS.format("d[0] for d in c.description", "c")
_ARFF = _PYTHON.format(
    r"import csv,re,sys; h,d=re.split('(?im)^@data.*\n',sys.stdin.read().replace('\r','')); "
    + _ROWS.format(
        r"re.findall('(?im)^@attribute[ \t]+([^ \t]+)',h)",
        r"csv.reader(d.split('\n'),quotechar='\'',escapechar='\\\\',skipinitialspace=1)",
    ),
    ".arff",
    ".csv",
)
_SQLITE = (
    "write a table as CSV: python3 -c \"import csv,sqlite3,sys; c=sqlite3.connect('old.db').execute("
    f"'select * from records'); {_OF_SQLITE}\" > new.csv"
)
_RIS = _PYTHON.format(
    "import json,re,sys; [print(json.dumps({t:[v for k,v in f if k==t] for t,_ in f})) "
    r"for r in re.split('\nER +-',sys.stdin.read()) if (f:=re.findall('(?m)^([A-Z][A-Z0-9]) +- (.*?)\r?$',r))]",
    ".ris",
    ".jsonl",
)
ONE_A_LINE = "write one object per line: " + _PYTHON.format(
    "import json,sys; [print(json.dumps(r)) for r in json.load(sys.stdin)]", ".json", ".jsonl"
)
"""What to do about an array of JSON."""
_ARROW = (
    'write it as Parquet: python3 -c "import pyarrow.feather as f, pyarrow.parquet as p; '
    "p.write_table(f.read_table('old.feather'),'new.parquet')\""
)
_PICKLE = "write it as Parquet: python3 -c \"import pandas; pandas.read_pickle('old.pkl').to_parquet('new.parquet')\""
_ZOTERO = (
    "export it as CSV, with Zotero for example, and set text_column: Title,Abstract Note, labels_column: Manual Tags "
    'and label_separator: ";"'
)
_VOCABULARY = "it is a vocabulary: give it with the setting vocabulary, and the texts as another file"
_UNZIP, _UNTAR = "unpack it: python3 -m zipfile -e old.zip .", "unpack it: tar -xf old.tar"
_AS_TEXT, _AS_SHEET = "save it as plain text", "save it as .xlsx or as CSV UTF-8"

_FOREIGN = {
    ".xls": _AS_SHEET,
    ".json": f"set format: jsonl if each line is an object, else {ONE_A_LINE}",
    ".arff": f"write it as CSV: {_ARFF}",
    ".zip": _UNZIP,
    ".tar": _UNTAR,
    ".tgz": _UNTAR,
    ".7z": "unpack it: 7z x old.7z",
    ".db": _SQLITE,
    ".sqlite": _SQLITE,
    ".sqlite3": _SQLITE,
    ".ris": f"set text_column: TI,AB (or T1,N2) and labels_column: KW, and write it as JSON Lines: {_RIS}",
    ".bib": _ZOTERO,
    ".bibtex": _ZOTERO,
    ".pkl": _PICKLE,
    ".pickle": _PICKLE,
    ".feather": _ARROW,
    ".arrow": _ARROW,
    ".rdf": _VOCABULARY,
    ".ttl": _VOCABULARY,
    ".pdf": "write its text to a file: pdftotext old.pdf new.txt",
    ".doc": _AS_TEXT,
    ".docx": _AS_TEXT,
}
"""What to do about files that no format is for."""

_KINDS = {
    rb"SQLite format 3\x00": ("a database of SQLite", ".db"),
    rb"%PDF-": ("a PDF", ".pdf"),
    rb"\xd0\xcf\x11\xe0": ("of an older Excel or Word", ".xls"),
    rb"7z\xbc\xaf\x27\x1c": ("an archive", ".7z"),
    rb".{257}ustar": ("an archive", ".tar"),
    rb"ARROW1\x00|FEA1": ("an Arrow table", ".feather"),
    rb"\x80[\x02-\x05].{0,20}c|\x80[\x04\x05]\x95": ("a pickle of Python", ".pkl"),
    rb"\s*(?:%[^\n]*\n\s*)*@relation\s": ("ARFF", ".arff"),
    rb"(?:\xef\xbb\xbf)?\s*TY  - ": ("RIS", ".ris"),
    rb"(?:\xef\xbb\xbf)?\s*@(?:article|book|inproceedings|misc|phdthesis)\s*\{": ("BibTeX", ".bib"),
    rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument\.spreadsheet": ("a spreadsheet", "ods"),
    rb"PK\x03\x04.{26}(?:\[Content_Types\]|_rels/|docProps/|xl/)": (
        "of Excel or Word",
        "xlsx if it is a table, else save it as plain text",
    ),
    rb"PK\x03\x04.{26}.{0,99}\.npy": ("of NumPy", "npz"),
    rb"PK\x03\x04": ("an archive", ".zip"),
    rb"PAR1": ("a Parquet table", "parquet"),
}
"""How files begin that hold something else than text: what they are, and an ending of those above or a format."""


def ending_of(path: StrPath) -> str:
    """The ending of a file's name, compressed or not, in lower case: ``.csv`` of ``a.CSV.gz``; empty without one."""
    name = Path(path).name.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    _, dot, ending = name.rpartition(".")
    return f".{ending}" if dot else ""


def format_of(path: StrPath) -> str | None:
    """Format of a file by its name; None if that tells none."""
    ending = ending_of(path)
    return next((name for name, each in FORMATS.items() if ending in each.endings), None)


def refuse_foreign(path: StrPath) -> None:
    """Refuse a file whose name is that of a kind which is not read, with what to do instead."""
    ending = ending_of(path)
    if ending in _FOREIGN:
        raise InputError(f"{ending} files are not read", path=path, remedy=_FOREIGN[ending])


def refuse_content(beginning: bytes, path: StrPath) -> None:
    """Refuse a file that begins as one of another kind does, whatever its name or its format says."""
    for mark, (name, kind) in _KINDS.items():
        if re.match(mark, beginning, re.DOTALL | re.IGNORECASE):
            remedy = _FOREIGN.get(kind) or f"set format: {kind}"
            raise InputError(f"is {name}, not text", path=path, remedy=remedy)


def conversion_of(name: str) -> str | None:
    """What to do about files of a kind that is no format, such as ``arff``."""
    return _FOREIGN.get(f".{name.lower()}")
