"""A type checker knows the names of README's Python example."""

import os
import subprocess
import sys

import pytest
from docs.pages import ROOT, read_blocks
from pipeline_folder import SOURCE_FOLDER

NAMES = """
texts: list[str]
labels: list[list[str]]
test_texts: list[str]
test_labels: list[list[str]]
"""
SETTINGS = "[mypy]\nfollow_imports = silent\n[mypy-sklearn.*]\nignore_missing_imports = True\n"


@pytest.mark.long
def test_a_type_checker_accepts_the_readme(tmp_path) -> None:
    (example,) = [
        block.code for block in read_blocks(ROOT / "README.md") if block.language == "python"
    ]
    (tmp_path / "example.py").write_text(NAMES + example)
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    # an installed package has types if it carries py.typed
    is_installed = "site-packages" in SOURCE_FOLDER.parts
    environment = os.environ if is_installed else os.environ | {"MYPYPATH": str(SOURCE_FOLDER)}
    command = [sys.executable, "-m", "mypy", "example.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
