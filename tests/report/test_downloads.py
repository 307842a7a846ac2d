"""CSV files inside the page: what is written can be read back, and no spreadsheet runs it."""

import csv
import io
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.report import wording
from ovaflow.report.downloads import FORMULA, LONGEST, csv_of, link_to

CELLS = st.one_of(st.none(), st.text(), st.integers(-(10**9), 10**9), st.floats(allow_nan=True))


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=5))
def test_what_is_written_can_be_read_back(rows):
    text = csv_of(["a", "=b", "c"], rows)
    header, *read = csv.reader(io.StringIO(text, newline=""))
    assert header == ["a", "'=b", "c"]
    for ours, theirs in zip(read, rows, strict=True):
        for cell, value in zip(ours, theirs, strict=True):
            if isinstance(value, str):
                shown = wording.plain(value, LONGEST)
                assert cell == (f"'{shown}" if shown.startswith(FORMULA) else shown)
                assert not cell.lstrip().startswith(FORMULA)
                link_to(cell)
            elif value is None or value != value or abs(value) == float("inf"):
                assert cell == ""
            else:
                assert float(cell) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "\r=1"])
def test_formulas_become_texts(text):
    assert csv_of(["x"], [[text]]).splitlines()[1].lstrip('"').startswith("'")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_links_hold_the_text_and_nothing_that_ends_an_attribute(text):
    link = link_to(text)
    assert unquote(link.split(",", 1)[1]) == text
    assert not set(link) & set("\"'<>& \n#")
