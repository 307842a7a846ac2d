"""Text artifacts show when they are not what was written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.console.errors import InputError
from ovaflow.storage.texts import read_json, read_lines, write_json, write_lines

FIGURES = {
    "P@1": 0.1 + 0.2,
    "P@3": 1e-7,
    "name": "Straße\n",
    "of": None,
    "points": [{"k": 1}, []],
}


def test_json_comes_back_and_stays_plain(tmp_path) -> None:
    path = tmp_path / "metrics.json"
    write_json(path, "metrics", FIGURES)
    plain = json.loads(path.read_text())
    assert list(plain) == [*FIGURES, "checksum"]
    assert read_json(path, "metrics") == FIGURES
    # layout does not count
    path.write_text(json.dumps(plain, sort_keys=True, indent=7))
    assert read_json(path, "metrics") == FIGURES


@given(st.lists(st.text(st.characters(blacklist_characters="\n\r", blacklist_categories=["Cs"]))))
def test_lines_come_back(tmp_path_factory, lines) -> None:
    path = tmp_path_factory.mktemp("lines") / "shards.tsv"
    write_lines(path, "plan", ["header", *lines])
    assert read_lines(path, "plan") == ["header", *lines]


@pytest.mark.parametrize("text", ["", "[1]", "{}", '{"checksum": 3}', "\ud800"])
def test_other_json_is_refused(tmp_path, text) -> None:
    (tmp_path / "m.json").write_text(text, errors="surrogatepass")
    with pytest.raises(InputError, match=r"m\.json: .*damaged"):
        read_json(tmp_path / "m.json", "metrics")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("m", "does not match"), ("none", "make it first"), ("folder", "Is a directory")],
)
def test_another_kind_missing_or_no_file(tmp_path, name, expected) -> None:
    (tmp_path / "folder").mkdir()
    write_json(tmp_path / "m", "metrics", FIGURES)
    with pytest.raises(InputError, match=expected):
        read_json(tmp_path / name, "analysis")


def test_numbers_that_are_not_finite_are_not_written(tmp_path) -> None:
    with pytest.raises(InputError, match=r"m\.json: not written"):
        write_json(tmp_path / "m.json", "metrics", {"P@1": float("nan")})
    assert not list(tmp_path.iterdir())


def test_content_that_describes_another_model_is_stale(tmp_path) -> None:
    path = tmp_path / "m.json"
    write_json(path, "metrics", FIGURES, described="ab" * 16)
    assert read_json(path, "metrics") == read_json(path, "metrics", "ab" * 16) == FIGURES
    with pytest.raises(
        InputError, match=r"stale: it describes another model; make it again \(ovaflow evaluate"
    ):
        read_json(path, "metrics", "cd" * 16)
    path.write_text(path.read_text().replace("ab" * 16, "cd" * 16))
    with pytest.raises(InputError, match="does not match its checksum"):
        read_json(path, "metrics")
