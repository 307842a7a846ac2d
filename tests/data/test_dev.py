"""A validation part: it is read as a test set is, and nothing else depends on it."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from commands import ovaflow
from pydantic import ValidationError
from records import write_records

from ovaflow.data.dataset import open_dataset
from ovaflow.settings.source import Source

LIMITS = "--min-df=1 --max-df=1.0 "
FILES = f"--format=csv --train=train.csv {LIMITS}"
AMOUNTS = {"train": 80, "test": 30, "dev": 20}


def record(number, part):
    words = " ".join(f"word{(number * step) % 89}" for step in range(1, 12))
    # what only one part has
    return {
        "id": f"r{number}",
        "text": f"{words} only{part}{number % 2}",
        "labels": f"name {number % 7},of {part}",
        "part": part,
    }


@pytest.fixture
def tables(prepare):
    """Prepares as options say, where there is a file of each part and one of all."""
    every, start = [], 0
    for part, amount in AMOUNTS.items():
        write_records(f"{part}.csv", [record(number, part) for number in range(start, start + amount)])
        every += [record(number, part) for number in range(start, start + amount)]
        start += amount
    write_records("all.csv", every)
    return prepare


def content(split):
    """All that a dataset stores of a split but texts and twins."""
    arrays = (*split.X.arrays, *split.Y.arrays, split.norms, *split.tokens[1:])
    return [split.X.n_columns, list(split.tokens.words), *(array.tolist() for array in arrays)]


def test_a_dev_file_is_read_as_a_test_file_and_the_rest_is_as_without_it(tables):
    ours = tables(f"{FILES} --test=test.csv --dev=dev.csv --reading=reading.json")
    assert "80 training, 20 dev and 30 test instances" in tables.said
    assert "train.csv, test.csv, dev.csv" in json.loads(open("reading.json").read())["lines"]["file"]
    (ours_dev, of_dev), named = (content(ours.dev), ours.ids("dev")), ours.label_counts()
    parts, names = [content(ours.train), content(ours.test)], (list(ours.label_names), list(ours.feature_names))
    theirs = tables(f"{FILES} --test=dev.csv")
    assert (ours_dev, of_dev) == (content(theirs.test), theirs.ids("test"))
    theirs = tables(f"{FILES} --test=test.csv")
    assert parts == [content(theirs.train), content(theirs.test)]
    assert names == (list(theirs.label_names), list(theirs.feature_names))
    assert "onlytrain0" in names[1]
    assert "of dev" not in names[0]
    assert (named[1], theirs.label_counts()[1]) == (130, 110)
    assert theirs.dev is None


def test_a_dev_file_beside_records_that_are_set_aside(tables):
    dataset = tables(f"{FILES} --dev=dev.csv")
    assert dataset.n_documents + dataset.test.X.n_rows == AMOUNTS["train"]
    assert dataset.records("dev", range(2)) == ["r110", "r111"]


@pytest.mark.parametrize("options", ["", "--repeated=join", "--no-label-names"])
def test_a_column_says_what_is_dev(tables, options):
    dataset = tables(f"--format=csv --train=all.csv --split-column=part {LIMITS} {options}")
    ours = dataset.dev.X.to_scipy().toarray(), dataset.records("dev", range(20))
    assert "20 dev and 30 test instances" in tables.said
    theirs = tables(f"{FILES} --test=dev.csv {options}")
    np.testing.assert_array_equal(ours[0], theirs.test.X.to_scipy().toarray())
    assert ours[1] == theirs.records("test", range(20))


def test_what_is_held_out_has_no_dev_part(tables):
    tables(f"{FILES} --test=test.csv --dev=dev.csv")
    ovaflow("hold-out", "dataset.h5", "--records=records.csv", "--output=held.h5")
    ovaflow("hold-out-fold", "dataset.h5", "--output=fold.h5")
    assert [open_dataset(name).dev for name in ("held.h5", "fold.h5")] == [None, None]
    rows = list(csv.DictReader(open("records.csv")))
    assert {row["id"] for row in rows if row["part"] == "dev"} == {f"r{number}" for number in range(110, 130)}


def test_ids_that_parts_share_have_their_part(tables):
    dataset = tables(f"{FILES} --test=test.csv --dev=test.csv")
    assert dataset.ids("dev")[0] == "dev r80"
    assert replace(dataset, dev=None).ids("test")[0] == "r80"


def test_doubts_about_a_dev_part_are_told(tables):
    write_records("bare.csv", [record(number, "dev") | {"labels": ""} for number in range(5)])
    for path, told in {
        "train.csv": "the dev file is the training file or the test file",
        "test.csv": "the dev file is the training file or the test file",
        "bare.csv": "5 of 5 dev instances have no label",
    }.items():
        tables(f"{FILES} --test=test.csv --dev={path}")
        assert told in tables.said


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"--format=csv --train=all.csv --split-column=part {LIMITS} --dev=all.csv", "and there is a dev file; leave"),
        ("--format=xmc-text --train=train.csv --dev=dev.csv", "dev goes with texts, not with features; leave it out"),
        (f"{FILES} --dev=nowhere.csv", "nowhere.csv: cannot be read (No such file"),
    ],
)
def test_what_cannot_be_a_dev_part_is_refused(tables, line, told):
    assert told in tables(line, status=2)


def test_a_config_refuses_a_dev_part_of_features():
    for entry in {"format": "svmlight", "train": "a", "dev": "b"}, {"source": "builtin", "dev": "b"}:
        with pytest.raises(ValidationError, match=r"dev goes with texts|excludes dev"):
            Source.model_validate(entry)
    assert Source(format="csv", train="a", dev=["b", "c"]).dev == ["b", "c"]
