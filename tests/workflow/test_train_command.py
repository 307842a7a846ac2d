import subprocess
import sys

import pytest
import yaml
from tiny_table import write_table

from ovaflow.cli import main

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]


def train(place, *arguments, status=0):
    done = subprocess.run(
        [sys.executable, "-m", "ovaflow", "train", *arguments],
        cwd=place.folder,
        env=place.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def test_a_table_is_all_that_a_person_needs(place, monkeypatch, capsys):
    (place.folder / "my.yaml").unlink()
    write_table(place.folder / "records.csv", columns=("title", "subjects"))
    columns = ["--text-column=title", "--labels-column=subjects", "--label-separator=|"]
    arguments = ["records.csv", *columns, "--cores=2"]
    written = train(place, *arguments, "--until", "prepare_dataset")
    assert "config: records.yaml\n" in written
    # there is no model yet
    assert "ovaflow predict" not in written
    assert (place.folder / "results/records/dataset.h5").is_file()
    config = place.folder / "records.yaml"
    settings = yaml.safe_load(config.read_text())
    assert settings["datasets"]["records"]["train"] == "records.csv"
    ours = config.read_text()
    config.write_text(f"{ours}train: {{shards: 2}}\n")
    monkeypatch.chdir(place.folder)
    assert main(["train", *arguments]) == 2
    assert "run it as it is: ovaflow run records.yaml" in capsys.readouterr().err
    assert "shards: 2" in config.read_text()
    monkeypatch.setattr("os.execv", lambda *_: None)
    assert main(["train", *arguments, "--force"]) == 0
    assert config.read_text() == ours


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["corpus"], {"format": "annif", "train": "corpus"}),
        (
            ["corpus.tsv", "--vocabulary=v.ttl", "--language=fi", "--test=corpus"],
            {"format": "annif", "train": "corpus.tsv", "test": "corpus", "vocabulary": "v.ttl", "language": "fi"},
        ),
        (
            ["corpus.tsv", "--vocabulary=v.ttl", "--format=text-tsv"],
            {"format": "text-tsv", "train": "corpus.tsv", "vocabulary": "v.ttl"},
        ),
    ],
)
def test_annifs_corpora(tmp_path, monkeypatch, capsys, arguments, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    for name in ("corpus.tsv", "v.ttl"):
        (tmp_path / name).touch()
    assert main(["train", *arguments, "--print-config"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["datasets"]["corpus"] == expected


def test_a_pattern_that_the_shell_expands_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).touch()
    assert main(["train", "a.csv", "b.csv", "c.csv", "--print-config"]) == 2
    written = capsys.readouterr().err
    assert "give one DATA; several are a pattern in quotes, '*.csv'" in written
    assert written.count("\n") == 1


def test_a_dry_run_leaves_nothing(place):
    (place.folder / "my.yaml").unlink()
    written = train(place, "records.csv", "--label-separator=|", "--dry-run", "--output=elsewhere")
    assert f"train: {place.folder / 'records.csv'}" in written
    assert "train_shard " in written
    assert {path.name for path in place.folder.iterdir()} == {"records.csv", ".snakemake"}


def test_a_dry_run_refuses_what_a_run_would(place, monkeypatch, capsys):
    (place.folder / "records.yaml").write_text((place.folder / "my.yaml").read_text())
    monkeypatch.chdir(place.folder)
    assert main(["train", "records.csv", "--label-separator=|", "--dry-run"]) == 2
    assert "records.yaml: differs from the config of this command" in capsys.readouterr().err
