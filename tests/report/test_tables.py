"""Numbers and texts of the page, tables with the best marked, and CSV files without formulas."""

import csv
import io
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ovaflow.evaluation.resampling import resample
from ovaflow.report import wording
from ovaflow.report.tables import MAX_CSV_TEXT, Column, Row, Table, make_csv_link, make_table

CELLS = st.one_of(st.none(), st.text(), st.integers(-(10**9), 10**9), st.floats(allow_nan=True))
FORMULAS = st.sampled_from(["=1+1", "+1", "-1", "-1+1", "@SUM(A1)", "\t=1", "  =1", "\r=1"])


def test_numbers_in_words() -> None:
    shown = {
        wording.count: {35116: "35,116", None: "–"},
        wording.percent: {0.62624: "62.62", float("nan"): "–", -0.00004: "0.00"},
        wording.short_percent: {0.62624: "62.6", None: "–", -0.0004: "0.0", -0.0006: "-0.1"},
        wording.points: {0.012: "+1.2", -0.012: "-1.2", 0.0: "0.0", -0.0004: "0.0", 0.1: "+10.0"},
        wording.decimal: {0: "0", 0.0431: "0.043", 1240.4: "1,240", 0.0000123: "1.2e-05"},
        wording.size: {640: "640 B", 1400 << 10: "1.37 MiB"},
        wording.duration: {
            0.0123: "12.3 ms",
            4.21: "4.21 s",
            123: "2 min 03 s",
            12000: "3 h 20 min",
        },
    }
    for format_number, texts in shown.items():
        for number, text in texts.items():
            assert format_number(number) == text


@given(st.text(), st.integers(5, 50))
def test_plain_texts_are_short_and_harmless(text, limit) -> None:
    shown = wording.plain(text, limit)
    assert len(shown) <= limit
    assert not set(shown) & set("\x00\r\n\t\x1b\u202e\u2066")
    shown.encode("utf-8")


def make_sampled_table(hits: dict[str, np.ndarray]) -> Table:
    """Make a table of runs with intervals, given the hits of each in 400 instances."""

    def resample_hits(name: str) -> np.ndarray:
        return resample(hits[name][:, None], np.ones((400, 1)))[:, 0]

    column = Column(
        "@1", lambda name: hits[name].mean(), wording.percent, "P", samples=resample_hits
    )
    return make_table("", "run", [column], list(hits), Row)


def test_figures_whose_difference_may_be_chance_are_marked_with_the_best() -> None:
    worst = (np.arange(400) < 200) * 1.0
    near = np.roll((np.arange(400) < 240) * 1.0, 160)
    best = near.copy()
    best[:1] = 1
    table = make_sampled_table({"a & b": worst, "c": near, "d": best})
    assert [row.cells[0].best for row in table.rows] == [False, True, True]
    # of a share p of n instances, the interval is p +- 1.96 sqrt(p (1 - p) / n)
    ours = float(table.columns[0].format_spread(table.rows[0].cells[0].interval))
    theirs = 100 * 1.96 * np.sqrt(0.25 / 400)
    assert ours == pytest.approx(theirs, abs=0.4)
    equal = make_sampled_table({"c": near, "d": best})
    assert [row.cells[0].best for row in equal.rows] == [False, False]
    head, first, *_ = csv.reader(io.StringIO(unquote(table.csv.partition(",")[2])))
    assert head == ["run", "P @1", "P @1 low", "P @1 high"]
    assert float(first[2]) < float(first[1]) < float(first[3])


def test_a_terminal_shows_names_as_they_are_and_figures_whole() -> None:
    columns = [
        Column("", lambda each: each[1], wording.percent, "a heading longer than its figures"),
        Column("words", lambda each: each[2]),
        Column("", lambda each: f"{each[1]} (from low to high)", str),
        Column("", lambda each: f"{each[1]} (from low to high)", str),
        Column("", lambda each: "█▌", colour="red"),
    ]
    items = ("[red]a[/red]\x1b[2K", 0.5, "many words " * 9), ("b", 0.25, "")
    table = make_table("", "name", columns, items, lambda each, cells: Row(each[0], cells))
    for width in (200, 60):
        file = io.StringIO()
        Console(file=file, width=width).print(table.terminal)
        written = file.getvalue()
        assert all(len(line) <= width for line in written.splitlines())
        assert {"[red]a[/red]\ufffd[2K", "50.00", "25.00", "█▌"} <= set(written.split())
        assert written.count("high)") == 4
    Console(file=file).print(make_table("", "name", columns, [], Row).terminal)


def is_formula(text: str) -> bool:
    """Return True if a spreadsheet would compute a text: a formula, not a number with a sign."""
    is_number = text[:1] in "+-" and text[1:].replace(",", ".").replace(".", "", 1).isdecimal()
    return text.lstrip().startswith(("=", "+", "-", "@")) and not is_number


@given(st.lists(st.lists(CELLS | FORMULAS, min_size=3, max_size=3), max_size=5))
def test_content_of_a_link_can_be_read_back_and_ends_no_attribute(rows) -> None:
    link = make_csv_link(["a", "=b", "c"], rows)
    assert not set(link) & set("\"'<>& \n#")
    header, *read = csv.reader(io.StringIO(unquote(link.split(",", 1)[1]), newline=""))
    assert header == ["a", "'=b", "c"]
    for ours, theirs in zip(read, rows, strict=True):
        for cell, value in zip(ours, theirs, strict=True):
            if isinstance(value, str):
                shown = wording.plain(value, MAX_CSV_TEXT)
                assert cell == (f"'{shown}" if is_formula(shown) else shown)
                assert not is_formula(cell)
            elif value is None or value != value or abs(value) == float("inf"):
                assert cell == ""
            else:
                assert float(cell) == pytest.approx(value, rel=1e-9)
