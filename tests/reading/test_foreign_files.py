"""Files that no format is for: refused by name and by content, in one line whose advice is followed here."""

import csv
import io
import json
import os
import pickle
import re
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pandas
import pytest
import yaml
from sheets import ods, xlsx

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset

ROWS = [('it\'s a "cat", black', "cat"), ("dogs; and 100% more", "dog"), ("birds sing", "bird|pet")] * 2
TABLE = [("text", "labels"), *ROWS]


def sqlite(path):
    with sqlite3.connect(path) as connection:
        connection.execute("create table records (text, labels)")
        connection.executemany("insert into records values (?, ?)", ROWS)
    connection.close()


def packed(write, names=("records.csv",)):
    buffer = io.BytesIO()
    write(buffer, names)
    return buffer.getvalue()


def as_csv():
    out = io.StringIO()
    csv.writer(out).writerows(TABLE)
    return out.getvalue()


def zipped(buffer, names):
    with zipfile.ZipFile(buffer, "w") as pack:
        for name in names:
            pack.writestr(name, as_csv())


def tarred(buffer, names):
    content = as_csv().encode()
    with tarfile.open(fileobj=buffer, mode="w") as pack:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            pack.addfile(entry, io.BytesIO(content))


def arff():
    rows = "".join("'{}', '{}'\n".format(*(cell.replace("'", "\\'") for cell in row)) for row in ROWS)
    head = "% made up\n@RELATION 'records'\n\n@attribute text string\n@ATTRIBUTE labels string\n\n@DATA\n"
    return f"{head}{rows}".replace("\n", "\r\n")


def ris():
    lines = []
    for text, labels in ROWS:
        lines += ["TY  - JOUR", f"TI  - {text}", *(f"KW  - {label}" for label in labels.split("|")), "ER  - ", ""]
    return "\r\n".join(lines)


FRAME = pandas.DataFrame(ROWS, columns=["text", "labels"])
FILES = {
    "zip": packed(zipped),
    "tar": packed(tarred),
    "arff": arff().encode(),
    "ris": ris().encode(),
    "json": json.dumps([dict(zip(*pair, strict=True)) for pair in zip([TABLE[0]] * 9, ROWS, strict=False)]).encode(),
    "pkl": pickle.dumps(FRAME),
    "feather": packed(lambda buffer, _: FRAME.to_feather(buffer)),
}
MADE = {"zip": "records.csv", "tar": "records.csv", "ris": "new.jsonl", "json": "new.jsonl"}
MADE |= {"pkl": "new.parquet", "feather": "new.parquet"}
COLUMNS = {"ris": ["--text-column=TI", "--labels-column=KW"]}


def refused(capsys, *arguments):
    assert main([*map(str, arguments)]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") <= 1 + message.count("Usage")
    return message.strip().splitlines()[-1]


@pytest.mark.parametrize("kind", [*FILES, "db"])
def test_the_advice_is_followed(tmp_path, capsys, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    old = Path(f"old.{kind}")
    sqlite(old) if kind == "db" else old.write_bytes(FILES[kind])
    message = refused(capsys, "train", old)
    assert message.startswith(f"ovaflow: error: {old}: .{kind} files are not read; ")
    command = re.search(r"(?<=: )(python3|tar) .*", message)[0]
    shell = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", command], env=shell, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    new = Path(MADE.get(kind, "new.csv"))
    columns = [*COLUMNS.get(kind, []), "--label-separator=|", "--min-df=1", "--max-df=1.0"]
    asked = [f"--format={new.suffix[1:]}", f"--train={new}", f"--test={new}", "--output=a.h5", *columns]
    assert main(["prepare", *asked]) == 0
    dataset = open_dataset("a.h5")
    assert list(dataset.test_texts()) == [text for text, _ in ROWS]
    assert [*dataset.label_names] == ["bird", "cat", "dog", "pet"]


OFFICE = {"xlsx": xlsx({"One": TABLE}), "ods": ods({"One": TABLE})}
CONTENTS = {
    **{kind: FILES[kind] for kind in ("zip", "tar", "arff", "ris", "pkl", "feather")},
    **OFFICE,
    "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100),
    "bib": b"\xef\xbb\xbf\n@Article{key,\n title = {Bees}\n}\n",
    "parquet": packed(lambda buffer, _: FRAME.to_parquet(buffer)),
    "npz": packed(lambda buffer, _: np.savez(buffer, a=np.ones(2))),
    "7z": b"7z\xbc\xaf\x27\x1c" + bytes(50),
}
SAID = {
    "zip": "zipfile -e",
    "tar": "tar -xf",
    "arff": "write it as CSV",
    "ris": "labels_column: KW",
    "pkl": "read_pickle",
    "feather": "read_table",
    "xlsx": "set format: xlsx",
    "ods": "set format: ods",
    "pdf": "pdftotext",
    "xls": "save it as .xlsx",
    "bib": "Zotero",
    "parquet": "set format: parquet",
    "npz": "set format: npz",
    "7z": "7z x",
}


@pytest.mark.parametrize("format", ["csv", "jsonl", "text-tsv", "fasttext", "annif"])
@pytest.mark.parametrize("kind", CONTENTS)
def test_the_content_tells(tmp_path, capsys, kind, format):
    path = tmp_path / "a.data"
    path.write_bytes(CONTENTS[kind])
    message = refused(capsys, "prepare", f"--format={format}", f"--train={path}", f"--output={tmp_path}/a.h5")
    assert ", not text; " in message
    assert SAID[kind] in message


def test_a_database_is_told_by_its_content(tmp_path, capsys):
    sqlite(tmp_path / "a.csv")
    message = refused(capsys, "train", tmp_path / "a.csv", "--dry-run")
    assert "is a database of SQLite, not text; write a table" in message


@pytest.mark.parametrize("kind", OFFICE)
def test_the_format_that_is_advised_reads_the_file(tmp_path, kind):
    (tmp_path / "a.csv").write_bytes(OFFICE[kind])
    asked = [f"--format={kind}", f"--train={tmp_path}/a.csv", f"--test={tmp_path}/a.csv", "--label-separator=|"]
    assert main(["prepare", *asked, "--min-df=1", "--max-df=1.0", f"--output={tmp_path}/a.h5"]) == 0
    assert [*open_dataset(tmp_path / "a.h5").label_names] == ["bird", "cat", "dog", "pet"]


def test_a_format_of_the_config_that_is_none(tmp_path, capsys):
    config = {"datasets": {"a": {"format": "arff", "train": "a.arff"}}, "runs": {"msi": {}}}
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(config))
    message = refused(capsys, "run", tmp_path / "a.yaml")
    assert "datasets.a.format: arff is not read; write it as CSV: python3" in message


def test_texts_may_speak_of_such_files(tmp_path):
    lines = "cat\t%PDF is a mark\ndog\tPK is no zip\nbird\t@article and TY  - \n"
    (tmp_path / "a.tsv").write_text(lines)
    asked = [f"--train={tmp_path}/a.tsv", f"--test={tmp_path}/a.tsv", "--min-df=1", "--max-df=1.0"]
    assert main(["prepare", "--format=text-tsv", *asked, f"--output={tmp_path}/a.h5"]) == 0
