"""Names of columns: one or several, whatever characters they have."""

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from step_settings import parse_options, validate_config

from ovaflow.reading.columns import join_column_names, split_column_names
from ovaflow.settings.config import load_config, resolve_config
from ovaflow.settings.inputs import format_options, make_step_parameters

# of a command line; readers strip names
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
NAME = (
    st.one_of(st.text(CHARACTERS, min_size=1), st.text('a,"\n ', min_size=1))
    .map(str.strip)
    .filter(bool)
)
NAMES = st.lists(NAME, min_size=1, max_size=4)


@given(NAMES, NAMES)
@example(["Title, remainder"], ["labels"])
@example(["What happened?\nPlease describe.", "a"], ['"', '""', ',"', '",'])
@example(['"a', 'b"'], ['"a"'])
def test_names_are_the_same_in_a_config_file_and_in_options(
    tmp_path_factory, texts, labels
) -> None:
    path = tmp_path_factory.getbasetemp() / "names.yaml"
    entry = {"format": "csv", "train": "a.csv", "text_column": texts, "labels_column": labels}
    path.write_text(yaml.safe_dump({"datasets": {"a": entry}, "runs": {"a": {}}}), encoding="utf-8")
    config = resolve_config(load_config(path), {})
    parameters = make_step_parameters("prepare", config, "a")
    names = (parameters["text_column"], parameters["labels_column"])
    assert split_column_names(parameters["text_column"]) == texts
    assert split_column_names(parameters["labels_column"]) == labels
    found = parse_options("prepare", format_options(parameters))
    assert (found.text_column, found.labels_column) == names
    found = parse_options("prepare", (f"--text-column={name}" for name in [*texts, "last"]))
    assert split_column_names(found.text_column) == [*texts, "last"]


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters=',"'))
        .map(str.strip)
        .filter(bool)
    )
)
def test_names_without_commas_are_joined_as_they_are(names) -> None:
    assert join_column_names(names) == ",".join(names)
    assert split_column_names(",".join(names)) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("title,abstract", ["title", "abstract"]),
        (" title , abstract,", ["title", "abstract"]),
        ('"Title, remainder"', ["Title, remainder"]),
        (' "Title, remainder" ,abstract, "a ""b"""', ["Title, remainder", "abstract", 'a "b"']),
        ('5" disks, "a" or b', ['5" disks', '"a" or b']),
        ('"never closed, b', ['"never closed', "b"]),
        ("one\ntwo,three", ["one\ntwo", "three"]),
    ],
)
def test_a_text_of_names(text, names) -> None:
    assert split_column_names(text) == names
    assert validate_config("prepare", text_column=text).text_column == text
