"""Labels of a cell as programs write them: what is read are the names that were written."""

import json
import re
import unicodedata
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import write_records

from ovaflow.reading.cells import clean_name, parse_truth
from ovaflow.reading.formats import FORMATS
from ovaflow.reading.instances import Reading
from ovaflow.reading.preview import preview_files
from ovaflow.reading.streams import RecordFile


def is_a_name(text) -> bool:
    """Tell whether a text is not a word for an empty cell."""
    cleaned = clean_name(text)
    return cleaned not in ("", "nan", "None", "NULL", "-") and cleaned.casefold() != "n/a"


# names as vocabularies have them, with whatever lists are made of inside
NAME = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=12
).filter(is_a_name)
WORD = st.sampled_from(
    [
        "Science fiction",
        "l’été",
        "O'Brien",
        'a "b"',
        "C, C++",
        "a\\b",
        "{x}",
        "[y]",
        "3",
        "x > y",
        "é",
    ]
)
NAMES = st.lists(st.one_of(WORD, NAME), min_size=1, max_size=6)
PLAIN_NAME = st.from_regex(r"[a-zA-Z#.+-][\w #.+-]{0,10}", fullmatch=True)
PLAIN_NAMES = st.lists(PLAIN_NAME.filter(is_a_name), min_size=1, max_size=6)


def read_labels(cell, **settings) -> list[str]:
    """Read the labels of a cell."""
    labels, _ = Reading(["text"], ["labels"], **settings).parse_judged_labels([cell])
    return list(labels)


def clean_names(names) -> list[str]:
    """Clean names, each once, in their order."""
    cleaned = dict.fromkeys(clean_name(name) for name in names)
    return [name for name in cleaned if name]


def format_postgresql_array(names) -> str:
    """Format names as array_out of PostgreSQL does: plain ones have no quotes."""
    elements = [format_postgresql_element(name) for name in names]
    return "{" + ",".join(elements) + "}"


def format_postgresql_element(name) -> str:
    if re.fullmatch(r'[^{},"\\\s]+', name) and name.casefold() != "null":
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


SEPARATORS = st.sampled_from([",", ";", "|", " ", "none"])
WRITERS = [
    json.dumps,
    partial(json.dumps, indent=2),
    partial(json.dumps, ensure_ascii=False),
    repr,
]
"""Functions that write a list as JSON and as Python does."""


@given(NAMES, SEPARATORS)
def test_lists_as_programs_write_them(names, separator) -> None:
    objects = [{"id": 3, "name": name} for name in names]
    for write in WRITERS:
        for labels in (names, [names], objects):
            ours = read_labels(write(labels), separator=separator, label_key="name")
            assert ours == clean_names(names)


@given(NAMES, SEPARATORS)
def test_lists_without_an_order(names, separator) -> None:
    for cell in (repr(set(names)), format_postgresql_array(names)):
        ours = read_labels(cell, separator=separator)
        assert set(ours) == {clean_name(name) for name in names}, cell


@given(NAMES)
def test_arrays_as_numpy_prints_them(names) -> None:
    array = np.array(names)
    for width in (20, 75):
        with np.printoptions(linewidth=width):
            for cell in (str(array), repr(array), str(array.astype(object))):
                assert read_labels(cell) == clean_names(array.tolist())


def test_arrays_that_numpy_cut_off_are_refused() -> None:
    with np.printoptions(threshold=5):
        names = [f"name {n}" for n in range(50)]
        for array in (np.array(names), np.zeros(50, int), np.arange(50) / 2):
            for cell in (str(array), repr(array)):
                with pytest.raises(ValueError, match="cut off"):
                    read_labels(cell)


@given(PLAIN_NAMES)
def test_tags_and_lists_without_quotes(names) -> None:
    names = [*names, "b"]
    tags = "".join(f"<{name}>" for name in names)
    unquoted_list = f"[{', '.join(names)}]"
    postgresql_array = "{" + ",".join(names) + "}"
    for cell in (tags, unquoted_list, postgresql_array):
        assert read_labels(cell) == clean_names(names)


@pytest.mark.parametrize(
    "name",
    [
        "[Festschrift]",
        "(a name) x",
        "{x",
        "<3 hearts",
        "C<T> generics",
        "a < b > c",
        "[sic] a name",
        "(1) one",
        "<a",
        "[]x",
        "{a} b",
        "[a] [b]",
        "(a)",
        "a [b]",
        "'Tis",
        '"Titel"',
        "(NLP)",
        "[1] a",
        "<b>bold</b> x",
        "(3)",
        "[Paris]: a",
        "array",
        "Index",
    ],
)
def test_names_that_begin_like_lists(name) -> None:
    assert read_labels(name) == read_labels(name, separator="none") == [name]


@pytest.mark.parametrize(
    ("cell", "labels"),
    {
        "[]": "",
        "{}": "",
        "()": "",
        "set()": "",
        "[[]]": "",
        '[""]': "",
        "[None]": "",
        "[nan]": "",
        "[NaN]": "",
        "['a', nan]": "a",
        '["a", null]': "a",
        "{NULL}": "",
        "{a,NULL}": "a",
        "[['a', 'b'], ['c']]": "a b c",
        "('a',)": "a",
        "frozenset({'a'})": "a",
        "[('a', 1)]": "a",
        "[3, 4]": "3 4",
        "[010, 1e3]": "010 1e3",
        "[250.10]": "250.10",
        "(3, 4)": "3 4",
        "[3 4]": "3 4",
        "[3. 4.]": "3 4",
        "[3]": "3",
        "array(['a', 'b'], dtype=object)": "a b",
        "Index(['a', 'b'], dtype='object')": "a b",
        "array([], dtype=float64)": "",
        "{'a': 1, 'b': 0}": "a",
        '{"a": true, "b": false}': "a",
        "{'/m/1': 'a', '/m/2': 'b'}": "a b",
        "<a> <b>": "a b",
        "<c#><.net>": "c# .net",
        "['a']\n": "a",
        "{{a,b},{c,d}}": "a b c d",
        "array(['a', 'b'],\n      dtype='<U1')": "a b",
        "deque(['a', 'b'])": "a b",
        "dict_keys(['a', 'b'])": "a b",
        "{'name': 'a'}": "a",
        "[u'a', u'b']": "a b",
        "['a' 'b'\n 'c']": "a b c",
        "['a'\n 'b']": "a b",
    }.items(),
)
def test_lists_that_are_written_in_some_way(cell, labels) -> None:
    assert read_labels(cell) == labels.split()


@pytest.mark.parametrize(
    "cell",
    [
        "['a', 'b'",
        '["a", "b]',
        "{'a': 3}",
        '[{"id": 1}]',
        "[{'name': 'a'}, {'title': 'b'}]",
        "['a', ...]",
    ],
)
def test_cells_that_are_no_lists_are_refused(cell) -> None:
    with pytest.raises(ValueError, match="label"):
        read_labels(cell)


@pytest.mark.parametrize(
    "write",
    [
        dict,
        lambda values: list(values.items()),
        lambda values: [{"label": name, "value": value} for name, value in values.items()],
        lambda values: [{"label": name, "Score": value} for name, value in values.items()],
        lambda values: [[name, value] for name, value in values.items()],
    ],
    ids=["object", "pairs", "value", "score", "lists"],
)
@pytest.mark.parametrize("dump", [json.dumps, repr, lambda labels: labels])
def test_labels_are_those_whose_value_says_so(write, dump) -> None:
    truths = {"a": 1.0, "b": 0.0, "c": True, "d": False, "e": None, "f": 1, "g": 0}
    scores = {"a": 0.77, "b": 0.2, "c": True, "d": 0.5, "e": None, "f": 1, "g": 0}
    counts = {"a": 3, "b": 0}
    assert read_labels(dump(write(truths)), label_key="label") == ["a", "c", "f"]
    with pytest.raises(ValueError, match=r"'a' has the value 0\.77") as refused:
        read_labels(dump(write(scores)), label_key="label")
    assert "such as 0.5" in refused.value.args[1]
    at_least = partial(read_labels, dump(write(scores)), label_key="label")
    assert at_least(label_threshold=0.5) == ["a", "c", "d", "f"]
    with pytest.raises(ValueError, match="'a' has the value 3") as refused:
        read_labels(dump(write(counts)), label_key="label")
    assert "0 takes all of them" in refused.value.args[1]
    assert read_labels(dump(write(counts)), label_key="label", label_threshold=0) == ["a", "b"]


@pytest.mark.parametrize(
    ("entry", "labels"),
    [
        ({"name": "a", "truth": False, "confidence": 0.9}, []),
        ({"name": "a", "selected": "yes"}, ["a"]),
        ({"name": "a", "value": "0"}, []),
        ({"name": "a", "value": "a-slug"}, ["a"]),
        ({"name": "a", "value": "n"}, ["a"]),
        ({"name": "a", "id": 0}, ["a"]),
    ],
)
def test_labels_that_are_objects_with_values(entry, labels) -> None:
    for cell in ([entry], json.dumps([entry]), entry):
        assert read_labels(cell, label_key="name") == labels


@given(st.text(max_size=30))
def test_names_are_cleaned_once_and_for_all(name) -> None:
    cleaned = clean_name(name)
    assert clean_name(cleaned) == cleaned == unicodedata.normalize("NFC", cleaned)
    assert cleaned == cleaned.strip()
    assert not {"\u200b", "\ufeff", "\xad", "\n", "\0"} & set(cleaned)


@pytest.mark.parametrize(
    ("written", "name"),
    {
        "e\u0301te\u0301": "été",
        "a\u200b b\u2060": "a b",
        " a\xa0 b\t": "a b",
        "\ufeffa": "a",
        "a\u200cb": "a\u200cb",
        "a\xadb": "ab",
    }.items(),
)
def test_names_are_written_in_one_way(written, name) -> None:
    assert clean_name(written) == name


def read_table_labels(tmp_path, cells) -> list[tuple[str, ...]]:
    """Read the labels of a table of some cells, after a preview."""
    path = tmp_path / "table.csv"
    write_records(path, [{"text": "some words", "labels": cell} for cell in cells])
    reading = preview_files([path], FORMATS["csv"], Reading(["text"], ["labels"])).reading
    return [instance.labels for instance in FORMATS["csv"].read(RecordFile(path), reading)]


@pytest.mark.parametrize(
    ("cells", "labels"),
    {
        "3 3.0 4.0": "3 3 4",
        "250.10 250.1 250.0": "250.10 250.1 250.0",
        "2.50 2.5": "2.50 2.5",
        "010 10 1e3": "010 10 1e3",
        "3.0 A.0": "3 A.0",
        "-1.0 -1": "-1 -1",
        '[3.0] 3 ["3.0"]': "3 3 3",
    }.items(),
)
def test_numbers(tmp_path, cells, labels) -> None:
    assert read_table_labels(tmp_path, cells.split()) == [(label,) for label in labels.split()]


ROWS_OF_FOUR_FLAGS = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    min_size=20,
    max_size=30,
)


@settings(max_examples=8)
@given(ROWS_OF_FOUR_FLAGS.filter(lambda rows: any(any(row) for row in rows)))
@pytest.mark.parametrize("kind", [int, float, bool, np.int8])
@pytest.mark.parametrize(
    "write",
    [
        str,
        repr,
        lambda row: str(row.tolist()),
        lambda row: json.dumps(row.tolist()),
        lambda row: ",".join(str(flag) for flag in row),
    ],
    ids=["NumPy", "NumPy repr", "Python", "JSON", "commas"],
)
def test_one_hot_prints(tmp_path_factory, write, kind, rows) -> None:
    cells = [write(row) for row in np.array(rows, kind)]
    ours = read_table_labels(tmp_path_factory.mktemp("one-hot"), cells)
    for labels, row in zip(ours, rows, strict=True):
        assert labels == tuple(str(place) for place in np.flatnonzero(row))


@pytest.mark.parametrize(
    ("truth", "contents"),
    [
        (True, [1, 1.0, "1.0", "TRUE", "x", "Yes"]),
        (False, ["", None, float("nan"), "0", "-"]),
        (None, [-1, 0.5, "2", "ja"]),
    ],
)
def test_truth_of_a_cell(truth, contents) -> None:
    assert {parse_truth(content) for content in contents} == {truth}
