"""Labels as lists, in brackets, in quotes, or as plain texts: one reading for a column, in all
formats.
"""

import io
import json
import random
from collections import Counter

import pandas
import pytest
from sheets import make_ods, make_xlsx

from ovaflow.evaluation.labelled_file import choose_reading_settings
from ovaflow.prediction.predictor import Predictor
from ovaflow.reading.preview import PREVIEWED_RECORDS
from ovaflow.records.source import read_file

KINDS = ["csv", "jsonl", "parquet", "xlsx", "ods", "text-tsv"]
"""Formats whose cells hold labels as texts."""
TOPICS = ["Chess", "Music, general", "Home, garden", "Pottery", "Railways"]
WORDS = ["river", "stone", "lamp", "paper", "engine", "harbour", "violin", "cloud", "winter"]
DRAW = random.Random(7)


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
            "such as '{}': if it is part of names there, too, label_separator: none takes each "
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
    if "{}" in advice:
        late = next(
            name for labels in LISTS[5:] if len(labels) > 1 for name in labels if "," in name
        )
        advice = advice.format(late)
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
