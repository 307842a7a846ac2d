"""Copies of a dataset on a local disk: one for all jobs of a machine, none left, none needed."""

import os
import resource
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from solving import in_memory

from ovaflow.data.dataset import open_dataset, write_dataset
from ovaflow.training import staging
from ovaflow.training.staging import staged

JOB = """
import sys
from ovaflow.training.staging import staged

with staged(sys.argv[1], sys.argv[2]) as copy:
    print(copy, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def dataset(tmp_path):
    return write_random(tmp_path / "dataset.h5", 0)


@pytest.fixture
def scratch(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def write_random(path, seed):
    rng = np.random.default_rng(seed)
    X, Y = (sp.random_array((40, columns), density=0.2, rng=rng, format="csr") for columns in (9, 4))
    Y.data[:] = 1
    split = in_memory(X, Y).train
    write_dataset(path, split, split, [f"label {j}" for j in range(4)], [f"word {j}" for j in range(9)], {"bias": 0.0})
    return path


def left_in(scratch):
    return [path.name for path in scratch.rglob("*") if path.is_file()]


def start_job(dataset, scratch):
    command = [sys.executable, "-c", JOB, str(dataset), str(scratch)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_copy_while_it_is_needed(dataset, scratch):
    with staged(dataset, scratch) as copy:
        assert scratch in copy.parents
        assert copy.read_bytes() == dataset.read_bytes()
        assert open_dataset(copy).checksum == open_dataset(dataset).checksum
        assert copy.parent.stat().st_mode & 0o777 == 0o700
    assert left_in(scratch) == []


def test_without_scratch_nothing_is_copied(dataset):
    with staged(dataset) as place:
        assert place == dataset


def test_jobs_side_by_side_share_one_copy_and_the_last_removes_it(dataset, scratch):
    jobs = [start_job(dataset, scratch) for _ in range(4)]
    try:
        copies = {job.stdout.readline() for job in jobs}
        assert len(copies) == 1
        for job in jobs:
            assert [name for name in left_in(scratch) if name.endswith(".h5")]
            job.stdin.close()
            job.wait(30)
        assert left_in(scratch) == []
        assert sum("copied to" in job.stderr.read() for job in jobs) == 1
    finally:
        for job in jobs:
            job.kill()
            job.wait()


@pytest.mark.parametrize("same", [True, False])
def test_what_a_killed_job_left_is_removed(dataset, scratch, tmp_path, same):
    job = start_job(dataset, scratch)
    job.stdout.readline()
    job.kill()
    job.communicate()
    (copy,) = scratch.rglob("*.h5")
    os.truncate(copy, 1000)
    chosen = dataset if same else write_random(tmp_path / "other.h5", 1)
    with staged(chosen, scratch) as copy:
        assert copy.read_bytes() == chosen.read_bytes()
        assert len(left_in(scratch)) == 2
    assert left_in(scratch) == []


def test_a_disk_that_takes_half_of_it(dataset, scratch, capsys):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (dataset.stat().st_size // 2, hard))
    try:
        with staged(dataset, scratch) as place:
            assert place == dataset
            assert left_in(scratch) == []
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "read where it is: File too large" in capsys.readouterr().err


def test_a_folder_that_is_missing_or_full(dataset, scratch, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(staging, "_SPARE", 1 << 62)
    for folder, reason in (
        (scratch, "MB needed and some to spare"),
        (tmp_path / "nowhere", "read where it is: No such file or directory"),
    ):
        with staged(dataset, folder) as place:
            assert place == dataset
            assert left_in(scratch) == []
        assert reason in capsys.readouterr().err
