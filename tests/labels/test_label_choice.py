"""Labels that are included and excluded when a dataset is prepared."""

import fnmatch
from pathlib import Path

import numpy as np
import pytest
from animals import HERE, write_animals
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.labels.choice import LabelFinder

TABLE = """text,labels
black cats,cats|pets
cats and dogs,cats|dogs|pets
barking dogs,dogs
snow,winter
"""
FILES = "--format=csv --train=a.csv --test=a.csv --label-separator=| --min-df=1 --max-df=1.0"
NAMES = ["cats", "dogs", "pets", "winter"]


@pytest.fixture
def choose(prepare):
    """A function that prepares the table with options: the dataset, and the names of the labels of
    each record.
    """

    def prepare_table(*options, table=TABLE) -> tuple:
        Path("a.csv").write_text(table)
        dataset = prepare(FILES, *options)
        names = []
        for row in dataset.test.Y.to_scipy().tolil().rows:
            names.append([dataset.label_names[label] for label in row])
        return dataset, names

    return prepare_table


def test_records_keep_their_other_labels(prepare, choose) -> None:
    dataset, rows = choose("--exclude=pets", "--exclude=win*")
    assert dataset.label_names == ["cats", "dogs"]
    assert rows == [["cats"], ["cats", "dogs"], ["dogs"], []]
    assert "2 labels are left out by include and exclude, 6 times in instances" in prepare.said


def test_records_left_without_labels_are_dropped_if_unlabelled_ones_are(choose) -> None:
    assert choose("--include=pets", "--unlabelled=drop")[1] == [["pets"], ["pets"]]


def test_a_file_of_labels_and_new_names(choose, tmp_path) -> None:
    (tmp_path / "map.csv").write_text("winter,season\n")
    (tmp_path / "few.txt").write_text("season\n\n<dogs>\tHunde\n")
    _, rows = choose("--label-map=map.csv", "--include=few.txt")
    assert rows == [[], ["dogs"], ["dogs"], ["season"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--exclude=cat", "no label 'cat'; did you mean 'cats'?"),
        ("--include=x*", "no label 'x*'; give names, URIs, or patterns with *"),
        ("--exclude=*", "include and exclude leave no label"),
        ("--exclude=a.txt --exclude=b", "give one .txt file or a list"),
    ],
)
def test_a_choice_that_means_nothing_is_one_clear_line(prepare, options, message) -> None:
    Path("a.csv").write_text(TABLE)
    assert message in prepare(f"{FILES} {options}", status=2)


def test_labels_of_a_file_keep_their_numbers(choose, tmp_path) -> None:
    (tmp_path / "names.txt").write_text("\n".join(NAMES))
    table = "text,labels\nblack cats,0|2\ncats and dogs,0|1|2\nwinter snow,3\n"
    dataset, rows = choose("--labels=names.txt", "--exclude=cats", "--exclude=winter", table=table)
    assert (dataset.label_names, rows) == (NAMES, [["pets"], ["dogs", "pets"], []])
    # neither records nor names of labels are texts of labels left out
    assert np.flatnonzero(np.bincount(dataset.train.Y.indices, minlength=4)).tolist() == [1, 2]


def test_features_without_texts(prepare, tmp_path) -> None:
    (tmp_path / "a.txt").write_text("3 2 3\n0,2 0:1\n0 1:1\n2 0:1 1:1\n")
    dataset = prepare("--format=xmc-text --train=a.txt --test=a.txt --exclude=0")
    assert dataset.train.Y.indices.tolist() == [2, 2]
    assert "1 labels are left out by include and exclude, 4 times" in prepare.said


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (f"--exclude {HERE}places", ["birds", "cats", "dogs"]),
        (f"--exclude {HERE}Place", ["birds", "cats", "dogs"]),
        (f"--include {HERE}pets", ["cats", "dogs"]),
        (f"--include {HERE}animals --exclude '<{HERE}cats>'", ["birds", "dogs"]),
    ],
)
def test_groups_of_a_vocabulary(prepare, tmp_path, options, names) -> None:
    dataset = prepare(options, *write_animals(tmp_path)[1:])
    assert dataset.label_names == names
    assert "not in the vocabulary" not in prepare.said
    groups = dataset.names.groups
    assert len(groups[f"{HERE}pets"]) == len({"cats", "dogs"} & {*names})
    assert f"{HERE}places" not in groups


def test_groups_may_leave_no_label(prepare, tmp_path) -> None:
    options = f"--include {HERE}animals --exclude {HERE}*s"
    assert "leave no label" in prepare(options, *write_animals(tmp_path)[1:], status=2)


MARKS = st.text("ab*[]?!", min_size=1, max_size=4)


@given(st.lists(MARKS, min_size=1, max_size=6, unique=True), MARKS)
def test_a_star_is_all_that_is_special(names, entry) -> None:
    theirs = [entry]
    if entry not in names:
        escaped = "".join(f"[{each}]" if each in "[?" else each for each in entry)
        theirs = [name for name in names if fnmatch.fnmatchcase(name, escaped)]
    ours = LabelFinder(names).find_ids(entry)
    assert sorted(names[label] for label in ours) == sorted(theirs)
