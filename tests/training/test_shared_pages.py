"""Training jobs of a dataset share the pages of its features.

Resident size cannot show this, proportional set size (PSS) does.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_training import CommandTraining
from commands import ovaflow
from synthetic import write_topics

PATIENCE_SECONDS = 120
"""Seconds after which the jobs should have shared their features."""


@pytest.fixture
def folder(tmp_path) -> Path:
    dataset = write_topics(tmp_path / "dataset.h5", n=30000, d=3000, n_labels=30)
    return CommandTraining("one-vs-all", dataset.path, tmp_path, 2).here


def measure_mapped_file(pid: int, path: Path) -> tuple[int, int]:
    """Measure the kilobytes of a mapped file that a process has resident, and its share of them."""
    text = Path(f"/proc/{pid}/smaps").read_text()
    resident = 0
    share = 0
    for part in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", text, flags=re.MULTILINE):
        if str(path) in part:
            resident += int(re.search(r"^Rss: +(\d+)", part, re.MULTILINE)[1])
            share += int(re.search(r"^Pss: +(\d+)", part, re.MULTILINE)[1])
    return resident, share


def test_two_jobs_share_the_mapped_features(folder) -> None:
    data = folder / "dataset.h5"
    files = "train-shard", data, f"--means={folder}/means.h5", f"--plan={folder}/plan.tsv"
    words = [[*files, f"--shard={shard}", f"--output={folder}/{shard}.h5"] for shard in (0, 1)]
    # compiles what both need; then they solve so exactly that there is time to look
    ovaflow(words[0])
    command = [sys.executable, "-m", "ovaflow"]
    environment = os.environ | {"OVAFLOW_NUMA": "off"}
    jobs = [
        subprocess.Popen([*command, *each, "--epsilon=1e-6"], env=environment) for each in words
    ]
    resident = [0, 0]
    shares = [0, 0]
    end = time.monotonic() + PATIENCE_SECONDS
    try:
        # each has all features, and both together once; the second is looked at later, when it may
        # have grown
        while min(resident) <= 3000 or sum(shares) > 1.1 * max(resident):
            state = f"resident {resident} and shares of {shares} KiB"
            assert time.monotonic() < end, f"the jobs never shared their features: {state}"
            assert {job.poll() for job in jobs} == {None}, (
                f"a job ended before both shared their features: {state}"
            )
            measured = [measure_mapped_file(job.pid, data) for job in jobs]
            resident = [kilobytes for kilobytes, _ in measured]
            shares = [share for _, share in measured]
    finally:
        for job in jobs:
            job.kill()
            job.wait()
    assert sum(shares) > 0.9 * max(resident)
