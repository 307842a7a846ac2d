"""Which labels are included and excluded when a dataset is prepared."""

import fnmatch

import numpy as np
import pytest
from animals import HERE, write_animals
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.data.label_choice import LabelFinder

TABLE = "text,labels\nblack cats,cats|pets\ncats and dogs,cats|dogs|pets\nbarking dogs,dogs\nsnow,winter\n"
NAMES = ["cats", "dogs", "pets", "winter"]


@pytest.fixture
def prepare(tmp_path, capsys):
    """Prepare the table with options; returns names of labels, the labels of each record, and what was said."""

    def prepared(*options, table=TABLE, status=0):
        (tmp_path / "a.csv").write_text(table)
        files = [f"--{role}={tmp_path}/a.csv" for role in ("train", "test")]
        words = ["prepare", "--format=csv", *files, "--label-separator=|", "--min-df=1", "--max-df=1.0"]
        assert main([*words, *options, f"--output={tmp_path}/d.h5"]) == status
        said = capsys.readouterr()
        if status:
            return said.err
        dataset = open_dataset(tmp_path / "d.h5")
        Y, names = dataset.test.Y, np.array(list(dataset.label_names))
        rows = [list(names[row]) for row in np.split(Y.indices, Y.indptr[1:-1])]
        return list(names), rows, said.out

    return prepared


def test_records_keep_their_other_labels(prepare):
    names, rows, said = prepare("--exclude=pets", "--exclude=win*")
    assert names == ["cats", "dogs"]
    assert rows == [["cats"], ["cats", "dogs"], ["dogs"], []]
    assert "2 labels are left out by include and exclude, 6 times in instances" in said


def test_records_left_without_labels_are_dropped_if_unlabelled_ones_are(prepare):
    assert prepare("--include=pets", "--unlabelled=drop")[1] == [["pets"], ["pets"]]


def test_a_file_of_labels_and_new_names(prepare, tmp_path):
    (tmp_path / "map.csv").write_text("winter,season\n")
    (tmp_path / "few.txt").write_text("season\n\n<dogs>\tHunde\n")
    names, rows, _ = prepare(f"--label-map={tmp_path}/map.csv", f"--include={tmp_path}/few.txt")
    assert (names, rows) == (["dogs", "season"], [[], ["dogs"], ["dogs"], ["season"]])
    assert "give one .txt file or a list" in prepare("--exclude=a.txt", "--exclude=b", status=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--exclude=cat"], "no label 'cat'; did you mean 'cats'?"),
        (["--include=x*"], "no label 'x*'; give names, URIs, or patterns with *"),
        (["--exclude=*"], "include and exclude leave no label"),
    ],
)
def test_a_choice_that_means_nothing_is_one_clear_line(prepare, options, message):
    assert message in prepare(*options, status=2)


def test_labels_of_a_file_keep_their_numbers(prepare, tmp_path):
    (tmp_path / "names.txt").write_text("\n".join(NAMES))
    table = "text,labels\nblack cats,0|2\ncats and dogs,0|1|2\nwinter snow,3\n"
    options = [f"--labels={tmp_path}/names.txt", "--exclude=cats", "--exclude=winter"]
    names, rows, _ = prepare(*options, table=table)
    assert (names, rows) == (NAMES, [["pets"], ["dogs", "pets"], []])
    dataset = open_dataset(tmp_path / "d.h5")
    # neither records nor names of labels are texts of labels left out
    assert np.flatnonzero(np.bincount(dataset.train.Y.indices, minlength=4)).tolist() == [1, 2]


def test_features_without_texts(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("3 2 3\n0,2 0:1\n0 1:1\n2 0:1 1:1\n")
    files = [f"--{role}={tmp_path}/a.txt" for role in ("train", "test")]
    assert main(["prepare", "--format=xmc-text", *files, "--exclude=0", f"--output={tmp_path}/d.h5"]) == 0
    assert open_dataset(tmp_path / "d.h5").train.Y.indices.tolist() == [2, 2]
    assert "1 labels are left out by include and exclude, 4 times" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--exclude", f"{HERE}places"], ["birds", "cats", "dogs"]),
        (["--exclude", f"{HERE}Place"], ["birds", "cats", "dogs"]),
        (["--include", f"{HERE}pets"], ["cats", "dogs"]),
        (["--include", f"{HERE}animals", "--exclude", f"{HERE}*s"], None),
        (["--include", f"{HERE}animals", "--exclude", "<http://example.org/cats>"], ["birds", "dogs"]),
    ],
)
def test_groups_of_a_vocabulary(tmp_path, capsys, options, names):
    status = main([*write_animals(tmp_path), *options, f"--output={tmp_path}/d.h5"])
    if names is None:
        assert status == 2
        assert "leave no label" in capsys.readouterr().err
        return
    dataset = open_dataset(tmp_path / "d.h5")
    assert list(dataset.label_names) == names
    assert "not in the vocabulary" not in capsys.readouterr().out
    sizes = {uri: len(ids) for uri, ids in dataset.names.groups.items()}
    assert sizes[f"{HERE}pets"] == len({"cats", "dogs"} & set(names))
    assert f"{HERE}places" not in sizes


MARKS = st.text("ab*[]?!", min_size=1, max_size=4)


@given(st.lists(MARKS, min_size=1, max_size=6, unique=True), MARKS)
def test_a_star_is_all_that_is_special(names, entry):
    theirs = [entry] if entry in names else []
    if "*" in entry and not theirs:
        escaped = "".join(f"[{each}]" if each in "[?" else each for each in entry)
        theirs = [name for name in names if fnmatch.fnmatchcase(name, escaped)]
    ours = LabelFinder(names).ids_of(entry)
    assert sorted(names[label] for label in ours) == sorted(theirs)
