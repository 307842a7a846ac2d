"""Rows of a command: in a file all of them, as other programs read it, and on the terminal."""

import csv
import json
from operator import itemgetter

import pyarrow.parquet
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.cli.listing import Listing, print_table
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.storage.tables import StoredColumn

STORED = (
    StoredColumn("record"),
    StoredColumn("amount", int),
    StoredColumn("share", float, ".3f"),
    StoredColumn("labels", list[str]),
)
SHOWN = (
    Column("share", itemgetter("share"), "{:.1f}".format),
    Column("labels", lambda row: ", ".join(row["labels"])),
)
WORDS = st.text("abcäß ,\"'", max_size=8)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "record": WORDS,
            "amount": st.integers(-9, 9),
            "share": st.none() | st.floats(0, 1),
            "labels": st.lists(WORDS, max_size=3),
        }
    ),
    max_size=4,
)


@given(ROWS)
def test_files_have_the_rows(tmp_path_factory, rows) -> None:
    folder = tmp_path_factory.mktemp("files")
    listing = Listing("Errors", STORED, SHOWN, rows)
    listing.write(folder / "rows.parquet")
    assert pyarrow.parquet.read_table(folder / "rows.parquet").to_pylist() == rows
    listing.write(folder / "rows.csv")
    with open(folder / "rows.csv", newline="", encoding="utf-8") as file:
        ours = list(csv.DictReader(file))
    assert [row["record"] for row in ours] == [row["record"] for row in rows]
    assert [json.loads(row["labels"]) for row in ours] == [row["labels"] for row in rows]
    assert [row["share"] for row in ours] == [
        "" if row["share"] is None else f"{row['share']:.3f}" for row in rows
    ]


def test_the_terminal_shows_words(capsys) -> None:
    row = {"record": "r" * 100, "amount": 1, "share": 0.25, "labels": ["chess", "go"]}
    Listing("Errors", STORED, SHOWN, [row], name_length=5).show()
    said = capsys.readouterr().out
    assert "rrrr…" in said
    assert "0.2" in said
    assert "chess, go" in said
    assert "amount" not in said
    assert said.endswith("\n\n")


def test_a_whole_table_has_long_lines(monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    table = make_table(
        "Runs", "run", [Column("text", str)], ["word " * 30], lambda item, cells: Row("msi", cells)
    )
    print_table(table)
    print_table(table, whole=True)
    folded, whole = capsys.readouterr().out.split("run", 2)[1:]
    assert len(folded.splitlines()) > len(whole.splitlines())
