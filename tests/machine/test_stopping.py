"""Signals end real commands in seconds, whatever they do, and leave nothing half-done."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from synthetic import topics
from tiny_table import write_table

from ovaflow.data.dataset import write_dataset
from ovaflow.storage.artifact import open_artifact

LONG = ["--C=100000", "--epsilon=1e-9", "--initialization=zero"]
"""A training whose labels take minutes each."""

ENDED = (143, -signal.SIGTERM)
"""Python itself leaves signals to the kernel while it starts and ends; to a shell both are 143."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A dataset, and what the commands below take."""
    folder = tmp_path_factory.mktemp("stopping")
    made = topics(n=20000, d=4000, n_labels=60)
    write_dataset(folder / "dataset.h5", made.train, made.train, [f"label {j}" for j in range(60)], [], {"bias": 1.0})
    write_table(folder / "records.csv", rows=60000)
    for line in ("means dataset.h5 --output=means.h5", "plan dataset.h5 --shards=1 --output=plan.tsv"):
        subprocess.run([sys.executable, "-m", "ovaflow", *line.split()], cwd=folder, check=True, capture_output=True)
    return folder


def start(folder, line, **environment):
    return subprocess.Popen(
        [sys.executable, "-m", "ovaflow", *line],
        cwd=folder,
        env=os.environ | environment,
        # a shell that runs the tests in the background has their children ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stop(process, number=signal.SIGTERM):
    """Send a signal; what the process said last, its status, and the seconds to its end."""
    began = time.monotonic()
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    return said.splitlines()[-1:], process.returncode, time.monotonic() - began


def train_shard(folder, *options, **environment):
    line = ["train-shard", "dataset.h5", "--means=means.h5", "--plan=plan.tsv", "--shard=0", "--output=shard.h5"]
    return start(folder, [*line, *options], **environment)


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def wait_until_it_solves(process, folder):
    deadline = time.monotonic() + 60
    while not (folder / ".shard.h5.finished").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_while_a_kernel_runs(number, folder):
    (folder / ".shard.h5.finished").unlink(missing_ok=True)
    process = train_shard(folder, *LONG, "--threads=2")
    wait_until_it_solves(process, folder)
    before = cpu_seconds(process)
    time.sleep(0.7)
    assert cpu_seconds(process) > before + 0.1, "nothing is being solved"
    said, status, seconds = stop(process, number)
    words = rf"ovaflow: stopped by {number.name}: \d+ labels are kept, the same command continues"
    assert re.fullmatch(words, said[0])
    assert status == 128 + number
    assert seconds < 5


def test_while_kernels_compile(folder, tmp_path):
    for after in (1.5, 3.5):
        process = train_shard(folder, OVAFLOW_CACHE=str(tmp_path / f"cache{after}"))
        time.sleep(after)
        said, status, seconds = stop(process)
        assert status in ENDED
        assert status == -15 or "ovaflow: stopped by SIGTERM" in said[0]
        assert seconds < 5


def test_signals_that_are_ignored_stay_so(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "ovaflow", "means", "dataset.h5", "--output=ignored.h5"],
        cwd=folder,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(20):
        process.send_signal(signal.SIGHUP)
        time.sleep(0.05)
    assert process.wait(60) == 0
    assert (folder / "ignored.h5").exists()


COMMANDS = {
    "dataset": ["prepare", "--format=csv", "--train=records.csv", "--label-separator=|"],
    "label-tree": ["label-tree", "dataset.h5"],
    "embedding": ["embed", "dataset.h5", "--rank=30"],
    "tree-shard": ["train-trees", "dataset.h5", "--trees=300"],
    "root": ["root", "dataset.h5", "--root-epsilon=1e-7"],
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_other_steps(kind, folder):
    output, stopped = folder / f"stopped-{kind}.h5", 0
    for tenths in range(4, 14, 2):
        process = start(folder, [*COMMANDS[kind], f"--output={output}"])
        time.sleep(tenths / 10)
        if process.poll() is None:
            said, status, seconds = stop(process)
            assert (status in (0, *ENDED), seconds < 5) == (True, True), (said, seconds)
            stopped += status != 0
        else:
            process.communicate()
            assert process.returncode == 0
        assert not list(folder.glob(".*.partial"))
        if output.exists():
            # finished, perhaps just before the signal came
            with open_artifact(output, kind):
                output.unlink()
    assert stopped
