"""Commands that are ended by a signal end at once, and the next one of the same output leaves nothing of theirs."""

import os
import re
import signal
import subprocess
import sys
import time

import psutil
import pytest
from synthetic import write_topics
from trained_by_commands import Trained

LONG = ["--C=100000", "--epsilon=1e-9", "--initialization=zero", "--threads=2"]
"""A training whose labels take minutes each."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A dataset, and what the commands below take."""
    folder = tmp_path_factory.mktemp("interrupts")
    dataset = write_topics(folder / "dataset.h5", n=20000, d=4000, n_labels=60)
    return Trained("one-vs-all", dataset.path, folder).here


COMMANDS = {
    "train-shard": ["--means=means.h5", "--plan=plan.tsv", "--shard=0", *LONG],
    "train-trees": ["--trees=300", "--threads=2"],
}


def start(folder, command, *options):
    return subprocess.Popen(
        [sys.executable, "-m", "ovaflow", command, "dataset.h5", *options],
        cwd=folder,
        # a shell that runs the tests in the background has their children ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        process_group=0,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("command", "number", "status"), [("train-shard", signal.SIGINT, 130), ("train-trees", signal.SIGTERM, -15)]
)
def test_while_threads_compute(command, number, status, folder):
    process = start(folder, command, *COMMANDS[command], "--output=shard.h5")
    while cpu_seconds(process) < 3:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == status
    assert len(re.findall("^ovaflow: error: interrupted$", said, re.MULTILINE)) == (number == signal.SIGINT)
    assert "Traceback" not in said


@pytest.mark.long
def test_ctrl_c_while_a_sample_is_trained(folder):
    process = start(folder, "estimate", *LONG)
    while not any(cpu_seconds(child) > 1 for child in psutil.Process(process.pid).children()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    # a step that was done before has said so
    assert said.splitlines()[-1] == "ovaflow: error: interrupted"
    assert said.count("interrupted") == 1
    assert "Traceback" not in said


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
