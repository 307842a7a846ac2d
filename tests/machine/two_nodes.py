"""Jobs on a machine with two NUMA nodes, and the CPUs and pages that the kernel reports for them.

``two_nodes.py`` starts three at a time; it imports light modules alone, since an emulated processor
is slow.
"""

import mmap
import os
import re
import subprocess
import sys
from pathlib import Path

from ovaflow.machine.pinning import pin_threads
from ovaflow.machine.shared_files import private_folder
from ovaflow.machine.topology import parse_cpu_list, read_topology

PAGES = 4096
SIZE = PAGES * mmap.PAGESIZE


def work() -> None:
    """Read the node's copy into private memory, print the CPU and the node, and wait."""
    with pin_threads(1, "job") as pinning:
        copy = pinning.share("features", SIZE, lambda memory: memory.write(b"x" * SIZE))
        private = bytes(copy)
        print(*pinning.cpus, *pinning.nodes, private[-1:].decode(), flush=True)
        sys.stdin.readline()


def count_pages(process, kind) -> list[int]:
    """Count the pages on each node in a process's mappings of a kind, by the kernel."""
    pages = [0, 0]
    for line in Path(f"/proc/{process.pid}/numa_maps").read_text().splitlines():
        if kind in line:
            for node, count in re.findall(r" N(\d+)=(\d+)", line):
                pages[int(node)] += int(count)
    return pages


def list_copies() -> list[str]:
    """List the names of the copies that jobs share."""
    return sorted(path.name for path in private_folder().glob("*.copy"))


def prove() -> None:
    """Start three jobs, look at them while they wait, and let them end."""
    cpus = {}
    command = [sys.executable, __file__, "work"]
    jobs = []
    for _ in range(3):
        job = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        jobs.append(job)
    for job in jobs:
        assert job.stdout.readline().startswith("job: node ")
        cpu, node, content = job.stdout.readline().split()
        assert content == "x"
        cpus[int(cpu)] = int(node)
        assert os.sched_getaffinity(job.pid) == {int(cpu)}
        copied = count_pages(job, ".copy")
        private = count_pages(job, " anon=")
        print(f"node {node}, CPU {cpu}: {copied}, {private}", flush=True)
        assert copied[int(node)] == sum(copied) == PAGES
        # pages from before the pinning may be elsewhere, and those that do not fit into a full node
        assert private[int(node)] >= 0.9 * PAGES > private[1 - int(node)]
    assert len(cpus) == 3
    for node in read_topology():
        for cpu, number in cpus.items():
            if number == node.number:
                assert cpu in node.cpus
    # the two jobs of a node read the same copy
    assert list_copies() == ["features-node0.copy", "features-node1.copy"]
    for job in jobs:
        job.communicate("\n")
        assert job.returncode == 0
    assert list_copies() == []


if __name__ == "__main__":
    if sys.argv[1:] == ["work"]:
        work()
    else:
        assert parse_cpu_list(Path("/sys/devices/system/node/has_memory").read_text()) == [0, 1]
        prove()
        print("proved")
