"""Kinds of files that are not read: how they are recognized, and what converts them."""

import re

from ovaflow.console.errors import InputError, StrPath
from ovaflow.reading.formats import file_ending

_PYTHON = 'python3 -c "{}" < old{} > new{}'
_WRITE_ROWS = "w=csv.writer(sys.stdout); w.writerow({}); w.writerows({})"
_WRITE_SQLITE_ROWS = _WRITE_ROWS.format("d[0] for d in c.description", "c")
_ARFF_COMMAND = _PYTHON.format(
    r"import csv,re,sys; h,d=re.split('(?im)^@data.*\n',sys.stdin.read().replace('\r','')); "
    + _WRITE_ROWS.format(
        r"re.findall('(?im)^@attribute[ \t]+([^ \t]+)',h)",
        r"csv.reader(d.split('\n'),quotechar='\'',escapechar='\\\\',skipinitialspace=1)",
    ),
    ".arff",
    ".csv",
)
_SQLITE = (
    'write a table as CSV: python3 -c "import csv,sqlite3,sys; '
    "c=sqlite3.connect('old.db').execute('select * from records'); "
    f'{_WRITE_SQLITE_ROWS}" > new.csv'
)
_RIS_COMMAND = _PYTHON.format(
    "import json,re,sys; [print(json.dumps({t:[v for k,v in f if k==t] for t,_ in f})) "
    r"for r in re.split('\nER +-',sys.stdin.read()) "
    r"if (f:=re.findall('(?m)^([A-Z][A-Z0-9]) +- (.*?)\r?$',r))]",
    ".ris",
    ".jsonl",
)
ONE_OBJECT_PER_LINE = "write one object per line: " + _PYTHON.format(
    "import json,sys; [print(json.dumps(r)) for r in json.load(sys.stdin)]", ".json", ".jsonl"
)
"""Remedy for an array of JSON."""
ONE_LINE_PER_OBJECT = "write each object in one line: " + _PYTHON.format(
    r"import json,re,sys; [print(json.dumps(json.loads(r))) "
    r"for r in re.split('(?m)(?<=^})\s*(?={)',sys.stdin.read())]",
    ".json",
    ".jsonl",
)
"""Remedy for objects of JSON that span lines."""
NAMES_FOR_LISTS = "write objects, with a name for each value: " + _PYTHON.format(
    "import json,sys; [print(json.dumps(dict(zip([{}],json.loads(r))))) "
    "for r in sys.stdin if r.strip()]",
    ".jsonl",
    ".jsonl",
)
"""Remedy for lists of values, whose quoted names it takes."""
_ARROW = (
    'write it as Parquet: python3 -c "import pyarrow.feather as f, pyarrow.parquet as p; '
    "p.write_table(f.read_table('old.feather'),'new.parquet')\""
)
_PICKLE = (
    'write it as Parquet: python3 -c "import pandas; '
    "pandas.read_pickle('old.pkl').to_parquet('new.parquet')\""
)
_ZOTERO = (
    "export it as CSV, with Zotero for example, and set text_column: Title,Abstract Note, "
    'labels_column: Manual Tags and label_separator: ";"'
)
_VOCABULARY = (
    "it is a vocabulary: give it with the setting vocabulary, and the texts as another file"
)
_UNZIP = "unpack it: python3 -m zipfile -e old.zip ."
_UNTAR = "unpack it: tar -xf old.tar"
_AS_TEXT = "save it as plain text"
_AS_SHEET = "save it as .xlsx or as CSV UTF-8"

_REMEDIES = {
    ".xls": _AS_SHEET,
    ".json": f"set format: jsonl if each line is a record, else {ONE_OBJECT_PER_LINE}",
    ".arff": f"write it as CSV: {_ARFF_COMMAND}",
    ".zip": _UNZIP,
    ".tar": _UNTAR,
    ".tgz": _UNTAR,
    ".7z": "unpack it: 7z x old.7z",
    ".db": _SQLITE,
    ".sqlite": _SQLITE,
    ".sqlite3": _SQLITE,
    ".ris": "set text_column: TI,AB (or T1,N2) and labels_column: KW, "
    f"and write it as JSON Lines: {_RIS_COMMAND}",
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
"""Remedies by the ending of files that no format is for."""

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
    rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument\.spreadsheet": (
        "a spreadsheet",
        "ods",
    ),
    rb"PK\x03\x04.{26}(?:\[Content_Types\]|_rels/|docProps/|xl/)": (
        "of Excel or Word",
        "xlsx if it is a table, else save it as plain text",
    ),
    rb"PK\x03\x04.{26}.{0,99}\.npy": ("of NumPy", "npz"),
    rb"PK\x03\x04": ("an archive", ".zip"),
    rb"PAR1": ("a Parquet table", "parquet"),
}
"""First bytes of files that do not hold text, with a name for people.

The last value is an ending of those above, or else a format.
"""


def refuse_foreign(path: StrPath) -> None:
    """Refuse a file by the ending of its name, with what to do instead."""
    ending = file_ending(path)
    if ending in _REMEDIES:
        raise InputError(f"{ending} files are not read", path=path, remedy=_REMEDIES[ending])


def refuse_content(beginning: bytes, path: StrPath) -> None:
    """Refuse a file by its first bytes, whatever its name or its format."""
    for pattern, (name, kind) in _KINDS.items():
        if re.match(pattern, beginning, re.DOTALL | re.IGNORECASE):
            remedy = _REMEDIES.get(kind) or f"set format: {kind}"
            raise InputError(f"is {name}, not text", path=path, remedy=remedy)


def find_conversion(name: str) -> str | None:
    """Find the remedy for files of a kind that is no format, such as ``arff``."""
    return _REMEDIES.get(f".{name.lower()}")
