"""Files that no format is for: refused by name and by content, in one line whose advice is followed
here.
"""

import io
import os
import pickle
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
import yaml
from commands import ovaflow
from sheets import make_ods, make_xlsx

ROWS = [
    ('it\'s a "cat", black', "cat"),
    ("dogs; and 100% more", "dog"),
    ("birds sing", "bird|pet"),
] * 2
FRAME = pandas.DataFrame(ROWS, columns=["text", "labels"])
READ = ["bird", "cat", "dog", "pet"], 12, 16


def write_sqlite(path) -> None:
    """Write a database of SQLite with a table of the records."""
    with sqlite3.connect(path) as connection:
        FRAME.to_sql("records", connection, index=False)
    connection.close()


def make_archive(method) -> bytes:
    """Make an archive with the records as CSV."""
    buffer = io.BytesIO()
    packing = {"method": method, "archive_name": "records.csv"}
    FRAME.to_csv(buffer, index=False, compression=packing)
    return buffer.getvalue()


def make_feather() -> bytes:
    buffer = io.BytesIO()
    FRAME.to_feather(buffer)
    return buffer.getvalue()


def make_npz() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, a=np.ones(2))
    return buffer.getvalue()


def make_arff() -> bytes:
    rows = FRAME.to_csv(
        quotechar="'", escapechar="\\", doublequote=False, header=False, index=False, quoting=1
    )
    head = (
        "% made up\n@RELATION 'records'\n\n"
        "@attribute text string\n@ATTRIBUTE labels string\n\n@DATA\n"
    )
    return f"{head}{rows}".replace("\n", "\r\n").encode()


def make_ris() -> bytes:
    lines = []
    for text, labels in ROWS:
        lines += ["TY  - JOUR", f"TI  - {text}"]
        lines += [f"KW  - {label}" for label in labels.split("|")]
        lines += ["ER  - ", ""]
    return "\r\n".join(lines).encode()


FILES = {
    "zip": make_archive("zip"),
    "tar": make_archive("tar"),
    "arff": make_arff(),
    "ris": make_ris(),
    "json": FRAME.to_json(orient="records").encode(),
    "pkl": pickle.dumps(FRAME),
    "feather": make_feather(),
}
MADE = {
    "zip": "records.csv",
    "tar": "records.csv",
    "arff": "new.csv",
    "db": "new.csv",
    "ris": "new.jsonl",
    "json": "new.jsonl",
    "pkl": "new.parquet",
    "feather": "new.parquet",
}
ALL_WORDS = ["--label-separator=|", "--min-df=1", "--max-df=1.0"]
COLUMNS = {"ris": ["--text-column=TI", "--labels-column=KW"]}


def read_only_line(message) -> str:
    """Return the one line of an error, which may follow the usage of the command."""
    assert message.count("\n") <= 1 + message.count("Usage")
    return message.strip().splitlines()[-1]


@pytest.mark.parametrize("kind", MADE)
def test_the_advice_is_followed(prepare, kind) -> None:
    old = Path(f"old.{kind}")
    if kind == "db":
        write_sqlite(old)
    else:
        old.write_bytes(FILES[kind])
    message = read_only_line(ovaflow("train", old, status=2))
    assert message.startswith(f"ovaflow: error: {old}: .{kind} files are not read; ")
    command = re.search(r"(?<=: )(python3|tar) .*", message)[0]
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = os.environ | {"PATH": programs}
    done = subprocess.run(["bash", "-c", command], env=shell, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    new = Path(MADE[kind])
    columns = COLUMNS.get(kind, [])
    read = prepare(new, [f"--test={new}", *columns, *ALL_WORDS])
    assert list(read.dataset.test_texts()) == [text for text, _ in ROWS]
    assert read.found == READ


SHEETS = {"One": [list(FRAME), *ROWS]}
CONTENTS = {
    "zip": (FILES["zip"], "zipfile -e"),
    "tar": (FILES["tar"], "tar -xf"),
    "arff": (FILES["arff"], "write it as CSV"),
    "ris": (FILES["ris"], "labels_column: KW"),
    "pkl": (FILES["pkl"], "read_pickle"),
    "feather": (FILES["feather"], "read_table"),
    "xlsx": (make_xlsx(SHEETS), "set format: xlsx"),
    "ods": (make_ods(SHEETS), "set format: ods"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "pdftotext"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "save it as .xlsx"),
    "bib": (b"\xef\xbb\xbf\n@Article{key,\n title = {Bees}\n}\n", "Zotero"),
    "parquet": (FRAME.to_parquet(), "set format: parquet"),
    "npz": (make_npz(), "set format: npz"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + bytes(50), "7z x"),
}


@pytest.mark.parametrize("format", ["csv", "jsonl", "text-tsv", "fasttext", "annif"])
@pytest.mark.parametrize("kind", CONTENTS)
def test_the_content_tells(prepare, kind, format) -> None:
    content, advice = CONTENTS[kind]
    said = prepare(content, [f"--format={format}"]).said
    assert ", not text; " in said
    assert advice in said


def test_a_database_is_told_by_its_content(tmp_path) -> None:
    write_sqlite(tmp_path / "a.csv")
    message = read_only_line(ovaflow("train", tmp_path / "a.csv", "--dry-run", status=2))
    assert "is a database of SQLite, not text; write a table" in message


def test_a_format_of_the_config_that_is_none(tmp_path) -> None:
    config = {"datasets": {"a": {"format": "arff", "train": "a.arff"}}, "runs": {"msi": {}}}
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(config))
    message = read_only_line(ovaflow("run", tmp_path / "a.yaml", status=2))
    assert "datasets.a.format: arff is not read; write it as CSV: python3" in message


def test_texts_may_speak_of_such_files(tmp_path, prepare) -> None:
    lines = "cat\t%PDF is a mark\ndog\tPK is no zip\nbird\t@article and TY  - \n"
    options = ["--format=text-tsv", f"--test={tmp_path}/a.csv", *ALL_WORDS]
    assert prepare(lines, options).found[1] == 6
