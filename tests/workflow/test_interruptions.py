"""Jobs and drivers killed with SIGKILL leave nothing that a later run believes."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tiny_table import write_config

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

HANG = """
import os, sys, time

def hang(handle):
    if sys.argv[1:2] == ["train-shard"] and "--shard=0" in sys.argv:
        time.sleep(600)

os.fsync = hang
"""


def wait_for(pattern, folder, process):
    deadline = time.monotonic() + 120
    while not list(folder.rglob(pattern)):
        assert process.poll() is None, "Snakemake ended"
        assert time.monotonic() < deadline, f"no {pattern}"
        time.sleep(0.05)


@pytest.fixture
def caught_in_the_act(finished, tmp_path):
    """A place to run again, where a train-shard job has written its file and hangs before it renames it."""
    place = finished.copy(tmp_path / "place")
    write_config(place.folder / "my.yaml", train={"shards": 2, "C": 2})
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(HANG)
    environment = place.environment()
    environment["PYTHONPATH"] = f"{hook}:{environment['PYTHONPATH']}"
    command = place.command("results/tiny/msi/model.h5", "--configfile", "my.yaml")
    process = subprocess.Popen(
        command,
        cwd=place.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    wait_for(".0.h5.*.partial", place.folder / "results", process)
    yield place, process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture(scope="session")
def uninterrupted(finished, tmp_path_factory):
    """The model of an uninterrupted run."""
    place = finished.copy(tmp_path_factory.mktemp("uninterrupted"))
    write_config(place.folder / "my.yaml", train={"shards": 2, "C": 2})
    place.snakemake("results/tiny/msi/model.h5")
    return (place.folder / "results/tiny/msi/model.h5").read_bytes()


def complete(place, uninterrupted):
    shards = place.folder / "results/tiny/msi/shards"
    assert not (shards / "0.h5").exists()
    place.snakemake("results/tiny/msi/model.h5")
    assert (place.folder / "results/tiny/msi/model.h5").read_bytes() == uninterrupted


def test_driver_and_jobs_killed(caught_in_the_act, uninterrupted):
    place, process = caught_in_the_act
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    place.snakemake("--unlock")
    complete(place, uninterrupted)


def test_job_killed(caught_in_the_act, uninterrupted):
    place, process = caught_in_the_act
    for job in jobs_of(place.folder):
        os.kill(job, signal.SIGKILL)
    written, _ = process.communicate(timeout=120)
    assert process.returncode == 1, written
    complete(place, uninterrupted)


def jobs_of(folder):
    """Process ids of train-shard jobs for shard 0 that work in a folder."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            arguments = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            here = os.readlink(f"/proc/{name}/cwd") == str(folder)
        except OSError:
            continue
        if here and b"train-shard" in arguments and b"--shard=0" in arguments:
            yield int(name)
