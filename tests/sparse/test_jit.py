import os
import subprocess
import sys

import numpy as np

from ovaflow.sparse.csr import row_dot


def cache_folder(**environment):
    code = "from ovaflow.sparse.jit import cache_directory; print(cache_directory())"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


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
