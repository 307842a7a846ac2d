"""Advice of messages, carried out as a person would: copied into a shell."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ovaflow.settings.prepare import PrepareSource

_COMMAND = re.compile(
    r"(?:\((?:echo|printf) '|python3 -c |cut -f |tr |iconv |cat |gzip -dc ).*? > (new\.\w+)"
)
_OLD = re.compile(r"\bold\.\S+?(?=[ )])")

_VALUE = r""""[^"]*"|\[(?:[^][]|\[[^]]*\])*\]|(?!set\b)[\w.-]+"""
_SETTING = re.compile(rf"\b({'|'.join(PrepareSource.model_fields)}): ({_VALUE})")
_EXAMPLE = re.compile(r"\bset (\w+) to [^;]*?\bsuch as ([\w.]+\w)")


def find_settings(said) -> list[str]:
    """Find the settings that a message advises, as options, in their order."""
    matches = [*_SETTING.finditer(said), *_EXAMPLE.finditer(said)]
    options: dict[str, None] = {}
    for match in sorted(matches, key=lambda match: match.start()):
        name, value = match.groups()
        option = name.replace("_", "-")
        # the command line takes one name at a time
        values = json.loads(value) if name == "exclude" else [value.strip('"')]
        for each in values:
            options[f"--{option}={each}"] = None
    return list(options)


def has_command(said) -> bool:
    """Tell whether a message advises a command that :func:`follow_command` carries out."""
    return _COMMAND.search(said) is not None


def follow_command(said, path=None) -> Path:
    """Carry out the command that a message advises, in the current folder; return the new file.

    The file at the path is what the command calls ``old.csv`` or the like.
    """
    command = _COMMAND.search(said)
    if path is not None:
        shutil.copyfile(path, _OLD.search(command[0])[0])
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = os.environ | {"PATH": programs}
    done = subprocess.run(
        ["sh", "-c", command[0]], env=shell, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return Path(command[1]).resolve()
