"""Columns that a model was trained on are read again by ``predict`` without an option.

Features and ids are the same, in order.

The files that people have, in tests/reading/test_cases.py, are held to the same.
"""

import json
from pathlib import Path

import pytest
from commands import ovaflow
from prediction_reading import assert_predict_reads_the_same
from written_formats import FILE_CONTENTS, FRAME, JOINED, RECORDS

from ovaflow.dataset.dataset import open_dataset
from ovaflow.reading.formats import FORMATS

NUMBERED = FRAME.assign(price=range(5), place=[*"abcab"], vector=[[i, 0.5] for i in range(5)])
CSV = FILE_CONTENTS["csv"]
LINES = FILE_CONTENTS["jsonl"]
TWICE = JOINED.assign(text=JOINED["text"] + " again").to_csv(index=False).encode()
OLD = {f"full/{id}.txt": text.encode() for id, text, _ in RECORDS}
WITH_SUBJECTS = OLD | {f"full/{id}.tsv": f"<{labels[:1]}>\n".encode() for id, _, labels in RECORDS}
COLUMNS = ["--number-columns=price", "--category-columns=place"]
URIS = JOINED.rename(columns={"labels": "subject_uris"})
SUBJECTS = FRAME.assign(
    subjects=FRAME["labels"].map(lambda labels: [{"uri": each} for each in labels or ["none"]])
)
FILES = {
    **{
        f"a.{kind}": ({f"a.{kind}": content}, [f"--format={kind}"])
        for kind, content in FILE_CONTENTS.items()
    },
    "ID.csv": ({"ID.csv": CSV.replace(b"id", b"Call No", 1)}, ["--id-column=call no"]),
    "label.csv": (
        {"label.csv": CSV.replace(b"id,text,labels", b"n,text,id")},
        ["--labels-column=id"],
    ),
    "weights.csv": ({"weights.csv": CSV}, ["--text-column=text,id", "--column-weights=[2, 1]"]),
    "parts/*.csv": ({"parts/1.csv": CSV, "parts/2.csv": TWICE}, ["--repeated=last"]),
    "parts/*": (
        {"parts/1": FILE_CONTENTS["text-tsv"], "parts/2.txt": FILE_CONTENTS["text-tsv"]},
        ["--format=text-tsv"],
    ),
    **{
        f"{kind} in parts": (
            {f"{kind} in parts/part-0": content, f"{kind} in parts/_SUCCESS": b""},
            [f"--format={kind}"],
        )
        for kind, content in FILE_CONTENTS.items()
        if kind != "annif"
    },
    "lines in parts": (
        {"lines in parts/part-0.txt": FILE_CONTENTS["text-tsv"]},
        ["--format=text-tsv"],
    ),
    "objects in parts": ({"objects in parts/part-0.json": LINES}, ["--format=jsonl"]),
    "columns.parquet": ({"columns.parquet": NUMBERED.to_parquet()}, ["--format=parquet", *COLUMNS]),
    "vectors.parquet": (
        {"vectors.parquet": NUMBERED.to_parquet()},
        ["--format=parquet", "--vector-column=vector"],
    ),
    "full": (WITH_SUBJECTS, ["--format=annif"]),
    "annif.csv": ({"annif.csv": URIS.to_csv(index=False).encode()}, ["--format=annif"]),
    "annif.jsonl": (
        {"annif.jsonl": SUBJECTS.to_json(orient="records", lines=True).encode()},
        ["--format=annif"],
    ),
}
"""Files by the names that both commands are given, and options of training."""
UNLABELLED = {
    "a.csv": FRAME.drop(columns="labels").to_csv(index=False).encode(),
    "a.jsonl": FRAME.drop(columns="labels").to_json(orient="records", lines=True).encode(),
    "annif.csv": FRAME[["text"]].to_csv(index=False).encode(),
    "annif.jsonl": LINES,
}


def write(files) -> None:
    for path, content in files.items():
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_bytes(content)


@pytest.mark.parametrize("name", FILES)
def test_the_same_features_and_ids(tmp_path, monkeypatch, name) -> None:
    monkeypatch.chdir(tmp_path)
    files, options = FILES[name]
    write(files)
    given = ["--format=csv", f"--train={name}", f"--test={name}", *options]
    format = [option for option in given if option.startswith("--format")][-1]
    if FORMATS[format.removeprefix("--format=")].has_separator:
        given.append("--label-separator=|")
    ovaflow("prepare", given, "--output=d.h5", "--min-df=1", "--max-df=1.0")
    dataset = open_dataset("d.h5")
    assert_predict_reads_the_same(dataset, name, tmp_path)
    ovaflow("evaluate", name, "--model=model.h5", "--output=figures.json")
    [figures] = json.loads(Path("figures.json").read_text())["models"]
    assert figures["metrics"]["records"] == dataset.test.X.n_rows
    # nor are labels needed
    if name in UNLABELLED:
        write({name: UNLABELLED[name]})
    for path in Path("full").glob("*.tsv"):
        path.unlink()
    assert_predict_reads_the_same(dataset, name, tmp_path)
