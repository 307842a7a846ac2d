from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

from ovaflow.data.label_lists import LabelLists
from ovaflow.data.labels import NamedLabels, NumberedLabels, read_label_names

names = st.text(max_size=3)
lists = st.lists(st.lists(names, max_size=5), max_size=8)


def matrices_of(labels, train, test):
    parts = []
    for rows in (train, test):
        parts.append(LabelLists(labels.number_of))
        for row in rows:
            parts[-1].append(row)
    return labels.matrices(*parts)


@given(lists, lists)
def test_names_as_scikit_learn_binarizes_them(train, test):
    ours_names, ours_train, ours_test, counts = matrices_of(NamedLabels(), train, test)
    binarizer = MultiLabelBinarizer().fit(train)
    assert ours_names == list(binarizer.classes_)
    np.testing.assert_array_equal(ours_train.to_scipy().toarray(), binarizer.transform(train))
    known = [[label for label in row if label in ours_names] for row in test]
    np.testing.assert_array_equal(ours_test.to_scipy().toarray(), binarizer.transform(known))
    assert counts["test_labels_unknown_in_train"] == sum(map(len, test)) - sum(map(len, known))
    assert counts["different_test_labels_unknown_in_train"] == len({*chain(*test)} - {*chain(*train)})
    without = [labels for labels, left in zip(test, known, strict=True) if labels and not left]
    assert counts["test_with_unknown_labels_only"] == len(without)
    for matrix in (ours_train, ours_test):
        assert all((np.diff(matrix.indices[a:b]) > 0).all() for a, b in pairwise(matrix.indptr))
        assert (matrix.data == 1).all()


def test_numbers():
    names, train, test, _ = matrices_of(NumberedLabels(["a", "b", "c"]), [["2", "0", "02"], []], [["1"]])
    assert names == ["a", "b", "c"]
    np.testing.assert_array_equal(train.to_scipy().toarray(), [[1, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(test.to_scipy().toarray(), [[0, 1, 0]])


def names_of(folder, text):
    (folder / "labels.txt").write_text(text, encoding="utf-8")
    return read_label_names(folder / "labels.txt")[0]


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
def test_names(tmp_path, text, names):
    assert names_of(tmp_path, text) == names


@given(st.lists(st.text("ab ()01\t", max_size=9), max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_names_are_distinct(tmp_path, lines):
    names = names_of(tmp_path, "\n".join([*lines, "end"]))
    assert len(names) == len(set(names)) == len(lines) + 1
    assert all(names)
