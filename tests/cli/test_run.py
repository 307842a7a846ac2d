from functools import partial
from pathlib import Path

import pytest
import yaml
from commands import ovaflow

from ovaflow.cli.run import guess_format, make_config, make_dataset_name
from ovaflow.console.errors import InputError
from ovaflow.settings.config import resolve_config
from ovaflow.workflow import require_command


@pytest.fixture
def error(tmp_path, monkeypatch):
    """Calls ovaflow in an empty folder, which refuses: its errors."""
    monkeypatch.chdir(tmp_path)
    return partial(ovaflow, status=2)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        (
            "a.csv",
            b"title,labels\na,b\n",
            "a.csv, line 1: no column 'text', there are 'title', 'labels'",
        ),
        ("a.csv", b"", "a.csv: is empty"),
        (
            "a.jsonl",
            b'{"text": "a"}\n{"tags": []}\n',
            "a.jsonl: no column 'labels', there are 'text', 'tags'",
        ),
    ],
)
def test_a_wrong_column_is_found_before_snakemake_starts(error, name, content, complaint) -> None:
    Path(name).write_bytes(content)
    assert complaint in error("train", f"?.{name[2:]}")
    assert "none.csv: no such file" in error("train", "none.csv")


@pytest.mark.parametrize("name", ["a", "a.gz", "a.other"])
def test_a_format_that_the_name_does_not_tell(name) -> None:
    assert yaml.safe_load(make_config(name, format="csv"))["datasets"]["a"]["format"] == "csv"
    with pytest.raises(
        InputError, match="give --format, one of csv, jsonl, parquet, xlsx, ods, text-tsv"
    ):
        guess_format(name)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("my records.csv", "my-records"),
        ("-x.csv", "x"),
        (".csv", "data"),
        ("ä.csv", "data"),
        ("7.csv", "7"),
    ],
)
def test_names_of_datasets_are_legal(name, theirs) -> None:
    assert make_dataset_name(name) == theirs
    config = yaml.safe_load(make_config(name))
    assert resolve_config(config, {}).datasets[theirs].train == name


def test_values_that_are_not_given_are_left_to_the_defaults() -> None:
    config = yaml.safe_load(make_config("a.csv", text_column="title"))
    assert config["datasets"] == {"a": {"format": "csv", "train": "a.csv", "text_column": "title"}}
    with pytest.raises(InputError, match="label_separator"):
        make_config("a.csv", label_separator="")


def test_snakemake_gets_workflow_config_and_options(place) -> None:
    (place.folder / "random.py").write_text("raise SystemExit('a file of the user was imported')")
    written = place.ovaflow("run", "my.yaml", "--dry-run")
    rows = [line.split() for line in written.splitlines()]
    assert ["prepare_dataset", "1", "tiny", "not", "there", "yet"] in rows
    assert ["train_shard", "4", "tiny/dismec,", "tiny/msi", "not", "there", "yet"] in rows
    assert rows[-1][1:] == ["jobs", "would", "run;", "--printshellcmds", "shows", "each"]
    written = place.ovaflow("run", "my.yaml", "--dry-run", "--printshellcmds")
    assert "output: results/tiny/dataset.h5" in written
    assert " would run" not in written


TABLE = "--logger-ovaflow-job-table"


def test_without_a_config_snakemake_gets_the_options(error, monkeypatch) -> None:
    monkeypatch.setattr("os.execv", lambda program, words: taken.append(words))
    taken = []
    for options in (["-n"], ["-j1", "--quiet"]):
        error("run", options, status=0)
    assert [words[6:] for words in taken] == [["--cores", "all", TABLE, "-n"], ["-j1", "--quiet"]]


@pytest.mark.parametrize("option", ["--text-colum=title", "--label-seperator"])
def test_a_misspelled_option_is_refused_before_anything_is_written(error, option) -> None:
    Path("a.csv").touch()
    for more in ([], ["--print-config"]):
        assert "Did you mean" in error("train", "a.csv", option, more)
    assert [*Path().iterdir()] == [Path("a.csv")]
    # almost --dry-run, and Snakemake's
    for other, status in (("--dryrun", 0), ("--no-such", 2)):
        error("train", "a.csv", other, "--print-config", status=status)


def test_jobs_of_another_version_are_refused(tmp_path, monkeypatch) -> None:
    other = tmp_path / "ovaflow"
    other.write_text("#!/bin/sh\necho ovaflow, version 0.0.7\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(
        InputError, match=f"jobs would run {other} of another version: ovaflow, version 0.0.7"
    ):
        require_command()


THERE = "allow writing there, or use another folder"


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("results", THERE),
        (".snakemake", THERE),
        ("cache", "set XDG_CACHE_HOME to a folder where Snakemake may write"),
    ],
)
def test_a_file_in_the_place_of_a_folder_is_one_line(
    tmp_path, error, monkeypatch, name, remedy
) -> None:
    (tmp_path / name).touch()
    if name == "cache":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
    assert error("run") == f"ovaflow: error: {tmp_path / name}: cannot be written; {remedy}\n"
