"""What a model was trained on is read again by ``predict`` without a setting: the same features and ids, in order."""

import gzip
import json
from pathlib import Path

import pandas
import pyarrow
import pytest
from commands import ovaflow
from marc_records import binary, xml
from read_again import assert_read_again
from sheets import ods, xlsx

from ovaflow.data.dataset import open_dataset
from ovaflow.reading.formats import format_of

WORDS = ["bees", "honey", "wax", "café蜜蜂", "<b>Œuvre</b>"]
RECORDS = [(f"n{i}", f"{WORDS[i % 5]} and {WORDS[i % 3]}", ["a", "b", "c"][: 1 + i % 3]) for i in range(12)]
FRAME = pandas.DataFrame(RECORDS, columns=["Id", "text", "labels"])
FRAME["price"], FRAME["place"] = range(12), [*"abc"] * 4
JOINED = FRAME.assign(labels=FRAME["labels"].map("|".join))
TWICE = pandas.concat([FRAME.explode("labels"), FRAME[:3].assign(labels="d")])
SHEETS = {"Notes": [["nothing"]], "Data": [["A title"], [*JOINED], *JOINED.to_numpy().tolist()]}
MARC = [[("001", id), ("245", "a", text), *(("650", "a", each) for each in labels)] for id, text, labels in RECORDS]
BAR, ID = "--label-separator=|", "--id-column=ID"
BESIDE = "--number-columns=price", "--category-columns=place"


def lines(line):
    return "".join(f"{line(text, labels)}\n" for _, text, labels in RECORDS).encode()


def csv(frame, **how):
    return frame.to_csv(index=False, **how).encode(how.get("encoding", "utf-8"), "replace")


def json_lines(frame):
    return frame.to_json(orient="records", lines=True).encode()


TSV = lines(lambda text, labels: f"{'|'.join(labels)}\t{text}")
ANNIF = ["--format=annif"]
DOCUMENTS = {
    f"{id}.json": json.dumps({"text": text, "subjects": [{"uri": each} for each in labels]}).encode()
    for id, text, labels in RECORDS
}
WITH_URIS = FRAME.assign(subject_uris=FRAME["labels"].map(" ".join))
FULL_TEXTS = {f"full/{id}.txt": text.encode() for id, text, _ in RECORDS}
FULL_TEXTS |= {f"full/{id}.tsv": "".join(f"<{each}>\n" for each in labels).encode() for id, _, labels in RECORDS}
SVM = "".join(f"{i % 3} {1 + i % 4}:1 6:{i}.5\n" for i in range(12)).encode()
"""Files by name, and how they are read; a pattern or a folder is what its files are in."""
FORMATS = {
    "a.csv": ({"a.csv": csv(JOINED)}, [BAR, ID]),
    "numbers.csv": ({"numbers.csv": csv(JOINED)}, [BAR, *BESIDE]),
    "weighted.csv": ({"weighted.csv": csv(JOINED)}, [BAR, "--text-column=text,place", "--column-weights=[2, 1]"]),
    "html.csv": ({"html.csv": csv(JOINED)}, [BAR, "--html"]),
    "missing.csv": ({"missing.csv": csv(JOINED)}, [BAR, "--missing=bees and bees"]),
    "1252.csv": ({"1252.csv": csv(JOINED, sep=";", encoding="windows-1252")}, [BAR, "--encoding=windows-1252"]),
    "one-hot.csv": ({"one-hot.csv": csv(FRAME.join(JOINED["labels"].str.get_dummies()))}, ["--labels-column=a,b,c"]),
    "joined.csv": ({"joined.csv": csv(TWICE)}, ["--repeated=join", ID]),
    "last.csv": ({"last.csv": csv(TWICE)}, ["--repeated=last", ID]),
    "id.csv": ({"id.csv": csv(JOINED)}, [BAR, "--id-column=id"]),
    "labels.csv": (
        {"labels.csv": csv(JOINED[["text", "labels"]].set_axis(["text", "id"], axis=1))},
        ["--labels-column=id", BAR],
    ),
    "a.csv.gz": ({"a.csv.gz": gzip.compress(csv(JOINED))}, [BAR]),
    "a.csv.zst": ({"a.csv.zst": pyarrow.compress(csv(JOINED), codec="zstd", asbytes=True)}, [BAR]),
    "parts/*.csv": ({"parts/1.csv": csv(TWICE[:9]), "parts/2.csv": csv(TWICE[9:])}, ["--repeated=last", ID]),
    "parts/*": ({"parts/1": TSV, "parts/2.txt": TSV}, ["--format=text-tsv", BAR]),
    "a.jsonl": ({"a.jsonl": json_lines(FRAME)}, ["--id-column=Id", *BESIDE]),
    "vectors.jsonl": (
        {"vectors.jsonl": json_lines(FRAME.assign(vector=[[1.0 + i, 0.5] for i in range(12)]))},
        ["--vector-column=vector"],
    ),
    "a.parquet": ({"a.parquet": FRAME.to_parquet()}, [ID, *BESIDE]),
    "a.xlsx": ({"a.xlsx": xlsx(SHEETS)}, [BAR, ID, "--sheet=Data"]),
    "a.ods": ({"a.ods": ods(SHEETS)}, [BAR, ID, "--sheet=Data"]),
    "a.tsv": ({"a.tsv": TSV}, [BAR]),
    "a.ft": ({"a.ft": lines(lambda text, labels: " ".join([*(f"__label__{each}" for each in labels), text]))}, []),
    "a.mrc": ({"a.mrc": binary(MARC)}, []),
    "a.xml": ({"a.xml": xml(MARC)}, []),
    "full": (FULL_TEXTS, ANNIF),
    "json": ({f"json/{name}": content for name, content in DOCUMENTS.items()}, ANNIF),
    "annif.jsonl": ({"annif.jsonl": b"\n".join(DOCUMENTS.values())}, ANNIF),
    "annif.csv": ({"annif.csv": csv(WITH_URIS)}, ANNIF),
    "annif.tsv": ({"annif.tsv": lines(lambda text, labels: f"{text}\t{' '.join(labels)}")}, ANNIF),
    "a.svm": ({"a.svm": SVM}, []),
    "a.txt": ({"a.txt": b"12 7 3\n" + SVM}, []),
}


UNLABELLED = {
    "a.csv": csv(FRAME[["Id", "text"]]),
    "one-hot.csv": csv(FRAME[["Id", "text"]]),
    "a.jsonl": json_lines(FRAME.drop(columns="labels")),
    "a.parquet": FRAME.drop(columns="labels").to_parquet(),
    "a.tsv": lines(lambda text, _: text),
    "a.ft": lines(lambda text, _: text),
    "a.xml": xml([record[:2] for record in MARC]),
    "annif.jsonl": lines(lambda text, _: json.dumps({"text": text})),
    "annif.csv": csv(FRAME[["text"]]),
    "annif.tsv": lines(lambda text, _: text),
}


def written(files):
    for path, content in files.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_bytes(content)


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_features_and_ids(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    files, options = FORMATS[name]
    written(files)
    given = f"--train={name}", f"--test={name}", f"--format={format_of(name) or 'csv'}", *options
    ovaflow("prepare", *given, "--output=d.h5", "--min-df=1", "--max-df=1.0")
    dataset = open_dataset("d.h5")
    assert_read_again(dataset, name, tmp_path)
    if name in UNLABELLED:
        written({name: UNLABELLED[name]})
        assert_read_again(dataset, name, tmp_path)
    if name == "full":
        for path in Path(name).glob("*.tsv"):
            path.unlink()
        assert_read_again(dataset, name, tmp_path)
