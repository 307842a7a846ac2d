"""A shell in which the commands of the documentation run."""

import os
import subprocess
import sys

import pytest
from pipeline_folder import SOURCE_FOLDER


@pytest.fixture(scope="session")
def tools(tmp_path_factory):
    """Folder with the commands that pages call."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("ovaflow", "snakemake"):
        (folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} -P -m {name} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def shell(tools):
    """Runs a block in a folder, which ends so, and returns what it wrote."""
    keep = {
        key: value
        for key, value in os.environ.items()
        if key.startswith(("OVAFLOW_", "HOME", "LANG", "LC_"))
    }
    environment = keep | {
        "PATH": f"{tools}:/usr/bin:/bin",
        "PYTHONPATH": str(SOURCE_FOLDER),
        "COLUMNS": "80",
    }

    def run(code, folder, status=0, **variables):
        command = ["bash", "-euo", "pipefail", "-c", code]
        together = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(command, cwd=folder, env=environment | variables, **together)
        assert done.returncode == status, f"{code}{done.stdout}"
        return done.stdout

    run.environment = environment
    return run
