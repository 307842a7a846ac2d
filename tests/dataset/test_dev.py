"""A validation part: it is read as a test set is, and nothing else depends on it."""

from pathlib import Path

import pytest
from commands import ovaflow
from records import read_records, write_records

from ovaflow.dataset.dataset import open_dataset

FILES = "--format=csv --min-df=1 --max-df=1.0 --train="
ROWS = {"train": range(80), "test": range(80, 110), "dev": range(110, 130)}


def make_record(number, part) -> dict[str, str]:
    """Make a record of a part."""
    # each part has words and labels of its own
    words = " ".join(f"word{(number * step) % 89}" for step in range(1, 12))
    text = f"{words} only{part}{number % 2}"
    return {
        "id": f"r{number}",
        "text": text,
        "labels": f"name {number % 7},of {part}",
        "part": part,
    }


@pytest.fixture
def tables(prepare):
    """Write a file of each part and one of all; return a function that prepares with options."""
    parts = {}
    for part, numbers in ROWS.items():
        parts[part] = [make_record(number, part) for number in numbers]
    for name, records in parts.items():
        write_records(f"{name}.csv", records)
    write_records("all.csv", [*parts["train"], *parts["test"], *parts["dev"]])
    return prepare


def read_part(dataset, part) -> list[list]:
    """Read all that a dataset stores of a part."""
    split = dataset.parts[part]
    words = [split.tokens.words[word] for word in split.tokens.ids]
    arrays = [*split.X.arrays, *split.Y.arrays, split.norms]
    return [words, dataset.ids(part), *(array.tolist() for array in arrays)]


def test_a_dev_part_is_read_as_a_test_file_and_the_rest_is_as_without_it(tables) -> None:
    dev = read_part(tables(f"{FILES}train.csv --test=dev.csv"), "test")
    theirs = tables(f"{FILES}train.csv --test=test.csv")
    train = read_part(theirs, "train")
    test = read_part(theirs, "test")
    # read before the file is replaced
    names = theirs.names
    for source in (
        "train.csv --test=test.csv --dev=dev.csv --reading=reading.json",
        "all.csv --split-column=part",
    ):
        ours = tables(FILES + source)
        assert "80 training, 20 dev and 30 test instances" in tables.said
        assert read_part(ours, "dev") == dev
        assert read_part(ours, "train") == train
        assert read_part(ours, "test") == test
        assert ours.names.labels == names.labels
        assert ours.names.features == names.features
    assert "train.csv, test.csv, dev.csv" in Path("reading.json").read_text()


def test_what_is_held_out_has_no_dev_part(tables) -> None:
    tables(f"{FILES}train.csv --dev=dev.csv")
    ovaflow("hold-out", "dataset.h5", "--records=records.csv", "--output=held.h5")
    ovaflow("hold-out-fold", "dataset.h5", "--output=fold.h5")
    assert open_dataset("held.h5").dev is None
    assert open_dataset("fold.h5").dev is None
    assert [row["part"] for row in read_records("records.csv")].count("dev") == 20


def test_doubts_about_a_dev_part_are_told(tables) -> None:
    tables(f"{FILES}train.csv --test=test.csv --dev=test.csv")
    assert "the dev file is the training file or the test file" in tables.said


def test_what_cannot_be_a_dev_part_is_refused(tables) -> None:
    said = tables(f"{FILES}all.csv --split-column=part --dev=all.csv", status=2)
    assert "and there is a dev file; leave out one of them" in said
    said = tables("--format=xmc-text --train=train.csv --dev=all.csv", status=2)
    assert "dev goes with texts, not with features; leave it out" in said
