import os

import pytest

from ovaflow.machine.limits import read_allowance

UNLIMITED_V1 = 9223372036854771712


@pytest.fixture
def root(tmp_path):
    """A root folder with a process in no control group."""

    def write(path, text):
        file = tmp_path / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    write("proc/self/status", "Name:\tpython\nCpus_allowed_list:\t0-7\nMems_allowed_list:\t0-1")
    return tmp_path, write


def test_version_two(root):
    folder, write = root
    write("proc/self/cgroup", "0::/slurm/job/step")
    write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw")
    write("sys/fs/cgroup/slurm/job/step/cpu.max", "max 100000")
    write("sys/fs/cgroup/slurm/job/cpu.max", "350000 100000")
    write("sys/fs/cgroup/slurm/cpu.max", "800000 100000")
    write("sys/fs/cgroup/slurm/job/memory.max", "1000")
    write("sys/fs/cgroup/slurm/job/memory.current", "700")
    write("sys/fs/cgroup/slurm/job/memory.stat", "anon 500\ninactive_file 150")
    write("sys/fs/cgroup/slurm/memory.max", "5000")
    write("sys/fs/cgroup/slurm/memory.current", "4800")
    allowance = read_allowance(folder / "proc")
    assert (allowance.quota, allowance.cores) == (3.5, 4)
    assert (allowance.memory, allowance.memory_left) == (1000, 200)
    assert allowance.cpus == frozenset(range(8))
    assert allowance.nodes == {0, 1}


def test_version_one(root):
    folder, write = root
    write("proc/self/cgroup", "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/")
    write("proc/self/mountinfo", "\n".join([
        "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
        "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
    ]))  # fmt: skip
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000")
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000")
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED_V1)
    write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "2000")
    write("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "2500")
    allowance = read_allowance(folder / "proc")
    assert (allowance.quota, allowance.cores) == (0.5, 1)
    assert (allowance.memory, allowance.memory_left) == (2000, 0)


def test_a_path_that_is_not_mounted_here(root):
    folder, write = root
    write("proc/self/cgroup", "0::/../../elsewhere")
    write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw")
    write("sys/fs/cgroup/cpu.max", "200000 100000")
    assert read_allowance(folder / "proc").quota == 2


def test_no_limits(root):
    allowance = read_allowance(root[0] / "proc")
    assert (allowance.quota, allowance.memory, allowance.memory_left, allowance.cores) == (None, None, None, 8)


def test_this_process():
    before = os.sched_getaffinity(0)
    allowance = read_allowance()
    assert allowance.cpus == before
    assert 1 <= allowance.cores <= len(before)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert read_allowance().cpus == {min(before)}
    finally:
        os.sched_setaffinity(0, before)
