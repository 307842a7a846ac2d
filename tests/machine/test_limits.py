import math
import os

import pytest

from ovaflow.machine.limits import read_allowance

V1_UNLIMITED = 9223372036854771712
CASES = {
    "version 2: the least of the group and those around it": (
        "0::/slurm/job/step",
        "31 23 0:28 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw",
        {
            "slurm/job/step/cpu.max": "max 100000",
            "slurm/job/cpu.max": "350000 100000",
            "slurm/cpu.max": "800000 100000",
            "slurm/job/memory.max": "1000",
            "slurm/job/memory.current": "700",
            "slurm/job/memory.stat": "anon 500\ninactive_file 150",
            "slurm/memory.max": "5000",
            "slurm/memory.current": "4800",
        },
        (4, 1000, 200),
    ),
    "version 1": (
        "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/",
        "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
        {
            "cpu,cpuacct/cpu.cfs_quota_us": "50000",
            "cpu,cpuacct/cpu.cfs_period_us": "100000",
            "memory/memory.limit_in_bytes": V1_UNLIMITED,
            "memory/docker/abc/memory.limit_in_bytes": "2000",
            "memory/docker/abc/memory.usage_in_bytes": "2500",
        },
        (1, 2000, 0),
    ),
    "a path that is not mounted here": (
        "0::/../../elsewhere",
        "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
        {"cpu.max": "200000 100000"},
        (2, math.inf, math.inf),
    ),
    "no limits": ("", "", {}, (8, math.inf, math.inf)),
}


@pytest.mark.parametrize(("cgroup", "mounts", "limits", "expected"), CASES.values(), ids=CASES)
def test_limits_are_those_of_control_groups(
    tmp_path, monkeypatch, cgroup, mounts, limits, expected
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
    files = {"proc/self/cgroup": cgroup, "proc/self/mountinfo": mounts}
    for name, text in limits.items():
        files[f"sys/fs/cgroup/{name}"] = text
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n" if text else "")
    allowance = read_allowance(tmp_path / "proc")
    assert (allowance.cores, allowance.memory, allowance.memory_left) == expected
