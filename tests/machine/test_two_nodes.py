"""Training jobs on two NUMA nodes: on this machine if it has them, or else on an emulated one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic import topics

from ovaflow.cli import main
from ovaflow.data.dataset import write_dataset
from ovaflow.machine.topology import read_topology

HERE = Path(__file__).parent
ANY_CPU = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}
"""Kernels are compiled here for the emulated processor too, which would take minutes to do it."""


@pytest.fixture
def data(tmp_path):
    """What two shards are trained from."""
    # so few instances that no label needs the kernels of the fast path
    made = topics(n=600, d=400, n_labels=12)
    write_dataset(tmp_path / "dataset.h5", made.train, made.train, [f"label {j}" for j in range(12)], [], {"bias": 1.0})
    assert main(["means", str(tmp_path / "dataset.h5"), f"--output={tmp_path / 'means.h5'}"]) == 0
    assert main(["plan", str(tmp_path / "dataset.h5"), "--shards=2", f"--output={tmp_path / 'plan.tsv'}"]) == 0
    return tmp_path


@pytest.mark.numa
@pytest.mark.timeout(1300)
def test_jobs_on_two_nodes(data):
    proof = [sys.executable, HERE / "two_nodes.py", data]
    if len(read_topology()) == 2:
        environment = dict(os.environ)
    else:
        folder = os.environ.get("NUMA_GUEST_FOLDER")
        if not folder:
            pytest.skip("one NUMA node, and NUMA_GUEST_FOLDER names no folder for an emulated machine (see numa-guest)")
        proof = [HERE / "numa-guest", folder, *proof]
        environment = os.environ | ANY_CPU | {"NUMA_GUEST_SECONDS": "1200"}  # next to other tests it takes its time
        compile_kernels(data, environment)
    done = subprocess.run(proof, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    assert done.stdout.split("proved")[1:], done.stdout


def compile_kernels(data, environment):
    command = ["train-shard", data / "dataset.h5", f"--means={data / 'means.h5'}", f"--plan={data / 'plan.tsv'}"]
    command += ["--shard=0", f"--output={data / 'here.h5'}"]
    subprocess.run([sys.executable, "-m", "ovaflow", *command], env=environment, check=True)
