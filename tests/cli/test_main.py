import subprocess
import sys

import pytest
from commands import ovaflow

from ovaflow import cli
from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.registry import all_steps


@pytest.mark.parametrize("name", all_steps())
def test_every_command_has_help(name) -> None:
    assert "Usage: ovaflow " + name in ovaflow(name, "--help")


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (
            InputError("bad number", path="x.txt", line=7, remedy="fix it"),
            2,
            "x.txt, line 7: bad number; fix it",
        ),
        (
            FileNotFoundError(2, "No such file or directory", "x.h5"),
            1,
            "x.h5: No such file or directory",
        ),
        (MemoryError(), 1, "out of memory"),
    ],
)
def test_errors_are_one_line_and_a_status(monkeypatch, capsys, error, status, said) -> None:
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(cli.group, "main", fail)
    assert main([]) == status
    line = capsys.readouterr().err
    assert line.startswith("ovaflow: error: ")
    assert said in line
    assert line.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        "no-such-command",
        "plan",
        "plan x.h5 --shards=-1 --output=y",
        "prepare --format=builtin --bias=nan --output=y",
        "merge x.h5 --prune=inf --dataset=y --output=z --statistics=w",
    ],
)
def test_wrong_usage_has_status_2(arguments) -> None:
    written = ovaflow(arguments, status=2)
    assert written.startswith("ovaflow: error: ")
    assert written.count("\n") == 1
    assert written.endswith(" --help\n")


def test_without_a_command_there_is_help() -> None:
    assert "train-shard" in ovaflow(status=2)


def test_module_runs_as_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ovaflow", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("ovaflow, version ")
    missing = subprocess.run(
        [sys.executable, "-m", "ovaflow", "means", "no.h5", "--output=m.h5"], capture_output=True
    )
    assert missing.returncode == 2
    assert missing.stderr.startswith(b"ovaflow: error: no.h5: ")
