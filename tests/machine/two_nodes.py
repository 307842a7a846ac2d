"""Jobs on a machine with two NUMA nodes, and where the kernel says that they run and have their pages.

``two_nodes.py`` starts three at a time; it imports light modules alone, since an emulated processor is slow.
"""

import mmap
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from ovaflow.machine.pinning import pinned
from ovaflow.machine.shared_files import private_folder
from ovaflow.machine.topology import parse_list, read_topology

PAGES = 4096
SIZE = PAGES * mmap.PAGESIZE


def work():
    """Read the node's copy into private memory, print the CPU and the node, and wait."""
    with pinned(1, "job") as pinning:
        copy = pinning.share("features", SIZE, lambda memory: memory.write(b"x" * SIZE))
        private = bytes(copy)
        print(*pinning.cpus, *pinning.nodes, private[-1:].decode(), flush=True)
        sys.stdin.readline()


class Job:
    def __init__(self):
        command = [sys.executable, __file__, "work"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, **pipes)

    def wait_until_placed(self):
        """Wait for the line that says where the job is, after the one of the log."""
        assert self.process.stdout.readline().startswith("job: node ")
        cpu, node, content = self.process.stdout.readline().split()
        assert content == "x"
        self.cpu, self.node = int(cpu), int(node)

    def pages(self, kind):
        """Pages on each node in the mappings of a kind, by the kernel."""
        pages = Counter()
        for line in Path(f"/proc/{self.process.pid}/numa_maps").read_text().splitlines():
            if kind in line:
                for node, count in re.findall(r" N(\d+)=(\d+)", line):
                    pages[int(node)] += int(count)
        return pages


def copies():
    """Names of the copies that jobs share."""
    return sorted(path.name for path in private_folder().glob("*.copy"))


def prove():
    """Start three jobs, look at them while they wait, and let them end."""
    nodes = {node.number: node.cpus for node in read_topology()}
    jobs = [Job() for _ in range(3)]
    for job in jobs:
        job.wait_until_placed()
        print(f"node {job.node}, CPU {job.cpu}: {job.pages('.copy')}, {job.pages(' anon=')}", flush=True)
    assert {job.node for job in jobs} == {0, 1}
    assert len({job.cpu for job in jobs}) == 3
    for job in jobs:
        assert os.sched_getaffinity(job.process.pid) == {job.cpu}
        assert job.cpu in nodes[job.node]
        assert job.pages(".copy") == {job.node: PAGES}
        # what the interpreter took before it was pinned may be elsewhere, and what a full node has no room for
        assert job.pages(" anon=")[job.node] >= 0.9 * PAGES
        assert job.pages(" anon=")[1 - job.node] < 0.9 * PAGES
    # the two jobs of a node read one copy
    assert copies() == ["features-node0.copy", "features-node1.copy"]
    for job in jobs:
        job.process.communicate("\n")
        assert job.process.returncode == 0
    assert copies() == []


if __name__ == "__main__":
    if sys.argv[1:] == ["work"]:
        work()
    else:
        assert parse_list(Path("/sys/devices/system/node/has_memory").read_text()) == [0, 1]
        prove()
        print("proved")
