"""Jobs have as many threads as they are told, whatever the machine and the environment offer."""

import os
import subprocess
import sys
import time

import pytest
from command_training import CommandTraining
from synthetic import write_topics

from ovaflow.machine.limits import ONE_THREAD_ENVIRONMENT

THREADS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A dataset, and everything that the commands below take."""
    folder = tmp_path_factory.mktemp("threads")
    dataset = write_topics(folder / "dataset.h5", n=1500, d=400, n_labels=12)
    return CommandTraining("one-vs-all", dataset.path, folder).here


def list_threads(process_id: int) -> set[str]:
    """Name the threads that Linux lists for a process."""
    try:
        return set(os.listdir(f"/proc/{process_id}/task"))
    except FileNotFoundError:
        return set()


def most_threads(folder, line):
    """Run a command with eight threads for each library; return the most threads that it had."""
    environment = os.environ | dict.fromkeys(ONE_THREAD_ENVIRONMENT, "8")
    command = [sys.executable, "-m", "ovaflow", *line.split()]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    most = 0
    before = set()
    while process.poll() is None:
        now = list_threads(process.pid)
        # a thread that has just ended is listed for a moment longer, beside the one that follows it
        most = max(most, len(now & before))
        before = now
        time.sleep(0.005)
    assert process.returncode == 0, process.stdout.read().decode()
    return most


COMMANDS = """
train-shard dataset.h5 --means=means.h5 --plan=plan.tsv --shard=0 --output=shard.h5
merge shard.h5 --dataset=dataset.h5 --output=model.h5 --statistics=training.h5
predict model.h5 --dataset=dataset.h5 --output=predictions.h5
"""
MORE = """
means dataset.h5 --output=means.h5
train-shard --method=fastxml dataset.h5 --trees=6 --output=trees.h5
embed dataset.h5 --rank=4 --output=embedding.h5
project dataset.h5 --embedding=embedding.h5 --output=projected.h5
tune-decoder projected.h5 --dataset=dataset.h5 --embedding=embedding.h5 --C=1 --C=2 --output=decoder.json
train-shard --method=rembrandt projected.h5 --tuned=decoder.json --output=decoder.h5
"""
LINES = COMMANDS.strip().splitlines()
LINES += [pytest.param(line, marks=pytest.mark.long) for line in MORE.strip().splitlines()]


@pytest.mark.parametrize("command", LINES, ids=lambda line: line.split()[0])
def test_threads_of_a_command(folder, command) -> None:
    if command.startswith("merge"):
        assert most_threads(folder, command) == 1
        return
    counted = most_threads(folder, f"{command} --threads={THREADS}")
    # the main thread waits for those that work; how many are seen at a time depends on what else
    # the machine does
    assert (2 if command.startswith("train-shard") else 1) <= counted <= THREADS + 1
