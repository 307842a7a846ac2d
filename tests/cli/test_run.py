import subprocess
import sys

import pytest
import yaml

from ovaflow.cli import main
from ovaflow.cli.run import config_for, format_of, name_of
from ovaflow.console.errors import InputError
from ovaflow.settings.config import resolve
from ovaflow.workflow import require_command


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.csv", b"title,labels\na,b\n", "a.csv, line 1: no column 'text', there are 'title', 'labels'"),
        ("a.csv", b"", "a.csv: is empty"),
        ("a.jsonl", b'{"text": "a"}\n{"tags": []}\n', "a.jsonl: no column 'labels', there are 'text', 'tags'"),
    ],
)
def test_a_wrong_column_is_found_before_snakemake_starts(tmp_path, monkeypatch, capsys, name, content, complaint):
    (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert main(["train", f"?.{name[2:]}"]) == 2
    assert complaint in capsys.readouterr().err
    assert main(["train", "none.csv"]) == 2
    assert "none.csv: no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("a.csv", "csv"),
        ("b.c.jsonl.gz", "jsonl"),
        ("A.TSV.XZ", "text-tsv"),
        ("x.svm.zst", "svmlight"),
        ("t.txt", "xmc-text"),
    ],
)
def test_the_name_tells_the_format(name, theirs):
    assert format_of(name) == theirs


@pytest.mark.parametrize("name", ["a", "a.gz", "a.other"])
def test_a_format_that_the_name_does_not_tell(name):
    assert yaml.safe_load(config_for(name, format="csv"))["datasets"]["a"]["format"] == "csv"
    with pytest.raises(InputError, match="give --format, one of csv, jsonl, parquet, xlsx, ods, text-tsv"):
        format_of(name)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [("my records.csv", "my-records"), ("-x.csv", "x"), (".csv", "data"), ("ä.csv", "data"), ("7.csv", "7")],
)
def test_names_of_datasets_are_legal(name, theirs):
    assert name_of(name) == theirs
    config = yaml.safe_load(config_for(name))
    assert resolve(config, {}).datasets[theirs].train == name


def test_values_that_are_not_given_are_left_to_the_defaults():
    config = yaml.safe_load(config_for("a.csv", text_column="title"))
    assert config["datasets"] == {"a": {"format": "csv", "train": "a.csv", "text_column": "title"}}
    with pytest.raises(InputError, match="label_separator"):
        config_for("a.csv", label_separator="")


def test_snakemake_gets_workflow_config_and_options(place):
    (place.folder / "random.py").write_text("raise SystemExit('a file of the user was imported')")
    command = [sys.executable, "-P", "-m", "ovaflow", "run", "my.yaml", "--dry-run"]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, cwd=place.folder, env=place.environment(), **both)
    assert done.returncode == 0, done.stdout
    assert "output: results/tiny/dataset.h5" in done.stdout
    assert "This was a dry-run" in done.stdout


def test_without_a_config_snakemake_gets_the_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.execv", lambda program, words: taken.append(words))
    taken = []
    assert main(["run", "-n"]) == 0
    assert main(["run", "-j1", "--quiet"]) == 0
    assert [words[6:] for words in taken] == [["--cores", "all", "-n"], ["-j1", "--quiet"]]


@pytest.mark.parametrize("option", ["--text-colum=title", "--label-seperator"])
def test_a_misspelled_option_is_refused_before_anything_is_written(tmp_path, monkeypatch, capsys, option):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").touch()
    for more in ([], ["--print-config"]):
        assert main(["train", "a.csv", option, *more]) == 2
        assert "Did you mean" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    # almost --dry-run, and Snakemake's
    assert main(["train", "a.csv", "--dryrun", "--print-config"]) == 0
    assert main(["train", "a.csv", "--no-such", "--print-config"]) == 2


def test_jobs_of_another_version_are_refused(tmp_path, monkeypatch):
    other = tmp_path / "ovaflow"
    other.write_text("#!/bin/sh\necho ovaflow, version 0.0.7\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(InputError, match=f"jobs would run {other} of another version: ovaflow, version 0.0.7"):
        require_command()


@pytest.mark.parametrize("name", ["results", ".snakemake"])
def test_a_file_in_the_place_of_a_folder_is_one_line(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).touch()
    assert main(["run"]) == 2
    complaint = "cannot be written; allow writing there, or use another folder"
    assert capsys.readouterr().err == f"ovaflow: error: {tmp_path / name}: {complaint}\n"


def test_a_cache_that_snakemake_cannot_write_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cache = tmp_path / "cache"
    cache.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert main(["run"]) == 2
    remedy = "set XDG_CACHE_HOME to a folder where Snakemake may write"
    assert capsys.readouterr().err == f"ovaflow: error: {cache}: cannot be written; {remedy}\n"
