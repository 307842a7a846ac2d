import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.console.errors import InputError
from ovaflow.data.layouts import join_features_and_labels, read_header, split_instances

ROWS = ["0,2 1:0.5 3:1", " 0:1", "1", "2 2:7", "0 0:1 1:1"]


def written(path, text):
    path.write_text(text)
    return path


def split(folder, train, test, rows=ROWS, n=5):
    data = written(folder / "data", f"{n} 4 3\n" + "\n".join(rows))
    paths = folder / "train.txt", folder / "test.txt"
    split_instances(data, written(folder / "tr", train), written(folder / "tst", test), *paths)
    return [path.read_text().splitlines() for path in paths]


def test_the_first_column_decides(tmp_path):
    train, test = split(tmp_path, "1 5\n5 4\n3 2\n", "2 1\n4 3\n")
    assert train == ["3 4 3", ROWS[0], ROWS[2], ROWS[4]]
    assert test == ["2 4 3", ROWS[1], ROWS[3]]


@given(st.data())
def test_every_instance_goes_where_its_id_is(tmp_path_factory, data):
    n = data.draw(st.integers(1, 12))
    side = data.draw(st.lists(st.sampled_from(["train", "test", "none"]), min_size=n, max_size=n))
    rows = [f"{i} {i}:1" for i in range(n)]
    ids = {name: [i + 1 for i in range(n) if side[i] == name] for name in ("train", "test")}
    texts = ["".join(f"{i}\n" for i in ids[name]) for name in ("train", "test")]
    ours = split(tmp_path_factory.mktemp("split"), *texts, rows, n)
    theirs = [[f"{len(ids[name])} 4 3", *np.array(rows)[np.array(ids[name], int) - 1]] for name in ("train", "test")]
    assert ours == theirs


@pytest.mark.parametrize(
    ("train", "test", "complaint"),
    [
        ("1\n6\n", "2\n", r"tr, line 2: not the id of an instance \(1 to 5\)"),
        ("0\n", "2\n", "tr, line 1: not the id"),
        ("1\n", "x\n", "tst, line 1: not the id"),
        ("1\n1\n", "2\n", "some ids stand twice"),
        ("1\n2\n", "2\n", "tst: some instances are in both"),
    ],
)
def test_wrong_ids(tmp_path, train, test, complaint):
    with pytest.raises(InputError, match=complaint):
        split(tmp_path, train, test)


@pytest.mark.parametrize(("n", "complaint"), [(4, "more lines than the 4"), (6, "5 lines and not the 6")])
def test_wrong_number_of_lines(tmp_path, n, complaint):
    with pytest.raises(InputError, match=complaint):
        split(tmp_path, "1\n", "2\n", n=n)


def test_features_and_labels_are_joined(tmp_path):
    features = written(tmp_path / "x", "3 5\n0:0.5 4:1\n\n2:3\n")
    labels = written(tmp_path / "y", "3 7\n6:1.00000 2:1\n0:1 1:0.0\n\n")
    join_features_and_labels(features, labels, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "3 5 7\n6,2 0:0.5 4:1\n0 \n 2:3\n"


def test_joined_files_must_have_the_same_number_of_rows(tmp_path):
    with pytest.raises(InputError, match="2 rows, and 3 in x"):
        join_features_and_labels(written(tmp_path / "x", "3 5\n"), written(tmp_path / "y", "2 7\n"), tmp_path / "out")


@pytest.mark.parametrize("text", ["", "1\n", "1 2 x\n", "0 1:2 3:4\n", "1 2 3 4\n"])
def test_header(tmp_path, text):
    with pytest.raises(InputError, match="line 1: the first line must say"):
        read_header(written(tmp_path / "a", text))
