"""Kernels that read text never leave their arrays: the test of the readers again, with Numba's checks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.long
def test_no_kernel_leaves_its_arrays(tmp_path):
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "OVAFLOW_CACHE": str(tmp_path)}
    readers = Path(__file__).with_name("test_readers.py")
    tests = f"{readers}::test_lines_equal_those_of_the_plain_parser"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout[-3000:]
    assert "1 passed" in finished.stdout
