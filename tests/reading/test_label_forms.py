"""Labels as lists, in brackets, in quotes, or as plain texts: one reading for a column, in all
formats.
"""

import csv
import io
import json
import random
import re
from collections import Counter

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sheets import make_ods, make_xlsx

from ovaflow.evaluation.labelled_file import choose_reading_settings
from ovaflow.prediction.predictor import Predictor
from ovaflow.reading.cells import MISSING_WORDS, clean_name
from ovaflow.reading.instances import Reading
from ovaflow.reading.preview import PREVIEWED_RECORDS
from ovaflow.records.source import read_file

KINDS = ["csv", "jsonl", "parquet", "xlsx", "ods", "text-tsv"]
"""Formats whose cells hold labels as texts."""
TOPICS = ["Chess", "Music, general", "Home, garden", "Pottery", "Railways"]
WORDS = ["river", "stone", "lamp", "paper", "engine", "harbour", "violin", "cloud", "winter"]
DRAW = random.Random(7)
SEMICOLON = "--label-separator=;"


def draw_lists(n, names=TOPICS) -> list[list[str]]:
    """Draw the labels of some records, one to three each; all names occur."""
    lists = [[name] for name in names]
    lists += [DRAW.sample(names, DRAW.choice([1, 2, 3])) for _ in range(n - len(names))]
    return lists


LISTS = draw_lists(80)


def make_file(kind, cells) -> bytes:
    """Make a file of a format from cells of labels."""
    rows = []
    for number, cell in enumerate(cells):
        rows.append((f"{WORDS[number % 9]} {WORDS[number % 7]} w{number}", cell))
    table = pandas.DataFrame(rows, columns=["text", "labels"])
    if kind == "csv":
        return table.to_csv(index=False).encode()
    if kind == "jsonl":
        return table.to_json(orient="records", lines=True).encode()
    if kind == "parquet":
        buffer = io.BytesIO()
        table.to_parquet(buffer)
        return buffer.getvalue()
    if kind == "text-tsv":
        return "".join(f"{cell}\t{text}\n" for text, cell in rows).encode()
    make = {"xlsx": make_xlsx, "ods": make_ods}[kind]
    return make({"One": [["text", "labels"], *rows]})


def expect(lists) -> tuple[list[str], int, int]:
    """Return names, number of records and number of labels, as ``prepare`` finds them."""
    names = {name for labels in lists for name in labels}
    return sorted(names), len(lists), sum(len(labels) for labels in lists)


@pytest.fixture
def prepare_cells(prepare):
    """Prepare a file of some cells."""

    def prepare_file(kind, cells, *options):
        return prepare(make_file(kind, cells), [f"--format={kind}", *options], f"a.{kind}")

    return prepare_file


@pytest.fixture
def read_by_model(tmp_path, trained):
    """Read the labels of further cells as the model of a dataset does."""

    def read_cells(dataset, kind, cells) -> list[list[str]]:
        model = Predictor.open(trained(dataset)).model
        path = tmp_path / f"new.{kind}"
        path.write_bytes(make_file(kind, cells))
        instances = read_file(choose_reading_settings(model, path), path, Counter())
        return [list(instance.labels) for instance in instances]

    return read_cells


def write_fields(labels) -> str:
    """Write names as a line of CSV, in quotes where they contain a comma."""
    buffer = io.StringIO()
    csv.writer(buffer).writerow(labels)
    return buffer.getvalue().strip()


def write_strings(labels) -> str:
    """Write one label as it is, and several as a list."""
    return labels[0] if len(labels) == 1 else json.dumps(labels)


def write_plain_strings(labels) -> list[str] | str:
    return labels[0] if len(labels) == 1 else labels


@pytest.mark.parametrize("kind", KINDS)
def test_strings_among_lists_are_one_label_each(prepare_cells, read_by_model, kind) -> None:
    write = write_plain_strings if kind == "jsonl" else write_strings
    prepared = prepare_cells(kind, [write(labels) for labels in LISTS])
    assert prepared.found == expect(LISTS)
    assert "commas are part of names, such as 'Music, general'" in prepared.said
    assert "label_separator" not in prepared.said
    new = ["Home, garden", "Chess"]
    assert read_by_model(prepared.dataset, kind, new) == [["Home, garden"], ["Chess"]]


@pytest.mark.parametrize("kind", KINDS)
def test_strings_are_cut_where_names_of_lists_have_no_separator(
    prepare_cells, read_by_model, kind
) -> None:
    lists = [[name.partition(",")[0] for name in labels] for labels in LISTS]
    cells = [json.dumps(labels) if n % 2 else ", ".join(labels) for n, labels in enumerate(lists)]
    prepared = prepare_cells(kind, cells)
    assert prepared.found == expect(lists)
    assert "separated by a comma unless they are lists" in prepared.said
    # a model goes on reading so
    new = ["Chess, Pottery", '["Home, garden"]']
    assert read_by_model(prepared.dataset, kind, new) == [["Chess", "Pottery"], ["Home, garden"]]


WITH_SEMICOLONS = [[name.replace(",", ";") for name in labels] for labels in LISTS]
LATE = [["Chess"], ["Pottery"]] * (PREVIEWED_RECORDS // 2) + LISTS
MIXED = [json.dumps(labels) for labels in LISTS] + ["Chess, Pottery"] * 10


@pytest.mark.parametrize(
    ("cells", "options", "advice", "setting", "found"),
    [
        (
            [write_strings(labels) for labels in LATE],
            [],
            "2 different labels of lists contain the separator at which other cells are cut, "
            "such as 'Home, garden': if it is part of names there, too, label_separator: none takes each "
            "cell as one label",
            "--label-separator=none",
            expect(LATE),
        ),
        (
            [write_strings(labels) for labels in LISTS],
            ["--label-separator=,"],
            "label_separator: none takes each cell as one label",
            "--label-separator=none",
            expect(LISTS),
        ),
        (
            [write_strings(labels) for labels in WITH_SEMICOLONS],
            ["--label-separator=;"],
            "label_separator: none takes each cell as one label",
            "--label-separator=none",
            expect(WITH_SEMICOLONS),
        ),
        (
            MIXED,
            [],
            "1 different labels are others with commas between, such as 'Chess, Pottery': "
            'label_separator: "," cuts cells that are no lists at commas',
            "--label-separator=,",
            expect(LISTS + [["Chess", "Pottery"]] * 10),
        ),
    ],
)
def test_advice_about_separators(advised, cells, options, advice, setting, found) -> None:
    read = advised(make_file("csv", cells), options, advice, setting)
    assert read.found == found
    assert advice not in read.said


def test_columns_of_lists_and_of_strings(prepare) -> None:
    rows = []
    for word in WORDS:
        rows.append((word, '["Home, garden"]', "Chess, Music"))
        rows.append((word, '["Music"]', "Pottery"))
    table = pandas.DataFrame(rows, columns=["text", "topics", "keywords"]).to_csv(index=False)
    prepared = prepare(table, ["--labels-column=topics,keywords", "--max-df=1.0"])
    assert prepared.found[0] == ["Chess", "Home, garden", "Music", "Pottery"]
    assert "label_separator: none takes each cell as one label" in prepared.said


PLAIN = ["Chess", "Music", "Pottery", "Railways"]
WITHOUT_COMMAS = draw_lists(60, PLAIN)
IN_HOME = draw_lists(60, ["Food", "Home, garden", "Home, kitchen"])
ENCLOSED = {
    "brackets": (WITHOUT_COMMAS, lambda labels: f"[{', '.join(labels)}]", []),
    "brackets and a separator": (IN_HOME, lambda labels: f"[{'; '.join(labels)}]", [SEMICOLON]),
    "brackets, another separator": (
        WITHOUT_COMMAS,
        lambda labels: f"[{', '.join(labels)}]",
        [SEMICOLON],
    ),
    "brackets, no separator": (
        WITHOUT_COMMAS,
        lambda labels: f"[{','.join(labels)}]",
        ["--label-separator=none"],
    ),
    "quotes in brackets": (IN_HOME, lambda labels: f"[{write_fields(labels)}]", []),
    "parentheses": (WITHOUT_COMMAS, lambda labels: f"({', '.join(labels)})", []),
    "brackets around each": (
        WITHOUT_COMMAS,
        lambda labels: ", ".join(f"[{name}]" for name in labels),
        [],
    ),
    "brackets with nothing between": (
        WITHOUT_COMMAS,
        lambda labels: "".join(f"[{name}]" for name in labels),
        [],
    ),
    "two brackets": (WITHOUT_COMMAS, lambda labels: " ".join(f"[[{name}]]" for name in labels), []),
    "braces": (IN_HOME, lambda labels: "{" + "; ".join(labels) + "}", [SEMICOLON]),
    "quotes": (IN_HOME, lambda labels: ", ".join(f'"{name}"' for name in labels), []),
    "single quotes": (IN_HOME, lambda labels: ",".join(f"'{name}'" for name in labels), []),
    "other quotes": (IN_HOME, lambda labels: ", ".join(f"“{name}”" for name in labels), []),
    "quotes and a separator": (
        IN_HOME,
        lambda labels: "; ".join(f'"{name}"' for name in labels),
        [SEMICOLON],
    ),
    "quotes and spaces": (
        IN_HOME,
        lambda labels: " ".join(f'"{name}"' for name in labels),
        ["--label-separator= "],
    ),
    "quotes where needed": (IN_HOME, lambda labels: write_fields(labels), []),
}
"""Labels, how they are written, and options."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ENCLOSED)
def test_labels_in_brackets_or_quotes(prepare_cells, kind, form) -> None:
    lists, write, options = ENCLOSED[form]
    prepared = prepare_cells(kind, [write(labels) for labels in lists], *options)
    assert prepared.found == expect(lists)
    assert re.search("'?labels'?,? +in (brackets|quotes), separated by", prepared.said)


@pytest.mark.parametrize("form", ENCLOSED)
def test_a_model_remembers_what_encloses_labels(prepare_cells, read_by_model, form) -> None:
    lists, write, options = ENCLOSED[form]
    prepared = prepare_cells("csv", [write(labels) for labels in lists], *options)
    # none of the new cells shows it
    new = [[max(labels)] for labels in lists[:3]]
    cells = [write(labels) for labels in new]
    assert read_by_model(prepared.dataset, "csv", cells) == new


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["[Festschrift]", '"Titel"', "(NLP)", "'Tis", "[a] b"])
def test_names_in_brackets_or_quotes_among_others(prepare_cells, kind, name) -> None:
    lists = [*WITHOUT_COMMAS, [name], [name]]
    prepared = prepare_cells(kind, [", ".join(labels) for labels in lists])
    assert prepared.found == expect(lists)
    assert "label_enclosure" not in prepared.said
    prepared = prepare_cells(kind, [f"{name}, Chess"] * 3 + ["Chess"] * 9)
    assert prepared.found == (sorted([name, "Chess"]), 12, 15)


LATE_PLAIN = [["Chess"], ["Pottery"]] * (PREVIEWED_RECORDS // 2)


@pytest.mark.parametrize(
    ("write", "lists", "advice", "setting"),
    [
        (
            ENCLOSED["brackets"][1],
            WITHOUT_COMMAS,
            "4 different labels are in brackets, such as '[Chess]', and elsewhere brackets hold "
            "several: label_enclosure: brackets",
            "--label-enclosure=brackets",
        ),
        (
            ENCLOSED["quotes where needed"][1],
            IN_HOME,
            "3 different labels begin or end with a quote, such as '\"Home': label_enclosure: quotes",
            "--label-enclosure=quotes",
        ),
        (
            lambda labels: ", ".join(f"'{name}'" for name in labels),
            WITHOUT_COMMAS,
            "2 different labels begin or end with a quote, such as \"'Chess'\": label_enclosure: quotes",
            "--label-enclosure=quotes",
        ),
    ],
)
def test_advice_about_enclosures(advised, write, lists, advice, setting) -> None:
    cells = [*("Chess" if n % 2 else "Pottery" for n in range(PREVIEWED_RECORDS))]
    cells += [write(labels) for labels in lists]
    read = advised(make_file("csv", cells), [], advice, setting)
    assert read.found == expect(LATE_PLAIN + lists)
    assert advice not in read.said


@pytest.mark.parametrize(
    ("cell", "enclosure", "labels"),
    [
        ("[Action, Comedy]", "none", ["[Action", "Comedy]"]),
        ('"Action", "Comedy"', "none", ['"Action"', '"Comedy"']),
        ('["Action", "Comedy"]', "none", ["Action", "Comedy"]),
        ("[Action, null]", "brackets", ["Action"]),
        ("[]", "brackets", []),
        ("[Action]", "brackets", ["Action"]),
        ("Action, Comedy", "brackets", ["Action", "Comedy"]),
        ("[250.10, 010]", "brackets", ["250.10", "010"]),
        ('"a ""b""", c', "quotes", ['a "b"', "c"]),
        (r"'O\'Brien', 'l''été'", "quotes", ["O'Brien", "l'été"]),
        ("'Tis, Rock 'n' roll", "quotes", ["'Tis", "Rock 'n' roll"]),
        ('"a" b, "c', "quotes", ['"a" b', '"c']),
    ],
)
def test_cells_by_what_encloses_labels(cell, enclosure, labels) -> None:
    reading = Reading(["text"], ["labels"], label_enclosure=enclosure)
    assert list(reading.parse_judged_labels([cell])[0]) == labels


def test_a_list_that_was_cut_off_is_refused() -> None:
    reading = Reading(["text"], ["labels"], label_enclosure="brackets")
    with pytest.raises(ValueError, match="cut off"):
        reading.parse_judged_labels(["[Action, ...]"])


def is_a_name(text) -> bool:
    """Tell whether a text is neither empty nor a word for an empty cell."""
    return clean_name(text) not in ("", *MISSING_WORDS)


def clean_names(names) -> list[str]:
    """Clean names, each once, in their order."""
    return list(dict.fromkeys(clean_name(name) for name in names))


NAME = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z")) | st.just(" "),
    min_size=1,
    max_size=8,
).filter(is_a_name)


WITHOUT_BACKSLASH = NAME.filter(lambda name: "\\" not in name)


@given(
    st.lists(WITHOUT_BACKSLASH, min_size=1, max_size=5),
    st.sampled_from([",", ";", "|", " ", "||", "; "]),
)
def test_names_in_quotes_as_csv_writes_them(names, mark) -> None:
    reading = Reading(["text"], ["labels"], label_enclosure="quotes", separator=mark)
    for space in ("", " "):
        cell = f"{mark}{space}".join('"' + name.replace('"', '""') + '"' for name in names)
        assert list(reading.parse_judged_labels([cell])[0]) == clean_names(names)


BRACKETS = ["[]", "()", "{}"]


@given(
    st.lists(
        NAME.filter(lambda name: not set(name) & set("[](){};'\"“„«")), min_size=1, max_size=5
    ),
    st.sampled_from(BRACKETS),
)
def test_names_in_brackets(names, brackets) -> None:
    reading = Reading(["text"], ["labels"], label_enclosure="brackets", separator=";")
    cell = brackets[0] + ";".join(names) + brackets[1]
    assert list(reading.parse_judged_labels([cell])[0]) == clean_names(names)


def test_quotes_around_whole_cells(advised) -> None:
    cells = [", ".join(labels) for labels in WITHOUT_COMMAS]
    advice = "if quotes are around whole cells, write these without quotes"
    content = make_file("csv", [f'"{cell}"' for cell in cells])
    read = advised(content, [], advice, "--format=csv", new=make_file("csv", cells))
    assert read.found == expect(WITHOUT_COMMAS)


def test_names_of_lists_that_are_combinations_are_no_reason_to_cut(prepare_cells) -> None:
    lists = [[", ".join(labels)] for labels in WITHOUT_COMMAS]
    prepared = prepare_cells("jsonl", lists)
    assert "commas are part of names" in prepared.said
    assert "label_separator" not in prepared.said


@pytest.mark.parametrize("form", ["{} ({})", "{}:{}", "{}=0.{}"])
def test_counts_and_scores_at_the_end_of_names(advised, tmp_path, form) -> None:
    cells = []
    new_names = {}
    for number, labels in enumerate(WITHOUT_COMMAS):
        names = [form.format(name, number % 6) for name in labels]
        new_names |= dict(zip(names, labels, strict=True))
        cells.append(", ".join(names))
    path = tmp_path / "names.csv"
    path.write_text("".join(f"{old},{new}\n" for old, new in new_names.items()))
    advice = "differ only in a number at their end"
    read = advised(make_file("csv", cells), [], advice, f"--label-map={path}")
    assert read.found == expect(WITHOUT_COMMAS)


@pytest.mark.parametrize("names", [["Python 2", "Python 3", "Chess"], ["C:1", "C", "Chess"]])
def test_names_with_a_number(prepare_cells, names) -> None:
    prepared = prepare_cells("csv", [", ".join(names)] * 9 + ["Music", "Pottery"])
    assert "number at their end" not in prepared.said
