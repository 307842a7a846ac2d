"""All formats of texts: the same records from each; and a format that is added in one file."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import list_label_values, read_answers
from written_formats import FILE_CONTENTS, RECORDS

from ovaflow.console.errors import InputError
from ovaflow.reading.formats import FORMATS, guess_format
from ovaflow.reading.instances import Reading, TextInstance
from ovaflow.reading.streams import RecordFile

TEXT_FORMATS = [name for name, kind in FORMATS.items() if kind.holds_texts]
TABLES = [name for name, kind in FORMATS.items() if kind.has_columns and not kind.columns]
"""Formats whose files name their columns."""


def make_reading(kind, labels_column="labels") -> Reading:
    """Make the reading of the written records, in the format's own columns if it has some."""
    columns = {"text_column": "text", "labels_column": labels_column} | FORMATS[kind].columns
    texts = columns["text_column"].split(",")
    return Reading(texts, columns["labels_column"].split(","), separator="|")


def read_instances(path, kind) -> list[TextInstance]:
    return list(FORMATS[kind].read(RecordFile(path), make_reading(kind)))


def test_the_records_are_written_in_every_format_of_texts() -> None:
    assert list(FILE_CONTENTS) == TEXT_FORMATS


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("kind", TEXT_FORMATS)
def test_the_same_records_from_each_format(tmp_path, kind, pack) -> None:
    path = tmp_path / "file.data"
    path.write_bytes(pack(FILE_CONTENTS[kind]))
    ours = [(each.id, each.text, list(each.labels)) for each in read_instances(path, kind)]
    assert ours == [(id * FORMATS[kind].has_columns, text, labels) for id, text, labels in RECORDS]


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_shows_its_columns_and_is_refused_without_one(tmp_path, kind) -> None:
    path = tmp_path / "file.data"
    path.write_bytes(FILE_CONTENTS[kind])
    reading = make_reading(kind, labels_column="subjects")
    with pytest.raises(InputError, match="no column 'subjects', there are 'id', 'text', 'labels'"):
        list(FORMATS[kind].read(RecordFile(path), reading))
    assert list(reading.seen["columns"]) == ["id", "text", "labels"]


@pytest.mark.parametrize("kind", FORMATS)
def test_the_page_about_predictions_names_the_format(kind) -> None:
    page = Path(__file__).parents[2] / "docs" / "prediction.md"
    assert f"`{kind}`" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", FORMATS)
def test_endings_tell_the_format(kind) -> None:
    for ending in FORMATS[kind].endings:
        for name in (f"a{ending}", f"a.b{ending.upper()}.gz", f"a{ending}.zst"):
            assert guess_format(name) == kind


@pytest.mark.parametrize(
    ("line", "text", "labels"),
    [
        ("__label__a __label__b-c some  text\r\n", "some text", ("a", "b-c")),
        ("text __label__a in between __label__b\n", "text in between", ("a", "b")),
        (
            "__label__vin\u00a0rouge\ttext __label__ x__label__y\n",
            "text x__label__y",
            ("vin rouge",),
        ),
        ("no label", "no label", ()),
    ],
)
def test_lines_of_fasttext(tmp_path, line, text, labels) -> None:
    (tmp_path / "a.ft").write_text(f"\n{line}", encoding="utf-8", newline="")
    [ours] = read_instances(tmp_path / "a.ft", "fasttext")
    assert (ours.text, ours.labels, ours.location) == (text, labels, "line 2")


def test_lines_of_fasttext_that_are_called_txt(advised) -> None:
    content = "__label__a bees sing\n__label__b cats purr\n" * 3
    read = advised(
        content, ["--max-df=1.0"], "set format: fasttext", "--format=fasttext", name="a.txt"
    )
    assert read.found == (["a", "b"], 6, 6)


# a format in one file: texts and labels on lines of their own, between empty lines
ADDED = """
from ovaflow.reading.formats import FORMATS, Format


def read(file, reading):
    record = []
    first = 1
    with file.lines() as lines:
        for number, line in lines:
            if line.strip():
                record.append(line.strip())
            elif record:
                yield reading.make_plain_instance(record[0], record[1:], file.name, first)
                record = []
                first = number + 1
        if record:
            yield reading.make_plain_instance(record[0], record[1:], file.name, first)


FORMATS["stanzas"] = Format(read, (".stanza",), settings=("encoding",))
"""

COMMANDS = """
import contextlib, io, json, sys
import added
from ovaflow.cli import main
from ovaflow.dataset.dataset import open_dataset
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_model

def run(*words):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        assert main([*words]) == 0, words
    return output.getvalue()

found = {"config": run("train", "a.stanza.gz", "--print-config")}
files = ["--train=a.stanza.gz", "--test=b.stanza", "--extra=c.stanza", "--extra-weight=2"]
run("prepare", "--format=stanzas", *files, "--min-df=1", "--max-df=1.0", "--output=a.h5")
dataset = open_dataset("a.h5")
found["labels"] = [*dataset.label_names]
found["extra"] = dataset.parameters["source"]["counts"]["extra_instances"]
train_model(dataset, TrainLabels(), 0.0).write("model.h5")
run("predict", "model.h5", "b.stanza", "--top-k=1", "--output=b.jsonl")
run("evaluate", "b.stanza", "--model=model.h5", "--output=metrics.json")
print(json.dumps(found))
"""


def test_a_new_format_is_one_file(tmp_path) -> None:
    """It is known to the config, by its ending, and to all commands that read texts."""
    assert ADDED.count("\n") <= 40
    animals = ""
    for i in range(9):
        for animal in ("cat", "dog"):
            animals += f"{animal} number{i}\n{animal}\npet\n\n"
    (tmp_path / "a.stanza.gz").write_bytes(gzip.compress(animals.encode()))
    (tmp_path / "b.stanza").write_text("cat five\ncat\n\n\ndog five\ndog")
    (tmp_path / "c.stanza").write_text("bird\nbird\n")
    (tmp_path / "added.py").write_text(ADDED)
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "format: stanzas" in found.pop("config")
    assert found == {"labels": ["bird", "cat", "dog", "pet"], "extra": 1}
    answers = list_label_values(read_answers(tmp_path / "b.jsonl"))
    assert [len(labels) for labels in answers] == [1, 1]
    metrics = json.loads((tmp_path / "metrics.json").read_text())["models"][0]["metrics"]
    assert metrics["records"] == 2
