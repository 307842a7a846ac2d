"""Files of label names."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovaflow.console.errors import InputError
from ovaflow.data.readers.label_names import read_label_names


def names_of(folder, text, **options):
    path = folder / "labels.txt"
    path.write_text(text, encoding="utf-8")
    return read_label_names(path, **options)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a\nb\n", ["a", "b"]),
        ("a\r\n\nb\n\n\n", ["a", "label 1", "b"]),
        ("id:1\tSport\nid:2\tArt \n", ["Sport", "Art"]),
        ("id:1\tBank\nid:2\tBank\nid:3\tArt\n", ["Bank (id:1)", "Bank (id:2)", "Art"]),
        ("id:1\t\nid:2\tA\tB\n", ["id:1", "A\tB"]),
        ("a\na\n", ["a (0)", "a (1)"]),
        ("x\ta\ny\ta\nz\ta (x)\n", ["a (x) (0)", "a (y)", "a (x) (2)"]),
        ("", []),
    ],
)
def test_names(tmp_path, text, names):
    assert names_of(tmp_path, text) == names


@given(st.lists(st.text("ab ()01\t", max_size=9), max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_names_are_distinct(tmp_path, lines):
    names = names_of(tmp_path, "\n".join([*lines, "end"]))
    assert len(names) == len(set(names)) == len(lines) + 1
    assert all(names)


def test_wrong_number_of_names(tmp_path):
    with pytest.raises(InputError, match="2 names for 3 labels"):
        names_of(tmp_path, "a\nb\n", n_labels=3)


def test_real_names(real_data):
    for name, n_labels in (("tibkat/labels.txt.gz", 35116), ("bibtex/labels.txt", 159)):
        names = read_label_names(real_data / name, n_labels)
        assert len(set(names)) == n_labels
