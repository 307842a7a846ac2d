"""A section of the report is shown if its files exist; a new section is one file."""

import pytest
from commands import ovaflow
from records import read_records

from ovaflow.report.gather import gather_results
from ovaflow.report.page import render_page
from ovaflow.report.section import ReportSection
from ovaflow.report.sections import SECTIONS

FILES = {"second-stage": "reliability.json", "training": "training.h5"}
"""Sections of a one-vs-all run that read files of their own; those of other methods are in
tests/report.
"""


@pytest.fixture
def folder(finished, tmp_path):
    return finished.copy(tmp_path / "tiny")


def read_page(folder) -> str:
    return render_page(gather_results([folder.path / "msi"]))


@pytest.mark.parametrize("key", FILES)
def test_a_section_is_where_its_file_is(folder, key) -> None:
    [section] = [each for each in SECTIONS if each.key == key]
    for there in (True, False):
        page = read_page(folder)
        assert (f'id="tiny.{key}"' in page) == there
        assert (f"<h3>{section.title}</h3>" in page) == there
        (folder.path / "msi" / FILES[key]).unlink(missing_ok=True)


def read_notes(run):
    path = run.folder / "notes.txt"
    return path.read_text(encoding="utf-8") if path.exists() else None


def show_notes(results):
    return [(run, run.read(read_notes)) for run in results.runs if run.read(read_notes)]


NOTES = ReportSection(
    "notes",
    "Notes",
    show_notes,
    "{% for run, notes in it %}<p>{{ names([run]) }}: {{ notes|plain(200) }}</p>{% endfor %}",
)


@pytest.fixture
def notes():
    SECTIONS.append(NOTES)
    yield
    SECTIONS.remove(NOTES)


def test_a_new_section(folder, notes) -> None:
    assert "Notes" not in read_page(folder)
    (folder.path / "msi" / "notes.txt").write_text("for <b>the board</b>")
    page = read_page(folder)
    assert "<p><bdi>msi</bdi>: for &lt;b&gt;the board&lt;/b&gt;</p>" in page
    assert 'href="#tiny.notes"' in page


def test_figures_of_all_runs_in_one_table(folder, tmp_path) -> None:
    ovaflow(
        "report",
        folder.path / "msi",
        f"--csv={tmp_path / 'figures.csv'}",
        f"--output={tmp_path / 'report.html'}",
    )
    rows = {row["figure"]: row for row in read_records(tmp_path / "figures.csv")}
    [results] = gather_results([folder.path / "msi"])
    ours = rows["P@5"]
    theirs = results.runs[0].metrics["P@5"]
    assert float(ours["value"]) == pytest.approx(theirs)
    assert float(ours["low"]) < theirs < float(ours["high"])
    assert (ours["dataset"], ours["run"], ours["method"]) == ("tiny", "msi", "one-vs-all")
    assert not rows["train_seconds"]["low"]
