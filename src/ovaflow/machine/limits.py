"""What a scheduler or a container leaves this process of the machine, and what it takes: CPUs,
memory, threads.
"""

import math
import os
import resource
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from ovaflow.machine.topology import read_text

_UNLIMITED = 1 << 60  # version 1 of control groups has a number near 2^63 for no limit


@dataclass(frozen=True)
class Allowance:
    """Limits of this process; infinite where there is none but the machine's."""

    cores: int  # CPUs that threads can keep busy
    memory: float  # bytes
    memory_left: float  # bytes that are free or hold cached files


def read_allowance(proc="/proc"):
    """Limits of this process, from its affinity and its control groups (version 1 and 2)."""
    groups = list(_groups(Path(proc)))
    quota = min((_quota(group) for group in groups), default=math.inf)
    limits = [limit for group in groups for limit in _memory_limits(group)]
    return Allowance(
        max(1, math.ceil(min(quota, _usable_cpus()))),
        min((limit for limit, _ in limits), default=math.inf),
        min((max(0, limit - used) for limit, used in limits), default=math.inf),
    )


def read_memory_left():
    """Bytes of memory that are free, or hold cached files, in this machine and in this process's
    control groups.
    """
    return min(psutil.virtual_memory().available, read_allowance().memory_left)


def _usable_cpus():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    # macOS keeps no process from any CPU
    return os.cpu_count() or 1


def _groups(proc):
    """Folders of this process's control groups and of the groups that contain them, whose limits
    hold as well.
    """
    of_process = {}
    for line in read_text(proc / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        of_process.update(dict.fromkeys(controllers.split(","), path))
    for line in read_text(proc / "self/mountinfo").splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        root, point = left.split()[3:5]
        names = {"cgroup2": [""], "cgroup": ["cpu", "memory"]}.get(kind, [])
        for name in names:
            if name in of_process and (not name or name in options.split(",")):
                yield from _upwards(proc.parent / point.lstrip("/"), root, of_process[name])


def _upwards(point, root, path):
    inside = path.removeprefix(root) if root != "/" else path
    folder = point / inside.lstrip("/")
    # in a namespace the path may not be mounted: then the mount point itself is the group
    folder = folder if folder.is_dir() and ".." not in folder.parts else point
    while folder.is_relative_to(point):
        yield folder
        folder = folder.parent


def _quota(group):
    words = _words(group / "cpu.max") or _words(group / "cpu.cfs_quota_us") + _words(
        group / "cpu.cfs_period_us"
    )
    return int(words[0]) / int(words[1]) if words and words[0] not in ("max", "-1") else math.inf


def _memory_limits(group):
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        words = _words(group / limit)
        if words and words[0] != "max" and int(words[0]) < _UNLIMITED:
            statistics = dict(
                line.split() for line in read_text(group / "memory.stat").splitlines()
            )
            cached = int(statistics.get("inactive_file", 0))
            yield int(words[0]), int((_words(group / used) or ["0"])[0]) - cached


def _words(path):
    return read_text(path).split()


def read_peak_rss():
    # /proc first: what getrusage says may come from the parent, whose memory counts until exec
    for line in read_text(Path("/proc/self/status")).splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    # macOS counts bytes
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


ONE_THREAD_ENVIRONMENT = dict.fromkeys(
    [
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "RAYON_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "ARROW_IO_THREADS",
    ],
    "1",
)
"""Environment that keeps libraries from starting threads of their own."""


def limit_library_threads() -> None:
    """Limit libraries to one thread, BLAS before NumPy is imported, also in child processes."""
    os.environ.update(ONE_THREAD_ENVIRONMENT)
