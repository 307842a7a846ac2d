import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

import ovaflow
from ovaflow.sparse.csr import row_dot

WORK = """
import numpy as np
from ovaflow.sparse.csr import CSR, product, transpose
X = CSR(np.arange(4, dtype=np.float32), np.array([0, 2, 1, 2], np.int32), np.array([0, 2, 4], np.int64), 3)
out = np.empty(3, np.float32)
product(*transpose(X).arrays, np.ones(2, np.float32), out)
print(out.tolist())
"""
"""Uses three kernels, one of which calls another."""

MADE = "data saved to '"
"""What Numba says of a version that it has compiled, if asked."""


def start(code, **environment):
    """A process that runs some code; Numba says what it saves."""
    environment = {**os.environ, "NUMBA_DEBUG_CACHE": "1", **environment}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, text=True, **pipes)


def run(code, folder=None, **environment):
    """Standard output and error of a process that runs some code in a folder."""
    environment = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def compiled_by(written):
    """Kernels that a process has compiled."""
    return [line.split(MADE)[1] for line in written.splitlines() if MADE in line and ".nbc" in line]


def test_cache_stays_where_it_is_when_numba_reads_its_settings_anew(tmp_path):
    code = """
import os, numba, ovaflow.sparse.csr
os.environ["NUMBA_NUM_THREADS"] = "1"
numba.njit(lambda: 1)()
from ovaflow.sparse.panel import panel_row
print(panel_row.stats.cache_path)
exec(os.environ["WORK"])
"""
    said, _ = run(code, tmp_path, OVAFLOW_CACHE=tmp_path / "cache", WORK=WORK)
    assert said.startswith(str(tmp_path / "cache"))
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]
    assert len(list((tmp_path / "cache").rglob("*.nbi"))) >= 3


def test_nan_and_infinity_keep_their_meaning():
    row = np.array([1.0, np.nan], np.float32), np.array([0, 1], np.int32)
    assert np.isnan(row_dot(*row, 0, 2, np.ones(2, np.float32)))
    assert np.isinf(row_dot(*row, 0, 1, np.full(2, np.inf, np.float32)))


def test_processes_that_start_together_compile_once(tmp_path):
    processes = [start(WORK, OVAFLOW_CACHE=str(tmp_path)) for _ in range(4)]
    written = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert {text.splitlines()[-1] for text in written} == {"[0.0, 2.0, 4.0]"}
    times = Counter(name for text in written for name in compiled_by(text))
    assert len(times) == 3
    assert set(times.values()) == {1}
    assert compiled_by(start(WORK, OVAFLOW_CACHE=str(tmp_path)).communicate()[0]) == []


def test_the_lock_of_one_killed_while_it_compiles_is_free(tmp_path):
    code = "from ovaflow.sparse.jit import cache_directory; print(cache_directory())"
    held = Path(run(code, OVAFLOW_CACHE=tmp_path)[0].strip()) / "lock"
    hold = f"import fcntl, time; fcntl.flock(open({str(held)!r}, 'w'), fcntl.LOCK_EX); print(1, flush=True); "
    holder = start(f"{hold} time.sleep(600)")
    assert holder.stdout.readline() == "1\n"
    begin = "from ovaflow.sparse.csr import product\nprint('begins', flush=True)\n"
    waiting = start(begin + WORK, OVAFLOW_CACHE=str(tmp_path))
    assert waiting.stdout.readline() == "begins\n"
    time.sleep(1)
    assert waiting.poll() is None
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert waiting.communicate()[0].splitlines()[-1] == "[0.0, 2.0, 4.0]"


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


def test_without_any_folder_kernels_are_compiled_in_memory(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    said, complaint = run(WORK, OVAFLOW_CACHE=blocked)
    assert said == "[0.0, 2.0, 4.0]\n"
    assert complaint.count("\n") == 1
    assert f"{blocked} cannot be written (Not a directory): each job compiles its own" in complaint
    assert list(tmp_path.iterdir()) == [blocked]


def test_damaged_files_are_compiled_anew(tmp_path):
    assert run(WORK, OVAFLOW_CACHE=tmp_path)[1] == ""
    (index,), (cut,), (zeros,), (empty,) = (
        list(tmp_path.rglob(pattern))
        for pattern in ("csr.product-*.nbi", "csr.row_dot-*.nbc", "csr.product-*.nbc", "csr._*.nbc")
    )
    for path in (index, cut):
        path.write_bytes(path.read_bytes()[:-9].rstrip(b"."))
    zeros.write_bytes(bytes(zeros.stat().st_size))
    empty.write_bytes(b"")
    said, complaint = run(WORK, OVAFLOW_CACHE=tmp_path)
    assert said == "[0.0, 2.0, 4.0]\n"
    assert complaint.count("compiled kernels: ") == complaint.count("\n") == 4
    assert run(WORK, OVAFLOW_CACHE=tmp_path) == ("[0.0, 2.0, 4.0]\n", "")
