import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ovaflow
from ovaflow import fingerprint
from ovaflow.fingerprint import code_fingerprint, kernel_fingerprint

CODE = (
    "from ovaflow.fingerprint import code_fingerprint as f, kernel_fingerprint as k\n"
    "print(f('ovaflow.cli.train_shard'), f('ovaflow.cli.report'), f('ovaflow.cli.prepare'), k())"
)


@pytest.fixture
def copied(tmp_path):
    shutil.copytree(Path(ovaflow.__file__).parent, tmp_path / "ovaflow", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def fingerprints(folder):
    done = subprocess.run([sys.executable, "-c", CODE], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_change_reaches_the_steps_that_execute_it(copied):
    before = fingerprints(copied)
    (copied / "ovaflow" / "solver" / "newton.py").open("a").write("\nCHANGED = True\n")
    train, _, prepare, kernels = (a != b for a, b in zip(before, fingerprints(copied), strict=True))
    assert train
    assert not prepare
    assert kernels
    before = fingerprints(copied)
    (copied / "ovaflow" / "report" / "page.py").open("a").write("\nCHANGED = True\n")
    changed = [a != b for a, b in zip(before, fingerprints(copied), strict=True)]
    assert changed == [False, True, False, False]


def test_fingerprints_are_of_this_source_and_repeat():
    assert code_fingerprint("ovaflow.cli.plan") == code_fingerprint("ovaflow.cli.plan")
    assert len(kernel_fingerprint()) == 32


def test_imports_are_those_that_python_sees():
    package = Path(ovaflow.__file__).parent
    for path in package.rglob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.update(f"{node.module}.{alias.name}" for alias in node.names)
        parts = [name.split(".")[1:] for name in names if name.split(".")[0] == "ovaflow"]
        sources = {package.joinpath(*part[:depth]) for part in parts for depth in range(len(part) + 1)}
        theirs = {file for source in sources for file in (source.with_suffix(".py"), source / "__init__.py")}
        assert fingerprint._imports_of(path) == {file for file in theirs if file.is_file()}


def test_unknown_module():
    with pytest.raises(ModuleNotFoundError, match="no_such"):
        code_fingerprint("ovaflow.no_such")
