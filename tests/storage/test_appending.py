import os

from ovaflow.storage.appending import append_lines, require_appendable


def test_a_line_that_was_cut_off_does_not_spoil_the_next(tmp_path) -> None:
    path = tmp_path / "lines"
    append_lines(path, ["one", "two"])
    os.truncate(path, path.stat().st_size - 2)
    append_lines(path, ["three", "four"])
    append_lines(path, [])
    assert path.read_text() == "one\ntw\nthree\nfour\n"


def test_existing_content_stays(tmp_path) -> None:
    path = tmp_path / "lines"
    for content in ("", "one"):
        require_appendable(path)
        assert path.read_text() == content
        path.write_text("one")
