"""The summary of files that people see before anything long begins."""

from ovaflow.reading.formats import FORMATS
from ovaflow.reading.instances import Reading
from ovaflow.reading.preview import preview_files
from ovaflow.reading.summary import ReadingSummary


def summarize(path, content, **settings) -> ReadingSummary:
    """Summarize a table of some content."""
    path.write_bytes(content)
    reading = Reading(["title"], ["tags"], **settings)
    return ReadingSummary.from_preview(preview_files([path], FORMATS["csv"], reading), "csv")


def test_what_was_read_is_shown_back(tmp_path) -> None:
    content = "nr;title;tags\n1;Œuvres;a|long name\n2;x;a\n".encode("utf-16")
    lines = summarize(tmp_path / "a.csv", content, separator="|", id_column="nr").lines
    assert lines["format"] == "csv, columns divided by a semicolon, utf-16"
    assert lines["ids"] == "'nr'"
    assert (lines["first record"], lines["its labels"]) == ("Œuvres", "'a', 'long name'")
    assert lines["different labels"] == "2 in the first 2 records, 1.5 per record"
    assert (lines["most frequent"], lines["longest"]) == ("'a' (2), 'long name' (1)", "'long name'")


def test_a_terminal_obeys_nothing_of_it(tmp_path) -> None:
    shown = str(summarize(tmp_path / "a.csv", b"title,tags\n\x1b[31mred,\x1b]0;x\x07\n"))
    assert "\x1b" not in shown
    assert r"\x1b[31mred" in shown
