import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import ovaflow
from ovaflow.sparse.csr import row_dot

KERNELS = """
from ovaflow.sparse.jit import kernel

@kernel
def half(x):
    return x / 2

@kernel
def quarter(x):
    return half(half(x))

@kernel
def third(x):
    return x / 3
"""
WORK = "from kernels import quarter, third; print(quarter(8.0), third(9.0))"
"""Uses three kernels, one of which calls another, and which take a moment to compile."""

SAID = "2.0 3.0"

MADE = "data saved to '"
"""What Numba says of a version that it has compiled, if asked."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where processes find the kernels."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "kernels.py").write_text(KERNELS)
    return folder


def start(code, folder=None, **environment):
    """A process that runs some code in a folder; Numba says what it saves."""
    environment = {**os.environ, "NUMBA_DEBUG_CACHE": "1", **environment}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, cwd=folder, text=True, **pipes)


def run(code, folder, **environment):
    """Standard output and error of a process that runs some code in a folder."""
    environment = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def compiled_by(written):
    """Kernels that a process has compiled."""
    return [line.split(MADE)[1] for line in written.splitlines() if MADE in line and ".nbc" in line]


def test_cache_stays_where_it_is_when_numba_reads_its_settings_anew(folder, tmp_path):
    code = f"""
import os, numba, ovaflow.sparse.jit
os.environ["NUMBA_NUM_THREADS"] = "1"
numba.njit(lambda: 1)()
{WORK}
"""
    run(code, folder, OVAFLOW_CACHE=tmp_path)
    assert len(list(tmp_path.rglob("*.nbi"))) == 3
    assert {path.name for path in folder.iterdir()} <= {"kernels.py", "__pycache__"}
    assert not list(folder.rglob("*.nbi"))


def test_nan_and_infinity_keep_their_meaning():
    row = np.array([1.0, np.nan], np.float32), np.array([0, 1], np.int32)
    assert np.isnan(row_dot(*row, 0, 2, np.ones(2, np.float32)))
    assert np.isinf(row_dot(*row, 0, 1, np.full(2, np.inf, np.float32)))


def test_processes_that_start_together_compile_once(folder, tmp_path):
    processes = [start(WORK, folder, OVAFLOW_CACHE=str(tmp_path)) for _ in range(3)]
    written = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 3
    assert {text.splitlines()[-1] for text in written} == {SAID}
    times = Counter(name for text in written for name in compiled_by(text))
    assert len(times) == 3
    assert set(times.values()) == {1}


def test_the_lock_of_one_killed_while_it_compiles_is_free(folder, tmp_path):
    code = """
import fcntl, time
from ovaflow.sparse.jit import cache_directory
file = open(cache_directory() / "lock", "w")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""
    holder = start(code, folder, OVAFLOW_CACHE=str(tmp_path))
    assert holder.stdout.readline() == "held\n"
    waiting = start(f"import kernels; print('begins', flush=True); {WORK}", folder, OVAFLOW_CACHE=str(tmp_path))
    assert waiting.stdout.readline() == "begins\n"
    time.sleep(1)
    assert waiting.poll() is None
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert waiting.communicate()[0].splitlines()[-1] == SAID


def test_the_cache_of_changed_code_is_not_used(tmp_path):
    package = tmp_path / "ovaflow"
    shutil.copytree(Path(ovaflow.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    # a caller whose own file stays as it is
    (package / "solver" / "caller.py").write_text(
        "from ovaflow.sparse.csr import row_dot\nfrom ovaflow.sparse.jit import kernel\n\n"
        "@kernel\ndef first_score(data, indices, vector):\n    return row_dot(data, indices, 0, 2, vector)\n"
    )
    code = "import numpy as np; from ovaflow.solver.caller import first_score; "
    code += "print(first_score(np.ones(2, np.float32), np.arange(2, dtype=np.int32), np.ones(2, np.float32)))"
    places = {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", "OVAFLOW_CACHE": str(tmp_path / "cache")}
    assert start(code, **places).communicate()[0].splitlines()[-1] == "2.0"
    callee = package / "sparse" / "csr.py"
    before, source = callee.stat(), callee.read_text()
    changed = source.replace("total += data[k] * vector", "total -= data[k] * vector")
    assert changed != source
    callee.write_text(changed)
    # neither size nor time tells
    os.utime(callee, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert callee.stat().st_size == before.st_size
    assert start(code, **places).communicate()[0].splitlines()[-1] == "-2.0"


def test_without_any_folder_kernels_are_compiled_in_memory(folder, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    said, complaint = run(WORK, folder, OVAFLOW_CACHE=blocked)
    assert said == f"{SAID}\n"
    assert complaint.count("\n") == 1
    assert f"{blocked} cannot be written (Not a directory): each job compiles its own" in complaint
    assert list(tmp_path.iterdir()) == [blocked]


def test_damaged_files_are_compiled_anew(folder, tmp_path):
    assert run(WORK, folder, OVAFLOW_CACHE=tmp_path)[1] == ""
    (index,), (cut,), (zeros,), (empty,) = (
        list(tmp_path.rglob(pattern))
        for pattern in ("kernels.quarter-*.nbi", "kernels.half-*.nbc", "kernels.quarter-*.nbc", "kernels.third-*.nbc")
    )
    for path in (index, cut):
        path.write_bytes(path.read_bytes()[:-9].rstrip(b"."))
    zeros.write_bytes(bytes(zeros.stat().st_size))
    empty.write_bytes(b"")
    said, complaint = run(WORK, folder, OVAFLOW_CACHE=tmp_path)
    assert said == f"{SAID}\n"
    assert complaint.count("compiled kernels: ") == complaint.count("\n") == 4
    assert run(WORK, folder, OVAFLOW_CACHE=tmp_path) == (f"{SAID}\n", "")
