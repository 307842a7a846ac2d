"""Files that the first of some jobs makes and the last removes: nobody waits for one that uses it."""

import fcntl
import os
import select
import subprocess
import sys

import pytest

from ovaflow.machine.shared_files import SharedFile, open_locked, remove_unused

JOB = """
import fcntl, sys
from pathlib import Path
from ovaflow.machine.shared_files import SharedFile
how, flock = sys.argv[2], fcntl.flock
def say(word):
    print(word, flush=True)
def slow(handle, mode):
    if how == "slow" and mode == fcntl.LOCK_EX:
        say("looked")
        sys.stdin.readline()
    flock(handle, mode)
def make(partial):
    say("making")
    if how == "hang":
        sys.stdin.readline()
    partial.write_text("content")
fcntl.flock = slow
shared = SharedFile(sys.argv[1], make)
fcntl.flock, how = flock, ""
say(shared.path.read_text())
sys.stdin.readline()
shared.release()
"""
"""Says what it does; a slow one pauses before each lock that excludes others."""


class Job:
    def __init__(self, path, how="quick"):
        command = [sys.executable, "-c", JOB, path, how]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def said(self):
        """The next word; a minute means that it waits for somebody."""
        assert select.select([self.process.stdout], [], [], 60)[0], "waits forever"
        return self.process.stdout.readline().decode().strip()

    def go_on(self):
        self.process.stdin.write(b"\n")

    def end(self):
        self.go_on()
        self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def job(tmp_path):
    jobs = []

    def start(name="a", how="quick"):
        jobs.append(Job(tmp_path / f"{name}.copy", how))
        return jobs[-1]

    yield start
    for each in jobs:
        each.kill()


def left(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_made_once_and_removed_by_the_last(job, tmp_path):
    first = job()
    assert (first.said(), first.said()) == ("making", "content")
    second = job()
    assert second.said() == "content"
    first.end()
    assert left(tmp_path) == ["a.copy"]
    second.end()
    assert os.listdir(tmp_path) == []


def test_jobs_that_look_before_any_locks_are_all_ready_before_any_ends(job, tmp_path):
    jobs = [job(how="slow") for _ in range(3)]
    assert [each.said() for each in jobs] == ["looked"] * 3
    for each in jobs:
        each.go_on()
    said = []
    for each in jobs:
        said.append(each.said())
        # one that waited for a file that was removed meanwhile locks again
        while said[-1] in ("looked", "making"):
            if said[-1] == "looked":
                each.go_on()
            said.append(each.said())
    assert sorted(said) == ["content"] * 3 + ["making"]
    for each in jobs:
        each.end()
    assert os.listdir(tmp_path) == []


def test_one_killed_while_it_makes_the_file_is_replaced(job, tmp_path):
    first = job(how="hang")
    assert first.said() == "making"
    waiting = job()
    first.kill()
    assert waiting.said() == "making"
    waiting.end()
    assert os.listdir(tmp_path) == []


def test_what_killed_jobs_left_is_removed(job, tmp_path):
    killed, half, living = job("killed"), job("half", "hang"), job("living")
    assert (killed.said(), half.said(), living.said()) == ("making", "making", "making")
    assert (killed.said(), living.said()) == ("content", "content")
    for each in (killed, half):
        each.kill()
    (tmp_path / "half.partial").touch()
    remove_unused(tmp_path, ".copy")
    assert sorted(os.listdir(tmp_path)) == ["living.copy", "living.copy.lock"]
    living.end()
    assert os.listdir(tmp_path) == []


def test_one_that_cannot_be_made_leaves_nothing(tmp_path):
    def refuse(partial):
        partial.write_text("half")
        raise OSError(0, "no room")

    with pytest.raises(OSError, match="no room"):
        SharedFile(tmp_path / "a.copy", refuse)
    assert os.listdir(tmp_path) == []


def test_locks_are_shared_by_readers_and_waited_for_with_patience(tmp_path):
    readers = [open_locked(tmp_path / "a", fcntl.LOCK_SH) for _ in range(2)]
    for patience in (None, 0.2):
        mode = fcntl.LOCK_EX | (fcntl.LOCK_NB if patience is None else 0)
        with pytest.raises(BlockingIOError):
            open_locked(tmp_path / "a", mode, patience)
    for handle in readers:
        os.close(handle)
    os.close(open_locked(tmp_path / "a", fcntl.LOCK_EX, 0.2))
