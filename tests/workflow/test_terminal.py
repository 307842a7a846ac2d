"""What a person sees of a run, and how it is stopped and continued."""

import os
import signal
import threading
import time

import psutil
import pytest
from commands import ovaflow
from local_server import local_server

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

DATASET = "results/tiny/dataset.h5"


@pytest.fixture
def server(place):
    """Has the table, and does not answer until its list of answers is cleared."""
    end = threading.Event()

    def wait(handler, content) -> None:
        end.wait()

    with local_server() as server:
        server.files["/records.csv"] = (place.folder / "records.csv").read_bytes()
        server.answers["/records.csv"] = [wait] * 10
        yield server
        end.set()


@pytest.fixture
def start(place, server):
    """Starts Snakemake in a session of its own, whose first job is a download that lasts."""
    processes = []
    source = {"format": "csv", "train": f"{server.root}/records.csv", "label_separator": "|"}
    place.configure(datasets={"tiny": source})

    def start():
        process = place.start(
            place.command(DATASET, "--configfile", "my.yaml"), start_new_session=True
        )
        processes.append(process)
        deadline = time.monotonic() + 120
        while not server.asked:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        return process

    yield start
    for process in [*place.running_jobs(), *processes]:
        process.kill()
    for process in processes:
        process.wait()


def test_a_failure_says_why(place) -> None:
    place.configure(prepare={"text_column": "nope"})
    lines = place.snakemake("results/tiny/dataset.h5", status=2).splitlines()
    failed = lines.index(
        "FAILED: prepare_dataset: results/tiny/dataset.h5 results/tiny/sizes.json"
        " results/tiny/reading.json"
    )
    assert lines[failed + 1] == "  the command returned non-zero exit status 2"
    assert lines[failed + 2].startswith("  ovaflow: error: records.csv, line 1: no column 'nope'")
    assert lines[failed + 3] == "  log: logs/tiny/prepare.log"
    assert lines[-1].startswith("Stopped: 0 of 1 jobs. Correct the errors above")
    assert "Traceback" not in "".join(lines)


def test_a_code_that_yaml_changes_is_refused_and_kept_in_quotes(place, monkeypatch) -> None:
    monkeypatch.chdir(place.folder)
    config = place.folder / "my.yaml"
    plain = config.read_text(encoding="utf-8")
    config.write_text(f"{plain}prepare: {{exclude: [250.10]}}\n", encoding="utf-8")
    refusal = (
        f"my.yaml, line {len(plain.splitlines()) + 1}: prepare.exclude: YAML takes 250.10 for "
    )
    assert refusal in place.dry_run(DATASET)
    assert f"ovaflow: error: {refusal}" in ovaflow("run", "my.yaml", "--dry-run", status=2)
    config.write_text(f"{plain}prepare: {{exclude: ['250.10']}}\n", encoding="utf-8")
    assert "--exclude=250.10 " in place.dry_run("--printshellcmds", DATASET)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_snakemake_ends_the_jobs(place, start, number) -> None:
    process = start()
    jobs = place.running_jobs()
    assert jobs
    process.send_signal(number)
    written, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert written.endswith("Interrupted: 0 of 2 jobs; the same command continues\n")
    assert "FAILED" not in written
    psutil.wait_procs(jobs, timeout=10)
    assert place.running_jobs() == []
    assert not list(place.folder.glob(".snakemake/locks/*"))


@pytest.mark.long
def test_a_second_run_names_the_first_and_unlocks_what_a_killed_one_left(
    place, start, server
) -> None:
    process = start()
    run = "run", "my.yaml", "--cores=2"
    second = place.ovaflow(run, status=2)
    assert second.splitlines()[-1] == (
        f"ovaflow: error: another run (process {process.pid}) uses this folder; wait for it, or use"
        " another folder"
    )
    assert "--unlock" not in second
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert list(place.folder.glob(".snakemake/locks/*"))
    # one of another machine may still run, so there is only Snakemake's own message
    owner = place.folder / ".snakemake" / "ovaflow.pid"
    here = owner.read_text()
    owner.write_text(f"elsewhere {process.pid}")
    assert "--unlock" in place.ovaflow(run, DATASET, status=1)
    owner.write_text(here)
    server.answers.clear()
    assert "--unlock" not in place.ovaflow(run, DATASET)


def test_no_cores_are_refused(place) -> None:
    assert "ovaflow: error: no job runs on --cores 0; give --cores 1 or more" in place.dry_run(
        "--cores", "0"
    )


def test_a_folder_that_jobs_could_not_write_is_one_line_before_they_run(place) -> None:
    folder = place.folder / "results" / DATASET.split("/")[1]
    folder.parent.mkdir()
    # unlike a closed folder, one that even root cannot write
    folder.touch()
    written = place.snakemake(DATASET, status=2)
    assert (
        f"ovaflow: error: {folder}: cannot be written; allow writing there, or use another folder"
        in written
    )
    assert "Traceback" not in written
