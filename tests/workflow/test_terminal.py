"""What a person sees of a run, and how it is stopped and continued."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from tiny_table import write_config

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]


def ovaflow_run(place, *arguments):
    """Run the pipeline as people do, to its end."""
    command = [sys.executable, "-m", "ovaflow", "run", "my.yaml", "--cores=2", *arguments]
    options = {"cwd": place.folder, "env": place.environment(), "text": True}
    return subprocess.run(command, capture_output=True, check=False, **options)


@pytest.fixture
def start(place):
    """Starts Snakemake in a session of its own.

    Kernels are compiled again, so that its first job lasts for a while.
    """
    processes = []

    def start():
        (place.folder / "kernels").mkdir()
        process = subprocess.Popen(
            place.command("--configfile", "my.yaml"),
            cwd=place.folder,
            env=place.environment(OVAFLOW_CACHE=str(place.folder / "kernels")),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        log, deadline = place.folder / "logs" / "warm-up.log", time.monotonic() + 120
        while not (log.exists() and jobs_in(place.folder)):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        return process

    yield start
    for process in processes:
        for job in jobs_in(place.folder):
            job.kill()
        process.kill()
        process.wait()


def jobs_in(folder):
    """Jobs of ovaflow that work in a folder."""
    jobs = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            if process.cwd() == str(folder) and words[1:4] == ["-P", "-m", "ovaflow"]:
                jobs.append(process)
        except psutil.Error:
            continue
    return jobs


def test_a_failure_says_why(place):
    write_config(place.folder / "my.yaml", prepare={"text_column": "nope"})
    lines = place.snakemake("results/tiny/dataset.h5", status=2).splitlines()
    failed = lines.index("FAILED: prepare_dataset: results/tiny/dataset.h5")
    assert lines[failed + 1] == "  the command returned non-zero exit status 2"
    assert lines[failed + 2].startswith("  ovaflow: error: records.csv, line 1: no column 'nope'")
    assert lines[failed + 3] == "  log: logs/tiny/prepare.log"
    assert lines[-1].startswith("Stopped: 0 of 1 jobs. Correct what is said above")
    assert "Traceback" not in "".join(lines)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_snakemake_ends_the_jobs(place, start, number):
    process = start()
    jobs = jobs_in(place.folder)
    assert jobs
    process.send_signal(number)
    # training and compiling would take longer by far
    written, _ = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert written.endswith("Interrupted: 0 of 19 jobs; the same command continues\n")
    assert "FAILED" not in written
    psutil.wait_procs(jobs, timeout=10)
    assert jobs_in(place.folder) == []
    assert not list(place.folder.glob(".snakemake/locks/*"))


def test_a_second_run_names_the_first_and_unlocks_what_a_killed_one_left(place, start):
    process = start()
    second = ovaflow_run(place)
    assert second.returncode == 2
    assert second.stderr.splitlines()[-1] == (
        f"ovaflow: error: another run (process {process.pid}) uses this folder; wait for it, or use another folder"
    )
    assert "--unlock" not in second.stderr
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert list(place.folder.glob(".snakemake/locks/*"))
    # one of another machine may still run, so there is only Snakemake's own message
    owner = place.folder / ".snakemake" / "ovaflow.pid"
    here = owner.read_text()
    owner.write_text(f"elsewhere {process.pid}")
    elsewhere = ovaflow_run(place, "results/tiny/dataset.h5")
    assert elsewhere.returncode == 1
    assert "--unlock" in elsewhere.stderr
    owner.write_text(here)
    continued = ovaflow_run(place, "results/tiny/dataset.h5")
    assert continued.returncode == 0, continued.stderr
    assert "--unlock" not in continued.stderr


def test_no_cores_are_refused(place):
    written = place.snakemake("--cores", "0", status=2)
    assert "ovaflow: error: no job runs on --cores 0; give --cores 1 or more" in written
