"""A new kind of column beside the text is one entry: whatever reads, trains or answers has it."""

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import h5py
import pandas as pd
import pytest
from commands import split_words

# many processes of their own
pytestmark = pytest.mark.long

COLUMN = Path(__file__).with_name("date_column.py")
FRAME = pd.DataFrame(
    [
        {
            "id": f"r{number}",
            "text": f"word{number % 5} word{number % 7}",
            "labels": "old" if number % 2 else "new",
            "published": date(1950 if number % 2 else 2010, 1 + number % 12, 1),
        }
        for number in range(80)
    ]
)
"""The date alone says the label."""
OPTIONS = "--date-columns=published"


@pytest.fixture(scope="module")
def ovaflow(tmp_path_factory):
    """The command, in a folder of its own, where the entry is made."""
    folder = tmp_path_factory.mktemp("dates")
    (folder / "sitecustomize.py").write_text("import date_column\n")
    places = os.pathsep.join([str(folder), str(COLUMN.parent)])

    def run(*words):
        command = [sys.executable, "-m", "ovaflow", *split_words(words)]
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": places},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    run.folder = folder
    FRAME.to_csv(folder / "records.csv", index=False)
    prepared = (
        "prepare",
        "--format=csv",
        "--train=records.csv",
        OPTIONS,
        "--min-df=1",
        "--output=dataset.h5",
    )
    run.said = run(*prepared)
    run("means", "dataset.h5", "--output=means.h5")
    run("plan", "dataset.h5", "--shards=1", "--output=shards.tsv")
    run(
        "train-shard",
        "dataset.h5",
        "--means=means.h5",
        "--plan=shards.tsv",
        "--shard=0",
        "--output=0.h5",
    )
    run("merge", "0.h5", "--dataset=dataset.h5", "--output=model.h5", "--statistics=training.h5")
    return run


def read_column_features(path) -> dict:
    with h5py.File(path) as file:
        return json.loads(file.attrs["parameters"])["columns"]


def test_it_is_a_setting_and_what_was_read_is_shown(ovaflow) -> None:
    written = ovaflow("train", "records.csv", OPTIONS, "--print-config")
    assert "date_columns: published" in written
    assert "column of dates, or several" in ovaflow("prepare", "--help")
    assert "'published', 1950 to 2010" in ovaflow.said


def test_training_and_held_out_parts_have_its_features(ovaflow) -> None:
    ovaflow("hold-out", "dataset.h5", "--fraction=0.3", "--output=held.h5")
    for path in ("dataset.h5", "held.h5"):
        [column] = read_column_features(ovaflow.folder / path)["dates"]
        assert (column["name"], int(column["least"])) == ("published", 1950)


NEW = FRAME.head(4).drop(columns="labels").assign(text="unknown")
WRITERS = {
    "csv": lambda path: NEW.to_csv(path, index=False),
    "jsonl": lambda path: NEW.astype(str).to_json(path, orient="records", lines=True),
    "parquet": NEW.to_parquet,
}


@pytest.mark.parametrize("kind", WRITERS)
def test_files_of_tables_are_predicted_by_it(ovaflow, kind) -> None:
    name = f"new.{kind}"
    WRITERS[kind](ovaflow.folder / name)
    ovaflow("predict", "model.h5", name, "--top-k=1", "--output=answers.jsonl")
    lines = (ovaflow.folder / "answers.jsonl").read_text().splitlines()
    answers = [json.loads(line) for line in lines]
    assert [answer["labels"][0]["name"] for answer in answers] == ["new", "old", "new", "old"]


PAGE = """
from ovaflow.serving.served_model import open_served_model

[field] = open_served_model("model.h5").form_fields
print(field.name, field.is_number, int(field.usual.least))
"""


def test_the_page_has_a_field_for_it(ovaflow) -> None:
    places = os.pathsep.join([str(ovaflow.folder), str(COLUMN.parent)])
    environment = {**os.environ, "PYTHONPATH": places}
    done = subprocess.run(
        [sys.executable, "-c", PAGE],
        cwd=ovaflow.folder,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.stdout.split() == ["published", "False", "1950"], done.stderr
