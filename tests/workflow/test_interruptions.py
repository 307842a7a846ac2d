"""Jobs and drivers are killed at random moments; the same command continues to the same bytes."""

import contextlib
import os
import random
import signal
import time
from shutil import rmtree

import numpy as np
import psutil
import pytest
from pipeline_folder import OVAFLOW_COMMAND, PipelineFolder
from sklearn.datasets import dump_svmlight_file
from synthetic import make_topics

pytestmark = [pytest.mark.workflow, pytest.mark.kills, pytest.mark.timeout(1800)]

SEEDS = os.environ.get("OVAFLOW_TEST_SEEDS", "0").split()
"""Of the order of the kills and of their moments; each seed takes a minute of processor time."""

KILLS = [
    ("job", signal.SIGKILL),
    ("job", signal.SIGTERM),
    ("shell", signal.SIGKILL),
    ("driver", signal.SIGKILL),
    ("driver", signal.SIGTERM),
    ("all", signal.SIGKILL),
]
CONFIG = """
datasets: {made: {format: xmc-text, train: made.txt}}
runs: {tree: {initialization: label-tree, threads: 2}}
train: {shards: 2, epsilon: 3.0e-6}
"""
OFTEN = "from ovaflow.storage import parts; parts.PART_SECONDS = 0.05"
"""Parts are written so often that jobs which are killed after a second have some."""

MODEL = "results/made/tree/model.h5"


def write_made(path, n=5000, n_labels=600) -> None:
    """Write XMC text; of three labels two are parts of the third, at whose solution they start."""
    made = make_topics(n=n, d=1500, n_labels=n_labels).train
    Y = made.Y.to_scipy().toarray()
    for part in (1, 2):
        Y[:, part::3] = Y[:, ::3] * (np.arange(n) % (part + 2) > 0)[:, None]
    with open(path, "wb") as file:
        file.write(f"{n} {made.X.n_columns} {n_labels}\n".encode())
        dump_svmlight_file(made.X.to_scipy(), Y, file, multilabel=True)


class Attacked(PipelineFolder):
    """A place where a pipeline runs whose processes are killed."""

    def __init__(self, folder) -> None:
        super().__init__(folder)
        write_made(folder / "made.txt")
        (folder / "my.yaml").write_text(CONFIG)
        (folder / "patch").mkdir()
        (folder / "patch" / "sitecustomize.py").write_text(OFTEN)
        self.written = folder / "written.txt"
        self.driver = None
        self.killed_in_training = 0
        self.continued = 0

    def environment(self, **variables):
        environment = super().environment(**variables)
        patched = f"{self.folder / 'patch'}:{environment['PYTHONPATH']}"
        return environment | {"PYTHONPATH": patched}

    def begin(self) -> None:
        """Call the command that the user would call again."""
        command = [*OVAFLOW_COMMAND, "run", "my.yaml", "--cores=2", "--retries=1000", MODEL]
        with open(self.written, "a") as file:
            self.driver = self.start(command, stdout=file, start_new_session=True)

    def strike(self, victim, number, rng):
        """Kill a process when a job starts or writes parts; return True if one was killed."""
        jobs = self.running_jobs("train-")
        if not jobs:
            time.sleep(0.3)
            return False
        job = rng.choice(jobs)
        parts = self.count_parts() + rng.randint(0, 3)
        with contextlib.suppress(psutil.Error):
            while self.count_parts() < parts and job.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.1))
            shell = job.parent()
            if shell is None or shell.name() != "bash":
                return False
            self.killed_in_training += self.count_parts() > 0
            self.count_continued()
            victims = {"job": [job], "shell": [shell], "driver": [self.driver]}
            for process in victims.get(victim) or self.processes():
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.send_signal(number)
            if victim in ("driver", "all"):
                self.driver.wait(60)
            elif victim == "job":
                psutil.wait_procs([job], timeout=60)
            return True
        return False

    def count_parts(self):
        return sum(1 for _ in self.folder.glob("results/made/trainings/*/shards/*.parts/*.h5"))

    def count_continued(self) -> None:
        """Count jobs that found what an earlier attempt had finished."""
        for log in self.folder.rglob("train-*.log"):
            self.continued += "continues, " in log.read_text(errors="replace")

    def assert_finished(self, model) -> None:
        """The model is there to the last byte, and nothing else is left."""
        deadline = time.monotonic() + 120
        # orphans end by themselves
        while self.processes():
            assert time.monotonic() < deadline, self.processes()
            time.sleep(0.2)
        assert (self.folder / MODEL).read_bytes() == model
        for pattern in (".*.partial", "*.parts"):
            assert list(self.folder.rglob(pattern)) == []
        assert not list(self.folder.glob(".snakemake/locks/*"))
        assert not [path for path in self.folder.glob(".snakemake/incomplete/*") if path.is_file()]
        assert "Nothing to be done" in self.dry_run(MODEL)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The model of an uninterrupted run."""
    place = Attacked(tmp_path_factory.mktemp("uninterrupted"))
    place.snakemake(MODEL)
    return (place.folder / MODEL).read_bytes()


@pytest.mark.parametrize("seed", SEEDS)
def test_killed_at_random_moments(model, tmp_path, seed) -> None:
    place = Attacked(tmp_path)
    rng = random.Random(seed)
    kills = rng.sample(KILLS, len(KILLS))
    place.begin()
    try:
        while kills:
            if place.strike(*kills[-1], rng):
                kills.pop()
            if place.driver.poll() == 0:
                place.assert_finished(model)
                rmtree((tmp_path / MODEL).parent)
            if place.driver.poll() is not None:
                place.begin()
        assert place.driver.wait(300) == 0, place.written.read_text()[-5000:]
    finally:
        for process in place.processes():
            process.kill()
        place.driver.wait()
    place.assert_finished(model)
    place.count_continued()
    assert place.killed_in_training > 2
    assert place.continued > 0
