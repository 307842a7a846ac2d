import contextlib
import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pyte
import pytest

from ovaflow.methods import all_steps


def seen(command, typed, **options):
    """What a person sees on a terminal after a program has run to its end, with what was typed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, **options)
    os.close(theirs)
    os.write(ours, typed.encode())
    screen = pyte.Screen(100, 30)
    stream = pyte.ByteStream(screen)
    # the error is how Linux says that the other side is closed
    with contextlib.suppress(OSError):
        while written := os.read(ours, 65536):
            stream.feed(written)
    os.close(ours)
    process.wait()
    return " ".join(line.rstrip() for line in screen.display)


@pytest.fixture
def environment(tmp_path):
    """Of a shell that finds the ovaflow of these tests, as after the activation of its virtual environment."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return {"PATH": path, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(tmp_path), "TERM": "xterm", "PS1": "$ "}


def needed(shell):
    if shutil.which(shell, path="/usr/bin:/bin") is None:
        pytest.skip(f"there is no {shell} on this machine")


SHELLS = {
    "bash": (["bash", "--norc", "-i"], ""),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -D -u; "),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_person_presses_tab(shell, environment, tmp_path):
    needed(shell)
    command, before = SHELLS[shell]
    typed = f'{before}eval "$(_OVAFLOW_COMPLETE={shell}_source ovaflow)"\novaflow warm\tbla\nexit\n'
    text = seen(command, typed, cwd=tmp_path, env=environment)
    assert "Got unexpected extra argument (bla); see ovaflow warm-up --help" in text


def test_fish_completes_commands(environment):
    needed("fish")
    script = "_OVAFLOW_COMPLETE=fish_source ovaflow | source; complete -C 'ovaflow label-'"
    done = subprocess.run(["fish", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split("\t")[0] == "label-tree"


def test_names_of_commands_are_completed_without_loading_them():
    script = """import sys; from ovaflow.cli import group; import click
print(*(each.value for each in group.shell_complete(click.Context(group), "")))
print(*(name for name in sys.modules if name.startswith(("numba", "numpy"))))"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    names, loaded = done.stdout.splitlines()
    assert set(all_steps()) <= set(names.split())
    assert loaded == ""
