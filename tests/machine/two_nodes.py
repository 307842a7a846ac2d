"""Jobs on a machine with two NUMA nodes, and where the kernel says that they run and have their
pages.

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


def pages(process, kind):
    """Pages on each node in a process's mappings of a kind, by the kernel."""
    found = [0, 0]
    for line in Path(f"/proc/{process.pid}/numa_maps").read_text().splitlines():
        if kind in line:
            for node, count in re.findall(r" N(\d+)=(\d+)", line):
                found[int(node)] += int(count)
    return found


def copies():
    """Names of the copies that jobs share."""
    return sorted(path.name for path in private_folder().glob("*.copy"))


def prove() -> None:
    """Start three jobs, look at them while they wait, and let them end."""
    cpus = {}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    jobs = [
        subprocess.Popen([sys.executable, __file__, "work"], text=True, **pipes) for _ in range(3)
    ]
    for job in jobs:
        assert job.stdout.readline().startswith("job: node ")
        cpu, node, content = job.stdout.readline().split()
        assert content == "x"
        cpus[int(cpu)] = int(node)
        assert os.sched_getaffinity(job.pid) == {int(cpu)}
        copied = pages(job, ".copy")
        private = pages(job, " anon=")
        print(f"node {node}, CPU {cpu}: {copied}, {private}", flush=True)
        assert copied[int(node)] == sum(copied) == PAGES
        # what the interpreter took before it was pinned may be elsewhere, and what a full node has
        # no room for
        assert private[int(node)] >= 0.9 * PAGES > private[1 - int(node)]
    assert len(cpus) == 3
    assert all(
        cpu in node.cpus for node in read_topology() for cpu in cpus if cpus[cpu] == node.number
    )
    # the two jobs of a node read one copy
    assert copies() == ["features-node0.copy", "features-node1.copy"]
    for job in jobs:
        job.communicate("\n")
        assert job.returncode == 0
    assert copies() == []


if __name__ == "__main__":
    if sys.argv[1:] == ["work"]:
        work()
    else:
        assert parse_cpu_list(Path("/sys/devices/system/node/has_memory").read_text()) == [0, 1]
        prove()
        print("proved")
