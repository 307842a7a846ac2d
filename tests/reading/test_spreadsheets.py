"""Sheets of Excel and LibreOffice, as people keep them."""

import csv
import sys
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import pytest
from commands import ovaflow
from sheets import make_ods, make_xlsx

from ovaflow.reading.formats import FORMATS
from ovaflow.reading.instances import Reading, TextInstance
from ovaflow.reading.streams import RecordFile

WRITERS = {"xlsx": make_xlsx, "ods": make_ods}
HEADER = ["id", "text", "labels"]


@pytest.fixture(params=WRITERS)
def kind(request) -> str:
    """The format, as the ending of a file's name."""
    return request.param


@pytest.fixture
def write_sheets(tmp_path, kind) -> Callable[[dict], Path]:
    """Write sheets, rows of cells by the sheet's name; return the path."""

    def write(sheets) -> Path:
        path = tmp_path / f"a.{kind}"
        path.write_bytes(WRITERS[kind](sheets))
        return path

    return write


def read_instances(path, **settings) -> list[TextInstance]:
    return list(FORMATS["xlsx"].read(RecordFile(path), Reading(["text"], ["labels"], **settings)))


def read_fields(path, **settings) -> list[tuple]:
    """Read id, text and labels of each record."""
    return [(each.id, each.text, each.labels) for each in read_instances(path, **settings)]


def test_numbers_dates_and_truths_are_as_in_other_formats(write_sheets) -> None:
    day = date(2024, 5, 31)
    noon = datetime(2024, 5, 31, 12, 30)
    rows = [
        [*HEADER, "when"],
        [1, "a", 3.0, day],
        [2.5, True, "x,3", noon],
        ["010", 0, 7, None],
    ]
    path = write_sheets({"Sheet1": rows})
    assert read_fields(path) == [
        ("1", "a", ("3",)),
        ("2.5", "True", ("x", "3")),
        ("010", "0", ("7",)),
    ]
    first, second, third = (each.time for each in read_instances(path, time_column="when"))
    assert first < second < first + 1 / 366
    assert third is None


def test_columns_of_truth_values_are_labels(prepare, write_sheets) -> None:
    records = [["one cat", True, None], ["a cat", 1, 0], ["dogs", False, True]] * 3
    path = write_sheets({"Sheet1": [["text", "cats", "dogs"], *records]})
    read = prepare(path, ["--labels-column=cats,dogs", "--test-fraction=0.1"])
    assert read.found == (["cats", "dogs"], 9, 9)


def test_empty_rows_and_columns_are_nothing(write_sheets) -> None:
    rows = [
        [],
        [None, *HEADER],
        [],
        [None, 0, None, None],
        [None, 2, "b", "x"],
        [None, None],
        [],
    ]
    path = write_sheets({"Sheet1": rows})
    assert read_fields(path) == [("0", "", ()), ("2", "b", ("x",))]
    assert [each.location for each in read_instances(path)] == ["row 4", "row 5"]


def test_the_header_may_be_below_a_title(write_sheets) -> None:
    rows = [["Export of 2024"], ["all records", None, 3], HEADER, [1, "a", "x"]]
    assert read_fields(write_sheets({"Sheet1": rows})) == [("1", "a", ("x",))]


def test_merged_cells_are_meant_in_each_row(tmp_path) -> None:
    path = tmp_path / "a.xlsx"
    rows = [
        ["A title", None, None],
        HEADER,
        [1, "a", "x"],
        [2, "b", None],
        [3, "c", None],
        [4, "d", "y"],
    ]
    path.write_bytes(make_xlsx({"One": rows}, ["C3:C5", "A1:C1", "A90:F90"]))
    assert [labels for *_, labels in read_fields(path)] == [("x",), ("x",), ("x",), ("y",)]


def test_a_sheet_is_chosen_by_name(prepare, write_sheets) -> None:
    sheets = {"Read me": [["Nr", "Titel"]], "2024 & 2023": [HEADER, [1, "a", "x"]]}
    path = write_sheets(sheets)
    assert read_fields(path, sheet="2024 & 2023") == [("1", "a", ("x",))]
    said = prepare(path, ["--sheet=2024"]).said
    assert said.endswith("no sheet '2024'; set sheet to one of 'Read me', '2024 & 2023'\n")
    columns = "no column 'text', 'labels', there are 'Nr', 'Titel'"
    assert f"{columns}; set text_column" in prepare(path).said


def test_an_empty_sheet(prepare, write_sheets) -> None:
    assert "is empty" in prepare(write_sheets({"Sheet1": [[]]})).said


@pytest.mark.parametrize("content", [b"", b"text,labels\na,b\n", b"PK\3\4 and no more"])
def test_what_is_no_spreadsheet(prepare, kind, content) -> None:
    assert "save it again as .xlsx, .ods or CSV UTF-8" in prepare(content, name=f"a.{kind}").said


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("a.xlsx", "python_calamine", "sheets"),
        ("a.mrc", "pymarc", "marc"),
        ("a.xml", "pymarc", "marc"),
    ],
)
def test_a_package_that_is_not_installed(tmp_path, monkeypatch, name, module, extra) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"{module}.marcxml", raising=False)
    (tmp_path / name).write_bytes(b"-")
    said = ovaflow("train", tmp_path / name, "--dry-run", status=2)
    assert said.endswith(f"pip install 'ovaflow[{extra}]'\n")


def test_a_model_reads_what_it_was_trained_on(prepare, write_sheets, trained) -> None:
    """It remembers sheet and columns; other tables are read by the same columns."""
    records = []
    for i in range(12):
        for animal in ("cat", "dog"):
            records.append([f"n{i}", f"{animal} number{i}", animal, i])
    pets = [["Nr", "Title", "Kind", "Year"], *records]
    path = write_sheets({"About": [["cats and dogs"]], "Pets": pets})
    columns = ["--sheet=Pets", "--text-column=Title", "--labels-column=Kind", "--id-column=Nr"]
    model = trained(prepare(path, columns).dataset)
    output = ovaflow("predict", model, path, "--top-k=1", "--output-format=csv", "--keep=Year")
    ours = []
    for row in csv.DictReader(output.splitlines()):
        ours.append((row["instance"], row["label"], row["Year"]))
    assert ours == [(number, animal, str(year)) for number, _, animal, year in records]
    Path("new.csv").write_text("Nr;Title\n7;cat\n")
    output = ovaflow("predict", model, "new.csv", "--top-k=1", "--output-format=csv")
    assert ",cat," in output
