"""Each option of the reading of files is used, or refused by its name, in each format."""

from pathlib import Path

import pytest
from commands import list_words
from config_factory import make_config
from synthetic import prepare_and_train
from written_formats import FILE_CONTENTS

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.settings.source import ReadTexts

TABLES = {"csv", "jsonl", "parquet", "xlsx", "ods"}
MARC = {"marc", "marcxml"}
COLUMNS = TABLES | MARC
CELLS = TABLES | {"text-tsv"}
TEXTS = set(FILE_CONTENTS)
TAKEN = {
    "text_column": ("nosuch", COLUMNS),
    "labels_column": ("nosuch", COLUMNS),
    "id_column": ("nosuch", COLUMNS),
    "number_columns": ("nosuch", COLUMNS),
    "category_columns": ("nosuch", COLUMNS),
    "vector_column": ("nosuch", TABLES),
    "label_separator": (";", CELLS),
    "label_enclosure": ("brackets", CELLS),
    "label_key": ("nosuch", CELLS),
    "label_threshold": ("0.5", CELLS),
    "labels_are": ("one-hot", CELLS),
    "not_judged": ("leave-out", CELLS),
    "first_label": ("1", TEXTS),
    "missing": ("wax", TEXTS),
    "encoding": ("utf-16-le", {"csv", "jsonl", "text-tsv", "fasttext"}),
    "quotes": ("none", {"csv"}),
    "sheet": ("nosuch", {"xlsx", "ods"}),
    "repeated": ("join", TEXTS),
}
"""Options with a value other than the default, and the formats that take them."""
CASES = [
    (format, name, name in TAKEN and format in TAKEN[name][1])
    for format in FILE_CONTENTS
    for name in TAKEN
]
OF_PREDICT = {"text_column", "id_column", "missing", "encoding", "quotes", "sheet", "repeated"}
"""Options of predict, but those of columns that the model lacks."""


def test_no_option_is_left_out() -> None:
    # a switch has no value
    assert set(TAKEN) | {"html"} == set(ReadTexts.model_fields)


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_file(format) -> Path:
        path = Path(f"a.{format}")
        path.write_bytes(FILE_CONTENTS[format])
        return path

    return write_file


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    (folder / "a.csv").write_bytes(FILE_CONTENTS["csv"])
    files = f"--train={folder}/a.csv", f"--test={folder}/a.csv", "--label-separator=|"
    return prepare_and_train(folder, "--format=csv", *files, "--min-df=1", "--max-df=1.0")


@pytest.fixture
def run(capsys):
    def run_command(*words) -> str:
        capsys.readouterr()
        main(list_words(words))
        return "".join(capsys.readouterr())

    return run_command


def load_entry(entry) -> str:
    """Read a dataset of a config written by hand; return the complaint about it."""
    try:
        make_config(mine=entry)
    except InputError as error:
        return str(error)
    return ""


def is_refused_by_name(said, name) -> bool:
    """Tell whether a message says that the format lacks the setting."""
    beside_text = f"{name}: next to texts in columns" in said
    return beside_text or (name in said and "has no such setting" in said)


@pytest.mark.parametrize(("format", "name", "is_taken"), CASES)
def test_each_door(write, run, model, format, name, is_taken) -> None:
    value, _ = TAKEN[name]
    path = write(format)
    given = f"--format={format}", f"--{name.replace('_', '-')}={value}"
    doors = {
        "prepare": run("prepare", f"--train={path}", "--output=d.h5", given),
        "train": run("train", path, "--print-config", given),
        "config": load_entry({"format": format, "train": str(path), name: value}),
    }
    # as many columns of them as the model has
    if name not in ("number_columns", "category_columns"):
        doors["evaluate"] = run("evaluate", path, f"--model={model}", given)
    if name in OF_PREDICT:
        doors["predict"] = run("predict", model, path, given)
    for door, said in doors.items():
        assert is_refused_by_name(said, name) == (not is_taken), f"{door}: {said}"


@pytest.mark.parametrize("name", sorted(OF_PREDICT))
def test_a_text_alone_has_no_file(run, model, name) -> None:
    option = f"--{name.replace('_', '-')}"
    said = run("predict", model, "--text=wax", f"{option}={TAKEN[name][0]}")
    assert f"{option} goes with a FILE" in said


def test_lines_have_no_ids(write, run, model) -> None:
    path = write("fasttext")
    said = run("predict", model, path, "--format=lines", "--id-column=id")
    assert f"{path}: id_column (id): a file of format lines has no such setting" in said
    assert "error" not in run("predict", model, path, "--format=lines", "--encoding=latin1")
