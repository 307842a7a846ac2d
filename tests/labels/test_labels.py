from itertools import chain

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

from ovaflow.labels.lists import LabelLists
from ovaflow.labels.matrix import NamedLabels, NumberedLabels, read_label_names

names = st.text(max_size=3)
lists = st.lists(st.lists(names, max_size=5), max_size=8)


def make_lists(labels, rows) -> LabelLists:
    lists = LabelLists(labels.number_of)
    for row in rows:
        lists.append(row)
    return lists


@given(lists, lists)
def test_names_as_scikit_learn_binarizes_them(train, test) -> None:
    labels = NamedLabels()
    ours = labels.matrices(make_lists(labels, train), make_lists(labels, test))
    binarizer = MultiLabelBinarizer().fit(train)
    assert ours.names == list(binarizer.classes_)
    known = [[label for label in row if label in ours.names] for row in test]
    for matrix, rows in ((ours.train, train), (ours.test, known)):
        np.testing.assert_array_equal(matrix.to_scipy().toarray(), binarizer.transform(rows))
        assert matrix.to_scipy().has_canonical_format
    test_labels = list(chain(*test))
    labelled = [row for row in test if row]
    labelled_as_known = [row for row in known if row]
    assert ours.counts == {
        "test_labels_unknown_in_train": len(test_labels) - len(list(chain(*known))),
        "different_test_labels_unknown_in_train": len(set(test_labels) - set(ours.names)),
        "test_with_unknown_labels_only": len(labelled) - len(labelled_as_known),
    }


def test_numbers_are_columns() -> None:
    labels = NumberedLabels(["a", "b", "c"])
    train = make_lists(labels, [["2", "0", "02"], []])
    ours = labels.matrices(train, make_lists(labels, [["1"]]))
    assert ours.names == ["a", "b", "c"]
    assert ours.train.to_scipy().toarray().tolist() == [[1, 0, 1], [0, 0, 0]]
    assert ours.test.to_scipy().toarray().tolist() == [[0, 1, 0]]


def read_names(folder, text) -> list[str]:
    (folder / "labels.txt").write_text(text, encoding="utf-8")
    names, _ = read_label_names(folder / "labels.txt")
    return names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a\nb\n", ["a", "b"]),
        ("a\r\n\nb\n\n\n", ["a", "label 1", "b"]),
        ("id:1\tSport\nid:2\tArt \n", ["Sport", "Art"]),
        ("id:1\tBank\nid:2\tBank\nid:3\tArt\n", ["Bank (id:1)", "Bank (id:2)", "Art"]),
        ("id:1\t\nid:2\tA\tB\n", ["id:1", "A B"]),
        ("a\na\n", ["a (0)", "a (1)"]),
        ("x\ta\ny\ta\nz\ta (x)\n", ["a (x) (0)", "a (y)", "a (x) (2)"]),
        ("", []),
    ],
)
def test_names_are_read_from_lines(tmp_path, text, names) -> None:
    assert read_names(tmp_path, text) == names


@given(st.lists(st.text("ab ()01\t", max_size=9), max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_names_are_distinct(tmp_path, lines) -> None:
    names = read_names(tmp_path, "\n".join([*lines, "end"]))
    assert len(names) == len(set(names)) == len(lines) + 1
    assert all(names)
