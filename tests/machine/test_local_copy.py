import os
import signal
import subprocess
import sys

import pytest

from ovaflow.machine.local_copy import LocalCopy, remove_unused

USER = """
import sys, time
from ovaflow.machine.local_copy import LocalCopy
def fill(memory):
    print("filling", flush=True)
    if sys.argv[3] == "hang":
        sys.stdin.readline()
    memory[:] = bytes(range(256)) * 64
copy = LocalCopy(sys.argv[1], sys.argv[2], 1 << 14)
shared = copy.open(lambda memory: None, fill)
shared[0] = 7
print(sum(shared[:256]), flush=True)
sys.stdin.readline()
copy.release()
"""
CONTENT = bytes(range(256)) * 64


@pytest.fixture
def user(tmp_path):
    """Start processes that use a copy."""
    processes = []

    def start(name="a", how="finish"):
        command = [sys.executable, "-c", USER, tmp_path, name, how]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def finish(process):
    return process.communicate("\n")[0].split()


def copies(folder):
    return sorted(path.name for path in folder.glob("*.copy"))


def opened(folder, name="a"):
    """A copy opened here, and whether it was filled here."""
    filled = []

    def fill(memory):
        filled.append(True)
        memory[:] = CONTENT

    copy = LocalCopy(folder, name, len(CONTENT))
    return copy, copy.open(lambda memory: None, fill), bool(filled)


def test_filled_once_and_removed_by_the_last(user, tmp_path):
    first = user()
    assert first.stdout.readline() == "filling\n"
    # a private page: what one process writes no other sees
    assert first.stdout.readline() == f"{sum(range(256)) + 7}\n"
    copy, memory, filled_here = opened(tmp_path)
    assert memory[:] == CONTENT
    assert not filled_here
    assert finish(first) == []
    assert copies(tmp_path) == ["a.copy"]
    copy.release()
    assert copies(tmp_path) == []
    assert memory[:] == CONTENT


def test_many_that_start_together_fill_once(user):
    processes = [user() for _ in range(6)]
    written = [process.stdout.readline() for process in processes]
    fillers = [process for process, line in zip(processes, written, strict=True) if line == "filling\n"]
    assert len(fillers) == 1
    written += [fillers[0].stdout.readline()]
    assert set(written) == {"filling\n", f"{sum(range(256)) + 7}\n"}


def test_one_killed_while_filling_is_replaced(user, tmp_path):
    first = user(how="hang")
    assert first.stdout.readline() == "filling\n"
    waiting = user()
    first.send_signal(signal.SIGKILL)
    assert waiting.stdout.readline() == "filling\n"
    finish(waiting)
    assert copies(tmp_path) == []


def test_what_killed_jobs_left_is_removed_by_a_later_one(user, tmp_path):
    killed = user("old")
    killed.stdout.readline(), killed.stdout.readline()
    living = user("other")
    living.stdout.readline(), living.stdout.readline()
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert copies(tmp_path) == ["old.copy", "other.copy"]
    copy = opened(tmp_path, "new")[0]
    assert copies(tmp_path) == ["new.copy", "other.copy"]
    copy.release()
    finish(living)
    assert copies(tmp_path) == []


def test_a_complete_copy_of_a_killed_job_is_used(user, tmp_path):
    killed = user()
    killed.stdout.readline(), killed.stdout.readline()
    killed.kill()
    killed.wait()
    copy, memory, filled_here = opened(tmp_path)
    assert not filled_here
    assert memory[:] == CONTENT
    copy.release()


def test_no_room(tmp_path):
    def refuse(memory):
        raise OSError(0, "no room")

    copy = LocalCopy(tmp_path, "a", 100)
    with pytest.raises(OSError, match="no room"):
        copy.open(refuse, None)
    assert copies(tmp_path) == []


def test_sweeping_leaves_what_is_used(tmp_path):
    copy = opened(tmp_path)[0]
    remove_unused(tmp_path)
    assert copies(tmp_path) == ["a.copy"]
    os.close(os.dup(copy._handle))
    copy.release()
    assert copies(tmp_path) == []
