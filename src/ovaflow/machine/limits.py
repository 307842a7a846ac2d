"""Limits that a scheduler or a container sets for this process, and its use of the machine: CPUs,
memory, threads.
"""

import math
import os
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from ovaflow.console.errors import StrPath
from ovaflow.machine.topology import read_text

_UNLIMITED_BYTES = 1 << 60
"""Limits from here on mean none: version 1 of control groups has a number near 2^63 instead."""

_CONTROLLERS = {"cgroup2": [""], "cgroup": ["cpu", "memory"]}
"""Names of the controllers that are read, by the kind of the control groups' file system."""

_MEMORY_FILES = (
    ("memory.max", "memory.current"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes"),
)
"""Files with the limit and the use of memory, of version 2 and 1 of control groups."""


@dataclass(frozen=True)
class Allowance:
    """Limits of this process; infinite where there is none but the machine's.

    Attributes
    ----------
    cores : int
        CPUs that threads can keep busy.
    memory : float
        Limit of memory in bytes.
    memory_left : float
        Bytes of it that are free or hold cached files.
    """

    cores: int
    memory: float
    memory_left: float


def read_allowance(proc: StrPath = "/proc") -> Allowance:
    """Read the limits of this process from its affinity and its control groups (version 1, 2)."""
    quota = math.inf
    memory = math.inf
    memory_left = math.inf
    for group in _find_groups(Path(proc)):
        quota = min(quota, _read_quota(group))
        for limit, used in _read_memory_limits(group):
            memory = min(memory, limit)
            memory_left = min(memory_left, max(0, limit - used))
    cores = max(1, math.ceil(min(quota, _count_usable_cpus())))
    return Allowance(cores, memory, memory_left)


def read_memory_left() -> float:
    """Return the bytes of memory that are free, or hold cached files.

    Both the machine and this process's control groups limit them.
    """
    return min(psutil.virtual_memory().available, read_allowance().memory_left)


def _count_usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    # macOS keeps no process from any CPU
    return os.cpu_count() or 1


def _find_groups(proc: Path) -> Iterator[Path]:
    """Find the folders of this process's control groups and of the groups that contain them, whose
    limits hold as well.
    """
    paths: dict[str, str] = {}
    for line in read_text(proc / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path
    for line in read_text(proc / "self/mountinfo").splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        root, point = left.split()[3:5]
        for name in _CONTROLLERS.get(kind, []):
            is_mounted = not name or name in options.split(",")
            if name in paths and is_mounted:
                yield from _walk_upwards(proc.parent / point.lstrip("/"), root, paths[name])


def _walk_upwards(point: Path, root: str, path: str) -> Iterator[Path]:
    inside = path.removeprefix(root) if root != "/" else path
    folder = point / inside.lstrip("/")
    # in a namespace the path may not be mounted: then the mount point itself is the group
    if not folder.is_dir() or ".." in folder.parts:
        folder = point
    while folder.is_relative_to(point):
        yield folder
        folder = folder.parent


def _read_quota(group: Path) -> float:
    """Read the number of CPUs whose time a group may use."""
    words = _read_words(group / "cpu.max")
    if not words:
        quota = _read_words(group / "cpu.cfs_quota_us")
        words = quota + _read_words(group / "cpu.cfs_period_us")
    if not words or words[0] in ("max", "-1"):
        return math.inf
    return int(words[0]) / int(words[1])


def _read_memory_limits(group: Path) -> Iterator[tuple[int, int]]:
    """Read each limit of a group in bytes, and the bytes in use without cached files."""
    for limit_file, used_file in _MEMORY_FILES:
        words = _read_words(group / limit_file)
        if words and words[0] != "max" and int(words[0]) < _UNLIMITED_BYTES:
            cached = 0
            for line in read_text(group / "memory.stat").splitlines():
                name, number = line.split()
                if name == "inactive_file":
                    cached = int(number)
            used = _read_words(group / used_file) or ["0"]
            yield int(words[0]), int(used[0]) - cached


def _read_words(path: Path) -> list[str]:
    return read_text(path).split()


def read_peak_rss() -> int:
    """Return the largest resident memory that this process has had, in bytes."""
    # /proc first: getrusage may give that of the parent, whose memory counts until exec
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
