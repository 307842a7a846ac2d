"""Jobs and drivers are killed at random moments; the same command continues to the same bytes, and nothing is left."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from shutil import rmtree

import numpy as np
import psutil
import pytest
import scipy.sparse as sp
import yaml
from pipeline_place import Place
from synthetic import topics

pytestmark = [pytest.mark.workflow, pytest.mark.kills, pytest.mark.timeout(1800)]

KILLS = int(os.environ.get("OVAFLOW_TEST_KILLS", 12))
"""Each takes about two seconds of CPU time."""

SEED = int(os.environ.get("OVAFLOW_TEST_SEED", 0))
"""Of the moments, of whom they hit and with what."""

RUNS = {
    "msi": {"initialization": "mean-separating", "threads": 2},
    "tree": {"initialization": "label-tree", "shards": 2},
    "forest": {"method": "fastxml", "trees": 60, "shards": 2},
}
CONFIG = {
    "datasets": {"made": {"format": "xmc-text", "train": "made.txt"}},
    "runs": RUNS,
    "train": {"shards": 3, "epsilon": 1e-4},
}
OFTEN = "from ovaflow.storage import parts; parts.SECONDS = 0.1"
"""Parts are written so often that jobs which are killed after a second have some."""

MODELS = [f"results/made/{run}/model.h5" for run in RUNS]


def write_made(path, n=6000, n_labels=600):
    """A made-up dataset as XMC text; two labels of three are parts of the third, at whose solution they start."""
    made = topics(n=n, d=1500, n_labels=n_labels).train
    X, Y = made.X.to_scipy(), made.Y.to_scipy().toarray() > 0
    for part in (1, 2):
        Y[:, part::3] = Y[:, ::3] & (np.arange(n) % (part + 2) > 0)[:, None]
    Y = sp.csr_array(Y)
    with open(path, "w") as file:
        file.write(f"{n} {X.shape[1]} {n_labels}\n")
        for i in range(n):
            labels = ",".join(map(str, Y.indices[Y.indptr[i] : Y.indptr[i + 1]]))
            row = slice(*X.indptr[i : i + 2])
            features = " ".join(f"{j}:{value:.6g}" for j, value in zip(X.indices[row], X.data[row], strict=True))
            file.write(f"{labels} {features}\n")


class Attacked(Place):
    """A place where a pipeline runs that is killed now and then."""

    def __init__(self, folder, rng):
        super().__init__(folder)
        write_made(folder / "made.txt")
        (folder / "my.yaml").write_text(yaml.safe_dump(CONFIG))
        (folder / "patch").mkdir()
        (folder / "patch" / "sitecustomize.py").write_text(OFTEN)
        self.rng, self.driver = rng, None
        self.kills, self.count, self.continued = 0, Counter(), Counter()
        self.written = folder / "written.txt"

    def environment(self, **variables):
        found = super().environment(**variables)
        return found | {"PYTHONPATH": f"{self.folder / 'patch'}:{found['PYTHONPATH']}"}

    def start(self, *models):
        """Call the command that the user would call again; without models it makes all."""
        models = models or MODELS
        command = [sys.executable, "-m", "ovaflow", "run", "my.yaml", "--cores=2", "--retries=1000", *models]
        with open(self.written, "a") as file:
            pipes = {"stdout": file, "stderr": subprocess.STDOUT}
            self.driver = subprocess.Popen(
                command, cwd=self.folder, env=self.environment(), start_new_session=True, **pipes
            )

    def processes(self):
        """Living processes of this place: jobs of ovaflow with their commands, and all."""
        jobs, found = {}, []
        for process in psutil.process_iter():
            try:
                if process.cwd() == str(self.folder) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
                    _, *program, command = (process.cmdline() + [""] * 5)[:5]
                    if program == ["-P", "-m", "ovaflow"]:
                        jobs[process] = command
            except psutil.Error:
                continue
        return jobs, found

    def wait_for_moment(self):
        """A job that has worked for a random time, however busy the machine is; None if it has ended before."""
        commands = self.processes()[0]
        jobs = sorted(commands, key=lambda process: process.pid)
        if not jobs:
            time.sleep(0.1)
            return None
        try:
            training = [job for job in jobs if commands[job].startswith("train-")]
            job, moment = self.rng.choice(training or jobs), self.rng.uniform(0.5, 3.0)
            if not training and self.rng.random() < 0.6:
                # the others are many, and begin again
                job.wait(60)
            while sum(job.cpu_times()[:2]) < moment:
                time.sleep(0.03)
            return job if job.is_running() and job.parent().name() == "bash" else None
        except (psutil.Error, AttributeError):
            return None

    def count_continued(self):
        """Count jobs that found what an earlier attempt had finished."""
        for log in self.folder.glob("logs/*/*/train-*.log"):
            self.continued[log.parent.name] += "continues, " in log.read_text(errors="replace")

    def strike(self):
        """Kill somebody at a random moment of a job: mostly the job, now and then its shell, the driver, or all."""
        job = self.wait_for_moment()
        if job is None:
            return
        number = self.rng.choice([signal.SIGKILL, signal.SIGTERM])
        whom = self.rng.choices(["job", "shell", "driver", "all"], [6, 1, 1.5, 1.5])[0]
        chosen = {"job": [job], "shell": [job.parent()], "driver": [self.driver], "all": self.processes()[1]}[whom]
        self.count_continued()
        training = any(self.folder.rglob("*.parts/*.h5"))
        for process in chosen:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        if whom in ("driver", "all"):
            self.driver.wait(60)
        elif whom == "job":
            psutil.wait_procs([job], timeout=60)
        self.count.update([f"{whom} {number.name}"] + ["while it trained"] * training)
        self.kills += 1

    def wait_for_all(self):
        """Wait for orphans, which end by themselves."""
        deadline = time.monotonic() + 120
        while self.processes()[1]:
            assert time.monotonic() < deadline, self.processes()
            time.sleep(0.2)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The models of an uninterrupted run."""
    place = Attacked(tmp_path_factory.mktemp("uninterrupted"), None)
    Place(place.folder).quick_snakemake(*MODELS)
    return [(place.folder / model).read_bytes() for model in MODELS]


def assert_finished(place, uninterrupted):
    """The models are there to the last byte, and nothing else is left."""
    place.wait_for_all()
    missing = [model for model in MODELS if not (place.folder / model).exists()]
    assert not missing, (missing, dict(place.count), place.written.read_text()[-5000:])
    assert [(place.folder / model).read_bytes() for model in MODELS] == uninterrupted
    left = [path.name for pattern in (".*.partial", "*.parts") for path in place.folder.rglob(pattern)]
    assert left == []
    own = place.folder / ".snakemake"
    assert not list(own.glob("locks/*"))
    assert not [path for path in own.glob("incomplete/*") if path.is_file()]
    assert "Nothing to be done" in place.snakemake("--dry-run", *MODELS)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[2]])
def test_an_estimate_that_outlives_its_driver(tmp_path, model):
    place = Attacked(tmp_path, None)
    place.start(model)
    try:
        while "estimate" not in place.processes()[0].values():
            assert place.driver.poll() is None, place.written.read_text()
            time.sleep(0.05)
        place.driver.kill()
        place.driver.wait()
        place.wait_for_all()
    finally:
        for process in place.processes()[1]:
            process.kill()
    assert list(tmp_path.glob("results/made/estimates/*.json"))
    assert not (tmp_path / model).exists()
    place.start(model)
    assert place.driver.wait(300) == 0, place.written.read_text()
    assert (tmp_path / model).exists()


def test_killed_at_random_moments(uninterrupted, tmp_path):
    print(f"OVAFLOW_TEST_SEED={SEED}")
    place = Attacked(tmp_path, random.Random(SEED))
    rounds = 0
    place.start()
    try:
        while place.kills < KILLS:
            place.strike()
            if place.driver.poll() == 0:
                assert_finished(place, uninterrupted)
                rounds += 1
                rmtree(tmp_path / "results")
            if place.driver.poll() is not None:
                place.start()
        assert place.driver.wait(300) == 0, place.written.read_text()[-5000:]
    finally:
        for process in place.processes()[1]:
            process.kill()
        place.driver.wait()
    assert_finished(place, uninterrupted)
    place.count_continued()
    print(f"{place.kills} kills, {rounds + 1} finished runs: {dict(place.count)}")
    assert place.count["while it trained"] > KILLS / 10
    assert sum(place.continued.values()) > 0, place.continued
