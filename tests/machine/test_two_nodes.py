"""Jobs on two NUMA nodes: of this machine if it has them, or else of an emulated one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ovaflow.machine.topology import read_topology

HERE = Path(__file__).parent


@pytest.mark.numa
@pytest.mark.timeout(700)
def test_jobs_run_and_have_their_pages_on_their_nodes() -> None:
    proof = [sys.executable, HERE / "two_nodes.py"]
    if len(read_topology()) != 2:
        folder = os.environ.get("NUMA_GUEST_FOLDER")
        if not folder:
            pytest.skip("one NUMA node, and NUMA_GUEST_FOLDER names no folder (see numa-guest)")
        proof = [HERE / "numa-guest", folder, *proof]
    done = subprocess.run(proof, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    assert "proved" in done.stdout
