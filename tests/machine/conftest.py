"""Trees of files in the form of /sys and /proc, for machines that are not here."""

import select
import subprocess
import sys

import pytest


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

    def __init__(self, code, *arguments) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)], bufsize=0, **pipes
        )

    def next_word(self):
        """What it says next; a minute means that it waits for somebody."""
        assert select.select([self.process.stdout], [], [], 60)[0], "waits forever"
        return self.process.stdout.readline().decode().strip()

    def end(self) -> None:
        self.process.communicate(b"\n")
        assert self.process.returncode == 0

    def kill(self) -> None:
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
