"""Sheets of Excel and LibreOffice, as people keep them."""

import csv
import sys
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import pytest
from commands import ovaflow
from sheets import FailedFormula, ShownNumber, make_ods, make_xlsx

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
    columns = "sheet 'Read me': no column 'text', 'labels', there are 'Nr', 'Titel'"
    assert f"{columns}; set text_column" in prepare(path, ["--sheet=Read me"]).said


MONTHS = {
    "January": [HEADER, [1, "one cat", "cat"], [2, "a dog", "dog"]],
    "February": [["Labels", "Id", "Text"], ["dog", 3, "two dogs"], ["cat", 4, "cats"]],
    "March": [["to", "be", "continued"]],
}
ALL_WORDS = ["--min-df=1", "--max-df=1.0", "--test-fraction=0.3"]


def test_sheets_that_are_not_read_are_named_and_can_be_read(prepare, write_sheets) -> None:
    path = write_sheets(MONTHS)
    read = prepare(path, ALL_WORDS)
    assert read.found[1] == 2
    assert "sheets not read   'February' (2 rows), 'March' (1 rows)" in read.said
    assert "remark: sheets that are not read: 'February' (2 rows), 'March' (1 rows)" in read.said
    assert "(sheet: all reads those with the same columns, too)" in read.said
    read_all = prepare(path, [*ALL_WORDS, "--sheet=all"])
    assert read_all.found == (["cat", "dog"], 4, 4)
    assert "remark: sheets that are not read: 'March' (1 rows)" in read_all.said
    read_named = prepare(path, [*ALL_WORDS, "--sheet=January", "--sheet=February"])
    assert read_named.found == read_all.found
    assert "remark: sheets" not in read_named.said


def test_advice_for_workbooks_is_carried_out_in_them(prepare, write_sheets) -> None:
    without_names = [["one cat", "cat"], ["a dog", "dog"]] * 3
    said = prepare(write_sheets({"Data": without_names})).said
    assert "write the names of the columns into the row above the records" in said
    assert "echo" not in said
    named = [["text", "labels"], *without_names]
    said = prepare(write_sheets({"Data": [*named, *named]})).said
    assert "row 8: the header occurs a second time; delete this row in the workbook" in said
    assert prepare(write_sheets({"Data": named}), ALL_WORDS).found[1] == 6


def test_records_of_several_sheets_are_known_by_their_sheets(write_sheets) -> None:
    instances = read_instances(write_sheets(MONTHS), sheet="all")
    ours = [(each.text, each.location) for each in instances]
    assert ours == [
        ("one cat", "sheet 'January', row 2"),
        ("a dog", "sheet 'January', row 3"),
        ("two dogs", "sheet 'February', row 2"),
        ("cats", "sheet 'February', row 3"),
    ]


@pytest.mark.parametrize("first", [[], [["Notes"], ["text, labels: see the other sheet"]]])
def test_the_first_sheet_with_the_columns_is_read(write_sheets, first) -> None:
    path = write_sheets({"First": first, "Data": [HEADER, [1, "a", "x"]]})
    reading = Reading(["text"], ["labels"])
    [instance] = FORMATS["xlsx"].read(RecordFile(path), reading)
    assert instance.text == "a"
    assert reading.seen["sheet"] == "'Data' (1 rows)"
    assert reading.seen["sheets_not_read"] == ("'First' (2 rows)" if first else "")


def test_predict_and_evaluate_name_the_sheets_that_they_do_not_read(
    prepare, write_sheets, trained, capsys
) -> None:
    path = write_sheets(MONTHS)
    model = trained(prepare(path, ALL_WORDS).dataset)
    ovaflow("predict", model, path)
    remark = "sheets that are not read: 'February' (2 rows)"
    assert remark in capsys.readouterr().err
    ovaflow("evaluate", path, f"--model={model}")
    assert remark in capsys.readouterr().err
    all_answers = ovaflow("predict", model, path, "--sheet=all", "--output-format=jsonl")
    assert all_answers.count('"labels"') == 4


def test_errors_of_formulas_are_counted_by_their_names(prepare, write_sheets) -> None:
    records = [[i, f"cat number{i}", "cat"] for i in range(8)]
    failed = [
        [8, "a cat", FailedFormula("#N/A")],
        [9, FailedFormula("#REF!"), "cat"],
        [10, "no cat", FailedFormula("#DIV/0!")],
        [11, "old cat", FailedFormula("#N/A")],
        [12, "new cat", FailedFormula(None)],
    ]
    others = [[*record, FailedFormula("#VALUE!")] for record in records + failed]
    path = write_sheets({"Data": [[*HEADER, "not read"], *others]})
    read = prepare(path, ALL_WORDS)
    assert read.found[1:] == (13, 9)
    listed = "2 #N/A, 1 #REF!, 1 #DIV/0!, 1 formula without a stored value"
    assert f"empty cells       {listed}\n" in read.said
    assert f"cells count as empty that have no value but {listed}" in read.said


def test_numbers_that_look_like_text_are_named(prepare, write_sheets) -> None:
    records = [[i, f"cat number{i}", ShownNumber(2)] for i in range(8)]
    others = [[i, f"dog number{i}", ShownNumber(345)] for i in range(8)]
    sheet = [HEADER, *records, *others]
    read = prepare(write_sheets({"Data": sheet}), ALL_WORDS)
    assert read.found[0] == ["2", "345"]
    assert "8 numbers are not what their sheets show, such as 002, which is read as 2" in read.said
    # what Excel and LibreOffice save as CSV
    lines = ["id,text,labels", *(f"{i},{text},{label}" for i, text, label in records + others)]
    assert prepare("\n".join(lines), ALL_WORDS).found[0] == ["002", "345"]


def test_an_empty_sheet(prepare, write_sheets) -> None:
    assert "is empty" in prepare(write_sheets({"Sheet1": [[]]})).said
    path = write_sheets({"Sheet1": [[]], "Data": [HEADER]})
    assert "sheet 'Sheet1': is empty" in prepare(path, ["--sheet=Sheet1"]).said


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
