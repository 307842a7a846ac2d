"""Training jobs of a dataset share the pages of its features: resident size cannot show it, PSS
does.
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

PATIENCE = 120


@pytest.fixture
def folder(tmp_path):
    dataset = write_topics(tmp_path / "dataset.h5", n=30000, d=3000, n_labels=30)
    return CommandTraining("one-vs-all", dataset.path, tmp_path, 2).here


def features_of(pid, path):
    """Kilobytes of a mapped file that a process has resident, and its share of them."""
    text = Path(f"/proc/{pid}/smaps").read_text()
    parts = [
        part
        for part in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", text, flags=re.MULTILINE)
        if str(path) in part
    ]
    return [
        sum(int(re.search(rf"^{name}: +(\d+)", part, re.M)[1]) for part in parts)
        for name in ("Rss", "Pss")
    ]


def test_two_jobs_share_the_mapped_features(folder) -> None:
    data = folder / "dataset.h5"
    files = "train-shard", data, f"--means={folder}/means.h5", f"--plan={folder}/plan.tsv"
    words = [[*files, f"--shard={shard}", f"--output={folder}/{shard}.h5"] for shard in (0, 1)]
    # compiles what both need; then they solve so exactly that there is time to look
    ovaflow(*words[0])
    command = [sys.executable, "-m", "ovaflow"]
    environment = os.environ | {"OVAFLOW_NUMA": "off"}
    jobs = [
        subprocess.Popen([*command, *each, "--epsilon=1e-6"], env=environment) for each in words
    ]
    resident = (0, 0)
    shares = (0, 0)
    end = time.monotonic() + PATIENCE
    try:
        # each has all features, and both together once; the second is looked at later, when it may
        # have grown
        while min(resident) <= 3000 or sum(shares) > 1.1 * max(resident):
            state = f"resident {resident} and shares of {shares} KiB"
            assert time.monotonic() < end, f"the jobs never shared their features: {state}"
            assert {job.poll() for job in jobs} == {None}, (
                f"a job ended before both shared their features: {state}"
            )
            resident, shares = zip(*(features_of(job.pid, data) for job in jobs), strict=True)
    finally:
        for job in jobs:
            job.kill()
            job.wait()
    assert sum(shares) > 0.9 * max(resident)
