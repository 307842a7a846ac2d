"""Files that the first of some jobs makes and the last removes: no job waits for a user."""

import pytest

from ovaflow.machine.shared_files import SharedFile, private_folder

JOB = """
import sys
from ovaflow.machine.shared_files import SharedFile
def make(partial):
    print("making", flush=True)
    if sys.argv[2] == "slow":
        sys.stdin.readline()
    partial.write_text("content")
shared = SharedFile(sys.argv[1], make)
print(shared.path.read_text(), flush=True)
sys.stdin.readline()
shared.release()
"""


@pytest.fixture
def job(start, tmp_path):
    """A function that starts a process that uses a file; a slow one waits before it makes it."""
    return lambda name="a", how="quick": start(JOB, tmp_path / f"{name}.copy", how)


def list_files(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "copies.lock")


def test_jobs_that_start_together_use_one_file_that_the_last_removes(job, tmp_path) -> None:
    jobs = [job() for _ in range(3)]
    words = [each.next_word() for each in jobs]
    assert sorted(words) == ["content", "content", "making"]
    assert jobs[words.index("making")].next_word() == "content"
    for each in jobs:
        assert list_files(tmp_path) == ["a.copy"]
        each.end()
    assert list_files(tmp_path) == []


def test_a_job_that_is_killed_while_it_makes_the_file_is_replaced(job, tmp_path) -> None:
    killed = job(how="slow")
    assert killed.next_word() == "making"
    waiting = job()
    killed.kill()
    assert waiting.next_word() == "making"
    waiting.end()
    assert list_files(tmp_path) == []


def test_the_next_job_removes_the_files_of_killed_jobs(job, tmp_path) -> None:
    for name in ("living", "killed"):
        started = job(name)
        assert [started.next_word(), started.next_word()] == ["making", "content"]
    started.kill()
    (tmp_path / "partial.copy").touch()
    assert list_files(tmp_path) == ["killed.copy", "living.copy", "partial.copy"]
    assert job("living").next_word() == "content"
    assert list_files(tmp_path) == ["living.copy"]


def test_a_file_that_cannot_be_made_leaves_nothing(tmp_path) -> None:
    def refuse(partial):
        partial.write_text("half")
        raise OSError(0, "no room")

    with pytest.raises(OSError, match="no room"):
        SharedFile(tmp_path / "a.copy", refuse)
    assert list_files(tmp_path) == []


def test_the_folder_is_private(tmp_path) -> None:
    folder = private_folder(tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="not a private folder"):
        private_folder(tmp_path)
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(PermissionError, match="not a private folder"):
        private_folder(tmp_path)
