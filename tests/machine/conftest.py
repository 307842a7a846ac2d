"""Files in the form of /sys and /proc for machines with several nodes, and processes on them."""

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
    """A process that prints what it does."""

    def __init__(self, code, *arguments) -> None:
        command = [sys.executable, "-c", code]
        for argument in arguments:
            command.append(str(argument))
        self.process = subprocess.Popen(
            command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def next_word(self) -> str:
        """Read what it prints next; after a minute it is taken to wait forever."""
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
    """A function that starts a process of some code with arguments."""
    jobs = []

    def start_job(code, *arguments) -> Job:
        job = Job(code, *arguments)
        jobs.append(job)
        return job

    yield start_job
    for each in jobs:
        each.kill()
