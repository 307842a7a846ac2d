"""Names of commands after TAB, as the scripts of click ask for them."""

import os
import subprocess
import sys

import pytest

from ovaflow.registry import all_steps


@pytest.mark.parametrize(("shell", "word"), [("bash", "1"), ("zsh", "1"), ("fish", "warm")])
def test_a_person_presses_tab(shell, word):
    def run_completion(instruction):
        asked = {
            "COMP_WORDS": "ovaflow warm",
            "COMP_CWORD": word,
            "_OVAFLOW_COMPLETE": f"{shell}_{instruction}",
        }
        command = [sys.executable, "-m", "ovaflow"]
        return subprocess.run(
            command, env=os.environ | asked, capture_output=True, text=True, check=True
        ).stdout

    assert f"_OVAFLOW_COMPLETE={shell}_complete" in run_completion("source")
    assert "warm-up" in run_completion("complete")


def test_names_of_commands_are_completed_without_loading_them() -> None:
    script = """import sys; from ovaflow.cli import group; import click
print(*(each.value for each in group.shell_complete(click.Context(group), "")))
print(*(name for name in sys.modules if name.startswith(("numba", "numpy"))))"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    names, loaded = done.stdout.splitlines()
    assert set(all_steps()) <= set(names.split())
    assert loaded == ""
