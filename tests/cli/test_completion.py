"""Completion in real shells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from terminal_of_its_own import Terminal

from ovaflow.cli import COMMANDS


@pytest.fixture
def environment(tmp_path):
    """Of a shell that finds the ovaflow of these tests, as after the activation of its virtual environment."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return {"PATH": path, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(tmp_path), "TERM": "xterm", "PS1": "$ "}


def needed(shell):
    if shutil.which(shell, path="/usr/bin:/bin") is None:
        pytest.skip(f"there is no {shell} on this machine")


def test_a_person_presses_tab_in_bash(environment, tmp_path):
    needed("bash")
    (tmp_path / "only-model.h5").touch()
    terminal = Terminal()
    typed = 'eval "$(_OVAFLOW_COMPLETE=bash_source ovaflow)"\necho ovaflow warm\tbla\nls only-mo\t\nexit\n'
    typed = typed.replace("echo ovaflow warm", "ovaflow warm")
    terminal.run(["bash", "--norc", "-i"], typed=typed, cwd=tmp_path, env=environment)
    assert "Got unexpected extra argument (bla); see ovaflow warm-up --help" in " ".join(terminal.text().split("\n"))


def completed_by_bash(environment, *words):
    line = " ".join(f"'{word}'" for word in words)
    script = f"""eval "$(_OVAFLOW_COMPLETE=bash_source ovaflow)"; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}
        _ovaflow_completion ovaflow; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "--norc", "-c", script], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_commands_options_and_values(environment):
    needed("bash")
    assert set(completed_by_bash(environment, "ovaflow", "")) == set(COMMANDS)
    assert completed_by_bash(environment, "ovaflow", "label") == ["label-tree"]
    assert "--initialization" in completed_by_bash(environment, "ovaflow", "train-shard", "--in")
    assert completed_by_bash(environment, "ovaflow", "train-shard", "--initialization", "mean") == ["mean-separating"]


def test_fish_completes_commands(environment):
    needed("fish")
    script = "_OVAFLOW_COMPLETE=fish_source ovaflow | source; complete -C 'ovaflow label-'"
    done = subprocess.run(["fish", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split("\t")[0] == "label-tree"


def test_a_person_presses_tab_in_zsh(environment, tmp_path):
    needed("zsh")
    terminal = Terminal()
    typed = 'autoload -Uz compinit; compinit -D -u; eval "$(_OVAFLOW_COMPLETE=zsh_source ovaflow)"\n'
    typed += "ovaflow warm\tbla\nexit\n"
    terminal.run(["zsh", "-f", "-i"], typed=typed, cwd=tmp_path, env=environment)
    assert "Got unexpected extra argument (bla); see ovaflow warm-up --help" in " ".join(terminal.text().split("\n"))


def test_names_of_commands_are_completed_without_loading_them():
    script = """import sys; from ovaflow.cli import group; import click
found = group.shell_complete(click.Context(group), "tr")
print([each.value for each in found], sorted(name for name in sys.modules if name.startswith(("numba", "numpy"))))"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    names, _, loaded = done.stdout.partition("] ")
    assert names.startswith("['train-shard', ") or "'train-shard'" in names
    assert loaded.strip() == "[]"
