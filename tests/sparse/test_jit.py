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
from ovaflow.sparse import jit
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


def cache_folder(**environment):
    code = "from ovaflow.sparse.jit import cache_directory; print(cache_directory())"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_cache_stays_where_it_is_when_numba_reads_its_settings_anew(tmp_path):
    code = """
import os, numba, ovaflow.sparse.csr
os.environ["NUMBA_NUM_THREADS"] = "1"
numba.njit(lambda: 1)()
from ovaflow.sparse.panel import panel_row
print(panel_row._cache.cache_path)
exec(os.environ["WORK"])
"""
    environment = {**os.environ, "OVAFLOW_CACHE": str(tmp_path / "cache"), "WORK": WORK}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path / "cache"))
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_cache_stands_where_it_is_asked_for(tmp_path):
    assert cache_folder(OVAFLOW_CACHE=str(tmp_path)).startswith(f"{tmp_path}{os.sep}kernels-")


def test_cache_falls_back_where_it_cannot_be_written(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    folder = cache_folder(OVAFLOW_CACHE=str(blocked), TMPDIR=str(tmp_path))
    assert folder.startswith(f"{tmp_path}{os.sep}ovaflow-{os.getuid()}")


def test_nan_and_infinity_keep_their_meaning():
    row = np.array([1.0, np.nan], np.float32), np.array([0, 1], np.int32)
    assert np.isnan(row_dot(*row, 0, 2, np.ones(2, np.float32)))
    assert np.isinf(row_dot(*row, 0, 1, np.full(2, np.inf, np.float32)))


def start(code, **environment):
    environment = {**os.environ, "NUMBA_DEBUG_CACHE": "1", **environment}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, text=True, **pipes)


def compiled_by(written):
    return [line.split(MADE)[1] for line in written.splitlines() if MADE in line]


def test_processes_that_start_together_compile_once(tmp_path):
    processes = [start(WORK, OVAFLOW_CACHE=str(tmp_path)) for _ in range(7)]
    written = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 7
    assert {text.splitlines()[-1] for text in written} == {"[0.0, 2.0, 4.0]"}
    times = Counter(name for text in written for name in compiled_by(text))
    assert len(times) == 3
    assert set(times.values()) == {1}
    assert compiled_by(start(WORK, OVAFLOW_CACHE=str(tmp_path)).communicate()[0]) == []


def test_the_lock_of_one_killed_while_it_compiles_is_free(tmp_path):
    held = Path(cache_folder(OVAFLOW_CACHE=str(tmp_path))) / "ovaflow.sparse.csr.product.lock"
    hold = f"import fcntl, time; fcntl.flock(open({str(held)!r}, 'w'), fcntl.LOCK_EX); print(1, flush=True); "
    holder = start(f"{hold} time.sleep(600)")
    assert holder.stdout.readline() == "1\n"
    waiting = start(WORK, OVAFLOW_CACHE=str(tmp_path))
    for line in waiting.stdout:
        if MADE in line and "transpose" in line:
            break
    time.sleep(0.2)
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


def test_the_cache_is_of_the_cpu_that_is_compiled_for(tmp_path):
    places = {"OVAFLOW_CACHE": str(tmp_path)}
    assert cache_folder(**places, NUMBA_CPU_NAME="x86-64", NUMBA_CPU_FEATURES="").endswith("-x86-64")


def test_nothing_is_left_in_other_folders(tmp_path):
    code = WORK.replace(
        "import numpy", "import os\nimport ovaflow.sparse.jit\nos.environ['NUMBA_NUM_THREADS'] = '1'\nimport numpy"
    )
    code = code.replace("X = CSR", "import numba\nnumba.njit(lambda x: x)(1)\nX = CSR")
    environment = {**os.environ, "OVAFLOW_CACHE": str(tmp_path / "cache")}
    (tmp_path / "here").mkdir()
    subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path / "here", check=True, capture_output=True
    )
    assert list((tmp_path / "here").iterdir()) == []
    assert len(list((tmp_path / "cache").rglob("*.nbi"))) >= 3


def run(code, **environment):
    environment = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)


def test_without_any_folder_kernels_are_compiled_in_memory(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    code = f"import tempfile; tempfile.tempdir = {str(blocked)!r}\n{WORK}"
    done = run(code, OVAFLOW_CACHE=str(blocked))
    assert done.stdout == "[0.0, 2.0, 4.0]\n"
    assert done.stderr.count("\n") == 1
    assert f"{blocked} cannot be written (Not a directory), nor can" in done.stderr
    assert list(tmp_path.iterdir()) == [blocked]


def test_damaged_files_are_compiled_anew(tmp_path):
    assert run(WORK, OVAFLOW_CACHE=str(tmp_path)).stderr == ""
    (index,), (cut,), (empty,) = (
        list(tmp_path.rglob(pattern)) for pattern in ("csr.product-*.nbi", "csr.row_dot-*.nbc", "csr._*.nbc")
    )
    index.write_bytes(index.read_bytes()[:-9])
    cut.write_bytes(cut.read_bytes()[:-9])
    empty.write_bytes(b"")
    done = run(WORK, OVAFLOW_CACHE=str(tmp_path))
    assert done.stdout == "[0.0, 2.0, 4.0]\n"
    assert done.stderr.count("compiled kernels: ") == done.stderr.count("\n") == 3
    again = run(WORK, OVAFLOW_CACHE=str(tmp_path))
    assert (again.stdout, again.stderr) == ("[0.0, 2.0, 4.0]\n", "")


def test_code_is_not_loaded_from_a_folder_of_somebody_else(tmp_path):
    assert jit._private(tmp_path / "own").stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(tmp_path / "own")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "foreign").mkdir(mode=0o700)
    names = ["link", "open"]
    if os.getuid() == 0:
        os.chown(tmp_path / "foreign", 12345, 12345)
        names.append("foreign")
    for name in names:
        with pytest.raises(OSError, match=r"belongs to somebody else|File exists"):
            jit._private(tmp_path / name)
