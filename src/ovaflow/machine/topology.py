"""Processors and NUMA nodes of a machine, as Linux describes them under /proc and /sys."""

import platform
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

SYS_FOLDER = Path("/sys")
"""Folder in which the kernel describes its devices."""

LOCAL_DISTANCE = 10
"""Distance of a node from itself, by the kernel's convention."""


@dataclass(frozen=True)
class Node:
    """A part of the machine whose CPUs reach its memory fastest.

    Attributes
    ----------
    number : int
        The kernel's number of the node; the numbers may have gaps.
    cores : tuple of tuples of int
        CPUs of each core, SMT siblings together.
    distances : dict
        Relative latency of the memory of each node, by its number.
    """

    number: int
    cores: tuple[tuple[int, ...], ...]
    distances: dict[int, int]

    @property
    def cpus(self) -> list[int]:
        """All CPUs of the node, ascending."""
        cpus: list[int] = []
        for core in self.cores:
            cpus += core
        return sorted(cpus)

    def within(self, cpus: Collection[int]) -> "Node":
        """Return the node without the CPUs that are not among those given."""
        cores = []
        for core in self.cores:
            usable = tuple(cpu for cpu in core if cpu in cpus)
            if usable:
                cores.append(usable)
        return Node(self.number, tuple(cores), self.distances)


def read_topology() -> list[Node]:
    """Read the nodes of this machine, by number; a single one where the kernel lists none."""
    devices = SYS_FOLDER / "devices/system"
    folders = {int(path.name[4:]): path for path in devices.glob("node/node[0-9]*")}
    if not folders:
        online = parse_cpu_list(read_text(devices / "cpu/online")) or [0]
        return [Node(0, _read_cores(devices, online), {0: LOCAL_DISTANCE})]
    numbers = sorted(folders)
    return [_read_node(devices, number, folders[number], numbers) for number in numbers]


def _read_node(devices: Path, number: int, folder: Path, numbers: list[int]) -> Node:
    # a node whose distance the kernel does not give is as far as any neighbour
    distances = dict.fromkeys(numbers, 2 * LOCAL_DISTANCE)
    distances[number] = LOCAL_DISTANCE
    words = read_text(folder / "distance").split()
    for other, word in zip(numbers, words, strict=False):
        distances[other] = int(word)
    cores = _read_cores(devices, parse_cpu_list(read_text(folder / "cpulist")))
    return Node(number, cores, distances)


def _read_cores(devices: Path, cpus: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    cores: dict[int, list[int]] = {}
    for cpu in cpus:
        path = devices / f"cpu/cpu{cpu}/topology/thread_siblings_list"
        siblings = parse_cpu_list(read_text(path))
        cores.setdefault(min(siblings, default=cpu), []).append(cpu)
    return tuple(tuple(cores[first]) for first in sorted(cores))


def free_memory(number: int) -> int:
    """Return the bytes of a node's memory that are free or hold only cached files."""
    kilobytes = 0
    path = SYS_FOLDER / f"devices/system/node/node{number}/meminfo"
    for line in read_text(path).splitlines():
        # Node 0 MemFree: 2000000 kB
        words = line.split()
        if words[2] in ("MemFree:", "Active(file):", "Inactive(file):"):
            kilobytes += int(words[3])
    return 1024 * kilobytes


def parse_cpu_list(text: str) -> list[int]:
    """Parse a kernel's list of numbers, such as ``0-3,8``; ascending."""
    numbers: list[int] = []
    for part in text.split(","):
        if part.strip():
            low, _, high = part.partition("-")
            numbers += range(int(low), int(high or low) + 1)
    return sorted(numbers)


def format_cpu_list(numbers: Iterable[int]) -> str:
    """Format numbers of CPUs or nodes as :func:`parse_cpu_list` reads them."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def processor_name() -> str:
    """Return the name of the CPU, or else the architecture."""
    for line in read_text(Path("/proc/cpuinfo")).splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def read_text(path: Path) -> str:
    """Read a file of the kernel without spaces around the text; empty where there is no file."""
    return path.read_text(errors="replace").strip() if path.is_file() else ""
