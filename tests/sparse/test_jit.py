"""The cache of compiled kernels."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ovaflow
from ovaflow.sparse.csr import row_dot

KERNELS = """
import os, numba
from ovaflow.sparse.jit import kernel

@kernel
def half(x):
    return x / 2

# whereupon Numba reads its settings anew
os.environ["NUMBA_NUM_THREADS"] = "1"

@kernel
def quarter(x):
    return half(half(x))

@kernel
def third(x):
    return x / 3

@numba.njit(cache=True)
def fifth(x):
    return x / 5
"""
"""Three of our kernels, one of which calls another, and a function of the program itself."""

CALLEES = {"callee", "strict_callee"}
DECORATORS = CALLEES | {"kernel", "strict_kernel", "inner_kernel"}

WORK = "from kernels import *; print(half(8.0), quarter(8.0), third(9.0), fifth(10.0))"
PRINTED = "4.0 2.0 3.0 2.0\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Folder from which processes import the kernels."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "kernels.py").write_text(KERNELS)
    return folder


def start(code: str, folder: Path, **environment: object) -> subprocess.Popen:
    """Start a process that runs some code in a folder."""
    variables = os.environ | {name: str(value) for name, value in environment.items()}
    pipe = subprocess.PIPE
    words = sys.executable, "-c", code
    return subprocess.Popen(words, env=variables, cwd=folder, text=True, stdout=pipe, stderr=pipe)


def run(code: str, folder: Path, **environment: object) -> tuple[str, str]:
    """Run some code in a folder: standard output and standard error."""
    return start(code, folder, **environment).communicate()


def list_cached_functions(folder: Path) -> list[str]:
    """List the functions that a cache holds."""
    return sorted(path.name.split("-")[0] for path in folder.rglob("*.nbi"))


def test_each_function_has_its_cache_which_processes_that_start_together_share(
    folder, tmp_path
) -> None:
    processes = [start(WORK, folder, OVAFLOW_CACHE=tmp_path) for _ in range(2)]
    assert [process.communicate() for process in processes] == [(PRINTED, "")] * 2
    assert list_cached_functions(tmp_path) == [
        f"kernels.{name}" for name in ("half", "quarter", "third")
    ]
    assert list_cached_functions(folder) == ["kernels.fifth"]
    # Numba says what it stores
    written, _ = run(WORK, folder, OVAFLOW_CACHE=tmp_path, NUMBA_DEBUG_CACHE=1)
    assert "data loaded from" in written
    assert "saved" not in written


def test_python_calls_no_callee() -> None:
    # which would crash
    package = Path(ovaflow.__file__).parent
    modules = {}
    for path in package.rglob("*.py"):
        name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        modules[name] = ast.parse(path.read_text(encoding="utf-8"))
    callees = {name: set(list_functions(tree, CALLEES)) for name, tree in modules.items()}
    assert sum(map(len, callees.values())) > 50
    for name, tree in modules.items():
        known = set(callees[name])
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                known |= callees.get(node.module, set()) & {alias.name for alias in node.names}
        assert not known & set(list_names_in_python(tree)), name


def list_functions(tree: ast.Module, decorators: set[str]) -> Iterator[str]:
    """List the functions that have one of these decorators."""
    for node in tree.body:
        if has_decorator(node, decorators):
            yield node.name


def list_names_in_python(node: ast.AST) -> Iterator[str]:
    """List the names that code uses outside of kernels."""
    if isinstance(node, ast.Name):
        yield node.id
    for child in ast.iter_child_nodes(node):
        if not has_decorator(child, DECORATORS):
            yield from list_names_in_python(child)


def has_decorator(node: ast.AST, decorators: set[str]) -> bool:
    """Check if a node is a function with one of these decorators."""
    if not isinstance(node, ast.FunctionDef):
        return False
    return bool({ast.unparse(decorator) for decorator in node.decorator_list} & decorators)


def test_nan_and_infinity_keep_their_meaning() -> None:
    data = np.array([1.0, np.nan], np.float32)
    indices = np.array([0, 1], np.int32)
    assert np.isnan(row_dot(data, indices, 0, 2, np.ones(2, np.float32)))
    assert np.isinf(row_dot(data, indices, 0, 1, np.full(2, np.inf, np.float32)))


@pytest.mark.long
def test_the_cache_of_changed_code_is_not_used(tmp_path) -> None:
    package = tmp_path / "ovaflow"
    shutil.copytree(
        Path(ovaflow.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    # a caller whose own file stays as it is
    (package / "solver" / "caller.py").write_text(
        "from ovaflow.sparse.csr import row_dot\nfrom ovaflow.sparse.jit import kernel\n\n"
        "@kernel\ndef first_score(data, indices, vector):\n"
        "    return row_dot(data, indices, 0, 2, vector)\n"
    )
    code = "import numpy as np; from ovaflow.solver.caller import first_score; "
    code += "ones = np.ones(2, np.float32); "
    code += "print(first_score(ones, np.arange(2, dtype=np.int32), ones))"
    environment = {
        "PYTHONPATH": tmp_path,
        "PYTHONDONTWRITEBYTECODE": 1,
        "OVAFLOW_CACHE": tmp_path / "cache",
    }
    assert run(code, tmp_path, **environment) == ("2.0\n", "")
    callee = package / "sparse" / "csr.py"
    before = callee.stat()
    source = callee.read_text()
    changed = source.replace("total += data[k] * vector", "total -= data[k] * vector")
    assert changed != source
    callee.write_text(changed)
    # neither size nor time tells
    os.utime(callee, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert callee.stat().st_size == before.st_size
    assert run(code, tmp_path, **environment) == ("-2.0\n", "")


def test_without_any_folder_kernels_are_compiled_in_memory(folder, tmp_path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    printed, complaint = run(WORK, folder, OVAFLOW_CACHE=blocked)
    assert printed == PRINTED
    assert complaint.count("\n") == 1
    assert f"{blocked} cannot be written (Not a directory): each job compiles its own" in complaint
    assert list(tmp_path.iterdir()) == [blocked]


@pytest.mark.long
def test_files_cut_short_by_a_crash_are_compiled_anew(folder, tmp_path) -> None:
    run(WORK, folder, OVAFLOW_CACHE=tmp_path)
    for pattern, end in {"*.half-*.nbi": -9, "*.quarter-*.nbc": None, "*.third-*.nbc": 0}.items():
        (path,) = tmp_path.rglob(pattern)
        good = path.read_bytes()
        damaged = bytes(len(good)) if end is None else good[:end]
        path.write_bytes(damaged)
    assert run(WORK, folder, OVAFLOW_CACHE=tmp_path) == (PRINTED, "")
    # Numba says what it stores
    written, _ = run(WORK, folder, OVAFLOW_CACHE=tmp_path, NUMBA_DEBUG_CACHE=1)
    assert "saved" not in written
