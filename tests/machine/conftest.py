"""Trees of files in the form of /sys and /proc, for machines that are not here."""

import select
import subprocess
import sys

import pytest

from ovaflow.machine import shared_files, topology


class FakeSys:
    def __init__(self, folder):
        self.folder = folder

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def node(self, number, cpus, megabytes, distances):
        base = f"devices/system/node/node{number}"
        self.write(f"{base}/cpulist", cpus)
        self.write(f"{base}/distance", distances)
        lines = (("MemTotal", megabytes), ("MemFree", megabytes / 2), ("Active(file)", 8), ("Inactive(file)", 16))
        figures = "\n".join(f"Node {number} {name}:   {int(1024 * size)} kB" for name, size in lines)
        self.write(f"{base}/meminfo", figures)

    def siblings(self, *cpus):
        """Say that these CPUs are one core."""
        for cpu in cpus:
            text = ",".join(map(str, cpus))
            self.write(f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list", text)


@pytest.fixture
def fake_sys(tmp_path, monkeypatch):
    """An empty /sys to fill, and a folder for what jobs share."""
    monkeypatch.setattr(topology, "SYS", tmp_path / "sys")
    monkeypatch.setattr(shared_files, "MEMORY", tmp_path)
    return FakeSys(tmp_path / "sys")


@pytest.fixture
def two_sockets(fake_sys):
    """Two nodes of four cores with two SMT siblings each: CPU c and c + 8 are a core."""
    for core in range(8):
        fake_sys.siblings(core, core + 8)
    fake_sys.node(0, "0-3,8-11", 1000, "10 21")
    fake_sys.node(1, "4-7,12-15", 1000, "21 10")
    return fake_sys


class Job:
    """A process that says what it does."""

    def __init__(self, code, *arguments):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], bufsize=0, **pipes)

    def next_word(self):
        """What it says next; a minute means that it waits for somebody."""
        assert select.select([self.process.stdout], [], [], 60)[0], "waits forever"
        return self.process.stdout.readline().decode().strip()

    def end(self):
        self.process.communicate(b"\n")
        assert self.process.returncode == 0

    def kill(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def start():
    """Start processes that run some code with arguments."""
    jobs = []

    def started(code, *arguments):
        jobs.append(Job(code, *arguments))
        return jobs[-1]

    yield started
    for each in jobs:
        each.kill()
