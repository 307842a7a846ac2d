"""Training jobs of a dataset share the pages of its features: resident size cannot show it, PSS does."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from synthetic import topics

from ovaflow.cli import main
from ovaflow.data.dataset import write_dataset

PATIENCE = 120


@pytest.fixture
def folder(tmp_path):
    made = topics(n=60000, d=3000, n_labels=60)
    write_dataset(tmp_path / "dataset.h5", made.train, made.train, [f"label {j}" for j in range(60)], [], {"bias": 1.0})
    assert main(["means", str(tmp_path / "dataset.h5"), f"--output={tmp_path / 'means.h5'}"]) == 0
    assert main(["plan", str(tmp_path / "dataset.h5"), "--shards=2", f"--output={tmp_path / 'plan.tsv'}"]) == 0
    return tmp_path


def features_of(pid, path):
    """Kilobytes of a mapped file that a process has resident, and its share of them."""
    text = Path(f"/proc/{pid}/smaps").read_text()
    parts = [part for part in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", text, flags=re.MULTILINE) if str(path) in part]
    return [sum(int(re.search(rf"^{name}: +(\d+)", part, re.M)[1]) for part in parts) for name in ("Rss", "Pss")]


def test_two_jobs_share_the_mapped_features(folder):
    data = folder / "dataset.h5"
    # solved so exactly that there is time to look
    common = ["train-shard", data, f"--means={folder / 'means.h5'}", f"--plan={folder / 'plan.tsv'}", "--epsilon=1e-6"]
    commands = [[*common, f"--shard={shard}", f"--output={folder / str(shard)}.h5"] for shard in (0, 1)]
    environment = os.environ | {"OVAFLOW_NUMA": "off"}
    jobs = [subprocess.Popen([sys.executable, "-m", "ovaflow", *command], env=environment) for command in commands]
    try:
        for job in jobs:
            stop_when_read(job, data, 6000)
        resident, shares = zip(*(features_of(job.pid, data) for job in jobs), strict=True)
    finally:
        for job in jobs:
            job.send_signal(signal.SIGKILL)
            job.wait()
    # each has all of the features, and together they have them once
    assert min(resident) > 6000
    assert sum(shares) == pytest.approx(max(resident), rel=0.1)


def stop_when_read(job, data, kilobytes):
    """Halt a job as soon as it has read its features, so that it is there to be looked at."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and job.poll() is None:
        if features_of(job.pid, data)[0] > kilobytes:
            job.send_signal(signal.SIGSTOP)
            return
        time.sleep(0.005)
    pytest.fail("the job never had its features resident")
