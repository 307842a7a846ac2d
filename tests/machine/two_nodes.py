"""Proofs on a machine of two NUMA nodes, real or emulated: ``two_nodes.py FOLDER``.

FOLDER has dataset.h5, means.h5 and plan.tsv of two shards. Three training jobs run at the same time; the kernel is
asked here where their pages are. Only light modules are imported, since an emulated processor is slow.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ovaflow.machine.shared_files import private_folder
from ovaflow.machine.system_calls import pages_by_node, private_ranges
from ovaflow.machine.topology import parse_list, read_topology

PATIENCE = 1200
CLAIM = """
import os, sys
from ovaflow.machine.pinning import pinned
os.sched_setaffinity(0, {int(sys.argv[1])})
with pinned(1) as place:
    print(*place.cpus, *place.nodes)
"""


class Job:
    """A training job that is watched."""

    def __init__(self, data, shard, number, output):
        self.log = output / f"{number}.log"
        command = [sys.executable, "-m", "ovaflow", "train-shard", data / "dataset.h5", f"--means={data / 'means.h5'}"]
        command += [f"--plan={data / 'plan.tsv'}", f"--shard={shard}", f"--output={output / str(number)}.h5"]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        self.seen, self.halted = {}, False

    @property
    def pid(self):
        return self.process.pid

    @property
    def is_placed(self):
        return ": node " in self.log.read_text()

    def find_place(self):
        """CPUs that the kernel lets the job run on, and their node."""
        self.cpus = os.sched_getaffinity(self.pid)
        (self.node,) = (node.number for node in read_topology() if self.cpus <= set(node.cpus))

    def copy_ranges(self):
        with open(f"/proc/{self.pid}/maps") as maps:
            spans = [line.split()[0].split("-") for line in maps if line.rstrip().endswith(f"node{self.node}.copy")]
        return [(int(low, 16), int(high, 16) - int(low, 16)) for low, high in spans]

    def look(self):
        """Ask where the pages of features and of arrays are, while the job lives."""
        found = {"features": self.copy_ranges(), "private": private_ranges(self.pid)}
        self.seen |= {kind: pages_by_node(ranges, self.pid) for kind, ranges in found.items() if ranges}


def wait(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited too long for {what}"
        time.sleep(0.1)


def shared_kilobytes(pid):
    """Resident size of the copy of the features in a job, and its share of it (PSS)."""
    sizes, inside = {"Rss": 0, "Pss": 0}, False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        name, *rest = line.split()
        if "-" in name:
            inside = line.endswith(".copy")
        elif inside and name[:-1] in sizes:
            sizes[name[:-1]] += int(rest[0])
    return sizes["Rss"], sizes["Pss"]


def copies():
    return sorted(path.name.rsplit("-", 1)[1] for path in private_folder().glob("*.copy"))


def prove(data, output):
    """Everything that is claimed, in the order in which it happens."""
    jobs = [Job(data, shard, number, output) for number, shard in enumerate((0, 1, 0))]
    # all are looked at in each turn: one that is through before the others have begun must be halted
    wait(lambda: sum(map(is_halted, jobs)) == len(jobs), "features read by all")
    print("jobs on", [(job.node, sorted(job.cpus)) for job in jobs], flush=True)
    assert {job.node for job in jobs} == {0, 1}
    assert len(set.union(*(job.cpus for job in jobs))) == 3
    assert copies() == ["node0.copy", "node1.copy"]

    pair = [job for job in jobs if sum(other.node == job.node for other in jobs) == 2]
    (alone,) = (job for job in jobs if job not in pair)
    for job in jobs:
        assert job.seen["features"].keys() == {job.node}, job.seen
        assert job.seen["private"][job.node] >= 0.99 * job.seen["private"].total(), job.seen
    print("pages by node:", [(job.node, dict(job.seen["features"]), dict(job.seen["private"])) for job in jobs])
    sizes = [shared_kilobytes(job.pid) for job in pair]
    print("copy, resident and PSS:", sizes, flush=True)
    assert sum(pss for _, pss in sizes) <= 1.1 * max(rss for rss, _ in sizes)

    killed, left = pair
    (cpu,) = killed.cpus
    assert claimed(cpu) == []
    killed.process.send_signal(signal.SIGKILL)
    killed.process.wait()
    assert claimed(cpu) == [cpu, killed.node]
    print("after a kill the next has CPU", cpu, flush=True)
    for job in (left, alone):
        job.process.send_signal(signal.SIGCONT)
    for job in (left, alone):
        assert job.process.wait(PATIENCE) == 0, job.log.read_text()
        assert "100.0 % of the pages are there" in job.log.read_text(), job.log.read_text()
        print(job.log.read_text())
    assert copies() == []


def claimed(cpu):
    """A CPU and its node, if a process gets it that may have no other; nothing if it is taken."""
    done = subprocess.run([sys.executable, "-c", CLAIM, str(cpu)], stdout=subprocess.PIPE, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def is_halted(job):
    """Whether a job is halted; it is, as soon as it has read its features."""
    if not job.halted:
        assert job.process.poll() is None, job.log.read_text()
        if not job.is_placed:
            return False
        job.find_place()
        job.look()
        pages = sum(size for _, size in job.copy_ranges()) // os.sysconf("SC_PAGE_SIZE")
        job.halted = job.seen.get("features", {}).get(job.node, 0) > 0.9 * pages
        if job.halted:
            job.process.send_signal(signal.SIGSTOP)
            job.look()
    return job.halted


if __name__ == "__main__":
    assert parse_list(Path("/sys/devices/system/node/has_memory").read_text()) == [0, 1]
    with tempfile.TemporaryDirectory() as folder:
        prove(Path(sys.argv[1]), Path(folder))
    print("proved")
