"""Numbers and texts as the page shows them, tables with the best marked, and CSV files that no
spreadsheet runs.
"""

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
from ovaflow.report.tables import MAX_CSV_TEXT, Column, Row, make_csv_link, make_table

CELLS = st.one_of(st.none(), st.text(), st.integers(-(10**9), 10**9), st.floats(allow_nan=True))
FORMULAS = st.sampled_from(["=1+1", "+1", "-1", "-1+1", "@SUM(A1)", "\t=1", "  =1", "\r=1"])


def test_numbers_in_words() -> None:
    shown = {
        wording.count: {35116: "35,116", None: "–"},
        wording.percent: {0.62624: "62.62", float("nan"): "–"},
        wording.decimal: {0: "0", 0.0431: "0.043", 1240.4: "1,240", 0.0000123: "1.2e-05"},
        wording.size: {640: "640 B", 1400 << 10: "1.37 MiB"},
        wording.duration: {
            0.0123: "12.3 ms",
            4.21: "4.21 s",
            123: "2 min 03 s",
            12000: "3 h 20 min",
        },
    }
    for words, texts in shown.items():
        assert {number: words(number) for number in texts} == texts


@given(st.text(), st.integers(5, 50))
def test_plain_texts_are_short_and_harmless(text, limit) -> None:
    shown = wording.plain(text, limit)
    assert len(shown) <= limit
    assert not set(shown) & set("\x00\r\n\t\x1b\u202e\u2066")
    shown.encode("utf-8")


def sampled_table(hits):
    """A table of runs, (name, hits of 400 instances), with intervals."""

    def sampled(run):
        return resample(run[1][:, None], np.ones((400, 1)))[:, 0]

    column = Column("@1", lambda run: run[1].mean(), wording.percent, "P", samples=sampled)
    return make_table("", "run", [column], hits, lambda run, cells: Row(run[0], cells))


def test_what_may_be_chance_is_marked_with_the_best() -> None:
    worst, other = ((np.arange(400) < hits) * 1.0 for hits in (200, 240))
    near = np.roll(other, 160)
    best = near.copy()
    best[:1] = 1
    table = sampled_table([("a & b", worst), ("c", near), ("d", best)])
    assert [row.cells[0].best for row in table.rows] == [False, True, True]
    # of a share p of n instances, the interval is p +- 1.96 sqrt(p (1 - p) / n)
    ours = float(table.rows[0].cells[0].spread)
    theirs = 100 * 1.96 * np.sqrt(0.25 / 400)
    assert ours == pytest.approx(theirs, abs=0.4)
    assert [row.cells[0].best for row in sampled_table([("c", near), ("d", best)]).rows] == [
        False,
        False,
    ]
    head, first, *_ = csv.reader(io.StringIO(unquote(table.csv.partition(",")[2])))
    assert head == ["run", "P @1", "P @1 low", "P @1 high"]
    assert float(first[2]) < float(first[1]) < float(first[3])


def test_a_terminal_shows_names_as_they_are_and_figures_whole() -> None:
    columns = [
        Column("", lambda each: each[1], wording.percent, "a heading longer than its figures"),
        Column("words", lambda each: each[2]),
        *(Column("", lambda each: f"{each[1]} (from low to high)", str) for _ in range(2)),
        Column("", lambda each: "█▌", colour="red"),
    ]
    items = ("[red]a[/red]\x1b[2K", 0.5, "many words " * 9), ("b", 0.25, "")
    table = make_table("", "name", columns, items, lambda each, cells: Row(each[0], cells))
    for width in (200, 60):
        file = io.StringIO()
        Console(file=file, width=width).print(table.terminal)
        written = file.getvalue()
        assert max(map(len, written.splitlines())) <= width
        assert all(
            part in written.split() for part in ("[red]a[/red]\ufffd[2K", "50.00", "25.00", "█▌")
        )
        assert written.count("high)") == 4
    Console(file=file).print(make_table("", "name", columns, [], Row).terminal)


def is_formula(text):
    """Whether a text is neither harmless nor a number with a sign."""
    is_number = text[:1] in "+-" and text[1:].replace(",", ".").replace(".", "", 1).isdecimal()
    return text.lstrip().startswith(("=", "+", "-", "@")) and not is_number


@given(st.lists(st.lists(CELLS | FORMULAS, min_size=3, max_size=3), max_size=5))
def test_what_a_link_holds_can_be_read_back_and_ends_no_attribute(rows) -> None:
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
