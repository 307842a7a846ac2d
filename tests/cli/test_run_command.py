"""``ovaflow run``: the pipeline by one word."""

import subprocess
import sys

import pytest

from ovaflow.cli import main


def run(place, *arguments):
    command = [sys.executable, "-P", "-m", "ovaflow", "run", *arguments]
    done = subprocess.run(command, cwd=place.folder, env=place.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(("arguments", "named"), [(["my.yaml", "--dry-run"], "tiny"), (["-n"], "docstrings")])
def test_snakemake_gets_workflow_config_and_options(place, arguments, named):
    (place.folder / "random.py").write_text("raise SystemExit('a file of the user was imported')")
    written = run(place, *arguments)
    assert f"output: results/{named}/dataset.h5" in written
    assert "This was a dry-run" in written


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "my.yaml: No such file or directory"),
        ("datasets:\n\ttiny: {}\n", "my.yaml, line 2: not valid YAML"),
        ("datasets: {a: {source: builtin}}\nruns: {b: {initialization: mean}}\n", 'found "mean", expected zero or'),
    ],
)
def test_mistakes_in_the_config_are_one_line(tmp_path, monkeypatch, capsys, content, complaint):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "my.yaml").write_text(content)
    assert main(["run", "my.yaml"]) == 2
    written = capsys.readouterr().err
    assert complaint in written
    assert written.count("\n") == 1
