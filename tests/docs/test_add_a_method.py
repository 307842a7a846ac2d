"""The page "Add a method", followed word by word on a copy of the tree."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docs.pages import ROOT, blocks_of, same_output

pytestmark = pytest.mark.long

PAGE = ROOT / "docs" / "add-a-method.md"
COPIED = ("src", "workflow", "config", "envs", "docs", "tests")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with all that the page writes and changes, before its commands."""
    folder = tmp_path_factory.mktemp("newcomer")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
    for name in ("Snakefile", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    (folder / "profiles").symlink_to("workflow/profiles")
    for block in blocks_of(PAGE):
        if block.language == "diff":
            subprocess.run(["git", "apply", "-p0"], input=block.code, text=True, cwd=folder, check=True)
        elif block.title and block.title != "output":
            path = folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, encoding="utf-8")
    return folder


@pytest.mark.timeout(600)
def test_the_page_works_as_it_stands(tree, shell):
    shutil.copy(ROOT / "docs" / "tutorial" / "records.csv", tree)
    # in another folder kernels would be compiled again
    (tree / "results").mkdir()
    (tree / "results" / ".warm-up").touch()
    environment = shell.environment | {"PYTHONPATH": str(tree / "src"), "NUMBA_DISABLE_JIT": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    written = ""
    for block in blocks_of(PAGE):
        if block.language == "sh" and block.mark == "in the tree":
            done = shell(block.code, tree, env=environment)
            assert done.returncode == 0, f"line {block.line}:\n{block.code}{done.stdout}"
            written = done.stdout
        elif block.title == "output":
            assert same_output(block.code, written), f"line {block.line} shows\n{block.code}\nand it was\n{written}"
    assert (tree / "results" / "report.html").exists()
    assert "nearest-centroid" in (tree / "docs" / "reference" / "config.md").read_text(encoding="utf-8")
