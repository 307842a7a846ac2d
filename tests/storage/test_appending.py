import os

from ovaflow.storage.appending import locked_for_appending, require_appendable


def test_a_line_that_was_cut_off_does_not_spoil_the_next(tmp_path) -> None:
    path = tmp_path / "lines"
    with locked_for_appending(path) as append_lines:
        append_lines(["one", "two"])
    os.truncate(path, path.stat().st_size - 2)
    with locked_for_appending(path) as append_lines:
        append_lines(["three", "four"])
        append_lines([])
    assert path.read_text() == "one\ntw\nthree\nfour\n"


def test_existing_content_stays(tmp_path) -> None:
    path = tmp_path / "lines"
    for content in ("", "one"):
        require_appendable(path)
        assert path.read_text() == content
        path.write_text("one")
