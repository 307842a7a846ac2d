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
    return [sys.executable, "-m", "ovaflow", "run", "my.yaml", "--cores=2", *arguments]


@pytest.fixture
def started(place):
    """Starts a run in a session of its own; kernels are compiled again, so that it has something to do for a while."""
    processes = []

    def start(command):
        (place.folder / "kernels").mkdir(exist_ok=True)
        environment = place.environment(OVAFLOW_CACHE=str(place.folder / "kernels"))
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "start_new_session": True}
        processes.append(subprocess.Popen(command, cwd=place.folder, env=environment, **options))
        log, deadline = place.folder / "logs" / "warm-up.log", time.monotonic() + 120
        while not (log.exists() and jobs_in(place.folder)):
            assert processes[-1].poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        return processes[-1]

    yield start
    for process in processes:
        for each in jobs_in(place.folder):
            each.kill()
        process.kill()
        process.wait()


def jobs_in(folder):
    """Jobs of ovaflow that work in a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(folder) and process.cmdline()[1:4] == ["-P", "-m", "ovaflow"]:
                found.append(process)
        except psutil.Error:
            continue
    return found


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
def test_a_signal_to_snakemake_ends_the_jobs(place, started, number):
    process = started(place.command("--configfile", "my.yaml"))
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


def test_a_second_run_names_the_first(place, started):
    process = started(ovaflow_run(place))
    options = {"cwd": place.folder, "env": place.environment(), "capture_output": True, "text": True}
    second = subprocess.run(ovaflow_run(place), check=False, **options)
    assert second.returncode == 2
    said = f"another run (process {process.pid}) uses this folder; wait for it, or use another folder"
    assert second.stderr.splitlines()[-1] == f"ovaflow: error: {said}"
    assert "--unlock" not in second.stderr


def test_what_a_killed_snakemake_has_locked_is_unlocked(place, started):
    process = started(ovaflow_run(place))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert list(place.folder.glob(".snakemake/locks/*"))
    # of one that may still run elsewhere only Snakemake's own message tells
    owner = place.folder / ".snakemake" / "ovaflow.pid"
    ours = owner.read_text()
    for text in (f"elsewhere {process.pid}", ours):
        owner.write_text(text)
        command = ovaflow_run(place, "results/tiny/dataset.h5")
        done = subprocess.run(
            command, cwd=place.folder, env=place.environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == (0 if text == ours else 1), done.stderr
        assert ("--unlock" in done.stderr) == (text != ours)


def test_no_cores_are_refused(place):
    written = place.snakemake("--cores", "0", status=2)
    assert "ovaflow: error: no job runs on --cores 0; give --cores 1 or more" in written
