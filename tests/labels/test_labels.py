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


def matrices_of(labels, train, test):
    parts = []
    for rows in (train, test):
        parts.append(LabelLists(labels.number_of))
        for row in rows:
            parts[-1].append(row)
    return labels.matrices(*parts)


@given(lists, lists)
def test_names_as_scikit_learn_binarizes_them(train, test) -> None:
    names, *matrices, counts = matrices_of(NamedLabels(), train, test)
    binarizer = MultiLabelBinarizer().fit(train)
    assert names == list(binarizer.classes_)
    known = [[label for label in row if label in names] for row in test]
    for ours, theirs in zip(matrices, (train, known), strict=True):
        ours = ours.to_scipy()
        np.testing.assert_array_equal(ours.toarray(), binarizer.transform(theirs))
        assert ours.has_canonical_format
    assert counts == {
        "test_labels_unknown_in_train": sum(map(len, test)) - sum(map(len, known)),
        "different_test_labels_unknown_in_train": len({*chain(*test)} - {*names}),
        "test_with_unknown_labels_only": sum(map(bool, test)) - sum(map(bool, known)),
    }


def test_numbers() -> None:
    names, *matrices, _ = matrices_of(
        NumberedLabels(["a", "b", "c"]), [["2", "0", "02"], []], [["1"]]
    )
    assert names == ["a", "b", "c"]
    assert [each.to_scipy().toarray().tolist() for each in matrices] == [
        [[1, 0, 1], [0, 0, 0]],
        [[0, 1, 0]],
    ]


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
def test_names(tmp_path, text, names) -> None:
    assert names_of(tmp_path, text) == names


@given(st.lists(st.text("ab ()01\t", max_size=9), max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_names_are_distinct(tmp_path, lines) -> None:
    names = names_of(tmp_path, "\n".join([*lines, "end"]))
    assert len(names) == len(set(names)) == len(lines) + 1
    assert all(names)
