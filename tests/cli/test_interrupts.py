"""Commands that are ended by a signal end at once, and the next one of the same output leaves
nothing of theirs.
"""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from command_training import CommandTraining
from synthetic import write_topics
from tiny_table import write_config, write_table

LONG = ["--C=100000", "--epsilon=1e-9", "--initialization=zero", "--threads=2"]
"""A training whose labels take minutes each."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A dataset, and what the commands below take."""
    folder = tmp_path_factory.mktemp("interrupts")
    dataset = write_topics(folder / "dataset.h5", n=20000, d=4000, n_labels=60)
    return CommandTraining("one-vs-all", dataset.path, folder).here


def start(folder, *words, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "ovaflow", *words],
        cwd=folder,
        # a shell that runs the tests in the background has their children ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        process_group=0,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


SHARD = "--means=means.h5", "--plan=plan.tsv", "--shard=0", "--output=shard.h5", *LONG


@pytest.mark.parametrize(
    ("number", "status", "command"),
    [
        (signal.SIGINT, 130, ["train-shard", *SHARD]),
        (
            signal.SIGTERM,
            -15,
            ["train-shard", "--method=fastxml", "--trees=300", "--threads=2", "--output=shard.h5"],
        ),
        # a process of its own trains the sample
        pytest.param(signal.SIGINT, 130, ["estimate", *LONG], marks=pytest.mark.long),
    ],
)
def test_while_threads_compute(number, status, command, folder) -> None:
    process = start(folder, command[0], "dataset.h5", *command[1:])
    works = psutil.Process(process.pid)
    while not any(
        cpu_seconds(each) > 3 for each in (works.children() if "estimate" in command else [works])
    ):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.killpg(process.pid, number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == status
    # a step that was done before has said so
    assert said.endswith("ovaflow: interrupted\n") == (number == signal.SIGINT)
    assert said.count("interrupted") == (number == signal.SIGINT)
    assert "Traceback" not in said


PREDICT = ["predict", "none.h5", "--text=a"]
RUN = ["run", "my.yaml", "--cores=1"]


@pytest.mark.parametrize(
    ("words", "module"),
    [
        (["--help"], "click.core"),
        (PREDICT, "numpy"),
        (["serve"], "uvicorn.config"),
        (RUN, "ovaflow.cli"),
        (RUN, "snakemake"),
    ],
)
def test_while_modules_are_loaded(words, module, tmp_path) -> None:
    write_config(tmp_path / "my.yaml")
    write_table(tmp_path / "records.csv")
    process = start(tmp_path, *words, env=os.environ | {"PYTHONPROFILEIMPORTTIME": "1"})
    # Python says so when it has loaded a module
    assert any(line.endswith(f" {module}\n") for line in process.stderr)
    os.killpg(process.pid, signal.SIGINT)
    said = [
        line
        for line in process.communicate(timeout=60)[1].splitlines()
        if not line.startswith("import time:")
    ]
    assert (said, process.returncode) == (["ovaflow: interrupted"], 130)


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf(
            "SC_CLK_TCK"
        )
