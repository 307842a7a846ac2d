"""Processors and NUMA nodes of a machine, as Linux describes them under /proc and /sys."""

import platform
from dataclasses import dataclass
from pathlib import Path

SYS_FOLDER = Path("/sys")
LOCAL_DISTANCE = 10  # distance of a node from itself, by the kernel's convention


@dataclass(frozen=True)
class Node:
    """A part of the machine whose CPUs reach its memory fastest."""

    number: int  # there may be gaps
    cores: tuple  # of CPUs, SMT siblings together
    distances: dict  # relative latency of the memory of each node

    @property
    def cpus(self):
        return sorted(cpu for core in self.cores for cpu in core)

    def within(self, cpus):
        left = (tuple(filter(cpus.__contains__, core)) for core in self.cores)
        return Node(self.number, tuple(filter(None, left)), self.distances)


def read_topology():
    """Nodes of this machine by number; a single one where the kernel lists none."""
    devices = SYS_FOLDER / "devices/system"
    folders = {int(path.name[4:]): path for path in devices.glob("node/node[0-9]*")}
    if not folders:
        online = parse_cpu_list(read_text(devices / "cpu/online")) or [0]
        return [Node(0, _cores(devices, online), {0: LOCAL_DISTANCE})]
    numbers = sorted(folders)
    return [_node(devices, number, folders[number], numbers) for number in numbers]


def _node(devices, number, folder, numbers):
    words = read_text(folder / "distance").split()
    # a node whose distance the kernel does not give is as far as any neighbour
    distances = (
        dict.fromkeys(numbers, 2 * LOCAL_DISTANCE)
        | {number: LOCAL_DISTANCE}
        | dict(zip(numbers, map(int, words), strict=False))
    )
    cores = _cores(devices, parse_cpu_list(read_text(folder / "cpulist")))
    return Node(number, cores, distances)


def _cores(devices, cpus):
    cores = {}
    for cpu in cpus:
        siblings = parse_cpu_list(
            read_text(devices / f"cpu/cpu{cpu}/topology/thread_siblings_list")
        )
        cores.setdefault(min(siblings, default=cpu), []).append(cpu)
    return tuple(tuple(cores[first]) for first in sorted(cores))


def free_memory(number):
    """Bytes of a node that are free or hold nothing but cached files."""
    kilobytes = 0
    for line in read_text(SYS_FOLDER / f"devices/system/node/node{number}/meminfo").splitlines():
        # Node 0 MemFree: 2000000 kB
        _, _, name, size, *_ = line.split()
        if name in ("MemFree:", "Active(file):", "Inactive(file):"):
            kilobytes += int(size)
    return 1024 * kilobytes


def parse_cpu_list(text):
    """Numbers of a kernel's list such as ``"0-3,8"``, ascending."""
    ranges = [part.partition("-") for part in text.split(",") if part.strip()]
    return sorted(
        number for low, _, high in ranges for number in range(int(low), int(high or low) + 1)
    )


def format_cpu_list(numbers):
    """The inverse of :func:`parse_list`."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def processor_name():
    """Name of the CPU, or else the architecture."""
    lines = read_text(Path("/proc/cpuinfo")).splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def read_text(path):
    return path.read_text(errors="replace").strip() if path.is_file() else ""
