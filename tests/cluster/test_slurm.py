"""The pipeline on a real Slurm cluster of four nodes on this host, started by slurm-up."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
import pytest
from pipeline_folder import SOURCE_FOLDER, PipelineFolder
from tiny_table import write_config

pytestmark = [pytest.mark.workflow, pytest.mark.cluster, pytest.mark.timeout(900)]

HERE = Path(__file__).parent
MODEL = "results/tiny/msi/model.h5"
OTHER_MODEL = "results/tiny/dismec/model.h5"
SHARDS_ALONE = "--group-components=shards.{training}=1"
SHARDS_IN_PAIRS = "--group-components=shards.{training}=2"

# hook of a shard that has written its file and not yet renamed it: it does what a file TRAINING-SHARD
# next to the hook says; and of Snakemake, whose plugin waits ten seconds more after each look at
# Slurm's queue that finds no job done
HOOK = """
import asyncio, os, sys, time
from pathlib import Path

fsync = os.fsync


async def wait_a_second(executor):
    await asyncio.sleep(1)


def act(handle):
    (output,) = [Path(word.partition("=")[2]) for word in sys.argv if word.startswith("--output=")]
    trick = Path(__file__).with_name(f"{output.parts[-3]}-{output.stem}")
    what = trick.read_text() if trick.exists() else ""
    if what == "hang":
        trick.unlink()
        partial = trick.with_suffix(".partial")
        partial.write_text(os.environ["SLURM_JOB_ID"])
        partial.rename(trick.with_suffix(".hanging"))
        time.sleep(600)
    if what == "grow":
        memory = bytearray(os.urandom(1 << 20)) * 450
        time.sleep(5)
    if what == "fail":
        raise OSError("this shard fails as planned")
    fsync(handle)


if sys.orig_argv[4:5] == ["train-shard"]:
    os.fsync = act
elif "--workflow-profile=slurm" in sys.orig_argv:
    from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

    RemoteExecutor.sleep = wait_a_second
"""


@pytest.fixture(scope="session")
def cluster():
    """Folder of a running cluster."""
    programs = ("slurmctld", "slurmd", "munged", "sbatch", "srun")
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)}: install Debian's slurm-wlm and munge")
    if os.geteuid() != 0:
        pytest.skip("only root can start Slurm")
    if os.path.lexists("/etc/slurm/slurm.conf"):
        pytest.skip("/etc/slurm/slurm.conf is there already: this host belongs to a cluster")
    # munge needs a folder that all users may enter
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    folder.chmod(0o755)
    started = subprocess.run(
        [HERE / "slurm-up", folder], capture_output=True, text=True, timeout=60
    )
    try:
        assert started.returncode == 0, started.stdout + started.stderr
        yield folder
    finally:
        subprocess.run([HERE / "slurm-down", folder], check=True, timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


class ClusterFolder(PipelineFolder):
    """A folder in which Snakemake runs the pipeline on the cluster."""

    def options(self, *arguments) -> list[str]:
        """Options of Snakemake, with the profile of Slurm by its name."""
        return ["--snakefile", str(self.snakefile), "--workflow-profile=slurm", *arguments]

    def log(self) -> str:
        """Read the log of the last run."""
        return max((self.folder / ".snakemake" / "log").iterdir()).read_text()

    def environment(self, **variables) -> dict[str, str]:
        """Environment of a run, with the hook and a folder for local copies."""
        hook = self.folder / "hook"
        scratch = self.folder / "scratch"
        hook.mkdir(exist_ok=True)
        scratch.mkdir(exist_ok=True)
        (hook / "sitecustomize.py").write_text(HOOK)
        ours = {"PYTHONPATH": f"{hook}:{SOURCE_FOLDER}", "OVAFLOW_SCRATCH": str(scratch)}
        return super().environment() | ours | variables

    def set_hook(self, shard, action) -> None:
        """Set the action at the end of a shard such as msi-0: hang, grow or fail."""
        (self.folder / "hook").mkdir(exist_ok=True)
        self.find_hook(shard).write_text(action)

    def find_hook(self, shard) -> Path:
        """Return the path of the action of a shard, which has the name of its training."""
        run, number = shard.split("-")
        return self.folder / "hook" / f"{self.name_training(run)}-{number}"

    def begin(self, *arguments) -> subprocess.Popen:
        """Start Snakemake in a session of its own."""
        command = self.command(*arguments, "--configfile", "my.yaml")
        return self.start(command, start_new_session=True)

    def end(self) -> None:
        """End remaining processes of this folder's jobs, such as jobs of a node that went down."""
        for process in psutil.process_iter():
            # a process that ends meanwhile, or of another user
            with contextlib.suppress(psutil.Error):
                if str(self.folder / "hook") in process.environ().get("PYTHONPATH", "").split(":"):
                    process.kill()

    def wait_until_it_hangs(self, shard, process) -> str:
        """Wait until a shard hangs; return the id of its Slurm job."""
        path = self.find_hook(shard).with_suffix(".hanging")
        deadline = time.monotonic() + 400
        while not path.exists():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline, f"no {path}"
            time.sleep(0.1)
        job = path.read_text()
        path.unlink()
        return job


def make_untrained(finished, folder) -> ClusterFolder:
    """Copy a finished run without shards and models; ``models`` are the bytes of its models."""
    place = ClusterFolder(finished.copy(folder).folder)
    place.models = []
    for model in (MODEL, OTHER_MODEL):
        place.models.append((place.folder / model).read_bytes())
        (place.folder / model).unlink()
    shutil.rmtree(place.result("trainings"))
    return place


@pytest.fixture
def untrained(cluster, finished, tmp_path):
    """A run whose shards and models are missing."""
    place = make_untrained(finished, tmp_path / "place")
    yield place
    place.end()


@pytest.fixture(scope="module")
def struck(cluster, finished, tmp_path_factory):
    """A run whose shards are submitted again for four reasons, while other tests run."""
    place = make_untrained(finished, tmp_path_factory.mktemp("struck") / "place")
    place.set_hook("msi-0", "grow")
    for shard in ("msi-1", "dismec-0", "dismec-1"):
        place.set_hook(shard, "hang")
    # one shard has a minute, and Slurm ends it within two
    training = place.name_training("dismec")
    minutes = f"attempt if wildcards.training == '{training}' and wildcards.shard == '1' else 10"
    resources = f"--set-resources=train_shard:runtime={minutes}"
    process = place.begin(MODEL, OTHER_MODEL, SHARDS_ALONE, resources)
    try:
        slurm("scancel", place.wait_until_it_hangs("msi-1", process))
        restarted = place.wait_until_it_hangs("dismec-0", process)
        # drained, or Slurm sends its job to it again once slurmd registers, and holds the job as
        # the first still runs
        node = f"nodename={squeue(restarted, '%N')}"
        for state in ("drain", "down"):
            slurm("scontrol", "update", f"state={state}", "reason=test", node)
        yield place, process, restarted
    finally:
        process.kill()
        process.communicate()
        place.end()


def list_submitted(place) -> dict[str, str]:
    """List Slurm's job ids of the last run, with the group or the rule of each."""
    pattern = r"SLURM jobid (\d+) \(log: .*?/logs/slurm/(?:group_(start|shards|end)|rule_(\w+))"
    return {job: group or rule for job, group, rule in re.findall(pattern, place.log())}


def slurm(*command) -> str:
    """Run a command of Slurm; return its output."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def squeue(jobs, form) -> str:
    """Show jobs of Slurm in a format, ended ones as well."""
    return slurm("squeue", "--states=all", "--noheader", f"--jobs={jobs}", f"--format={form}")


def list_requests(jobs) -> dict[str, tuple[str, ...]]:
    """List the cores, memory and minutes that Slurm jobs asked for."""
    requests = {}
    for line in squeue(",".join(jobs), "%i %C %m %l").splitlines():
        job, *values = line.split()
        requests[job] = tuple(values)
    return requests


@pytest.mark.usefixtures("struck")
def test_the_whole_run_with_groups(place, finished) -> None:
    place = ClusterFolder(place.folder)
    shutil.copy(finished.folder / "records.csv", place.folder)
    config = {"runs": {"msi": {"initialization": "mean-separating"}}, "train": {"shards": 4}}
    write_config(place.folder / "my.yaml", **config)
    written = place.snakemake()
    jobs = list_submitted(place)
    ungrouped = ["estimate_training", "merge_shards", "prepare_dataset", "warm_up", "write_report"]
    assert sorted(jobs.values()) == sorted(["start", "shards", "end", *ungrouped])
    assert (place.folder / MODEL).read_bytes() == (finished.folder / MODEL).read_bytes()
    # four shards one after the other: the cores and the memory of one, the minutes of all
    requests = list_requests(jobs)
    by_name = {name: requests[job] for job, name in jobs.items()}
    assert by_name["shards"] == ("1", "500M", "8:00")
    # small steps ask for minutes
    assert by_name["end"][2] in ("5:00", "10:00")
    logs = place.folder.glob("logs/tiny/trainings/*/train-shard.*.log")
    assert any("copied to" in log.read_text() for log in logs)
    assert not list((place.folder / "scratch").rglob("*.h5"))
    assert written.splitlines()[-1].startswith("The report is ready: ")


def test_the_failing_shard_of_a_group_is_named_and_its_log_shown(untrained) -> None:
    untrained.set_hook("msi-1", "fail")
    written = untrained.snakemake(MODEL, "--retries=0", SHARDS_IN_PAIRS, status=1)
    [failed] = re.findall(r"FAILED: .*", written)
    training = untrained.name_training("msi")
    shards = f"results/tiny/trainings/{training}/shards"
    assert failed == f"FAILED: train_shard: {shards}/1.h5"
    assert "  SLURM-job '" in written
    assert "  ovaflow: error: input/output: this shard fails as planned" in written
    log = f"logs/tiny/trainings/{training}/train-shard.1.log"
    assert f"  log: {log}" in written
    group = f"group_shards.{training}_train_shard"
    assert re.search(rf"  log: /.*/logs/slurm/{re.escape(group)}/\d+\.log", written)
    assert "fails as planned" in (untrained.folder / log).read_text()
    assert not list(untrained.folder.glob(f"{shards}/?.h5"))


def test_a_job_that_slurm_refuses_is_reported_once(untrained) -> None:
    too_much = "--set-resources=train_shard:mem_mb=100000"
    written = untrained.snakemake(MODEL, "--quiet=host", SHARDS_IN_PAIRS, too_much, status=1)
    assert len(re.findall("FAILED: ", written)) == 1
    reason = (
        "sbatch: error: Batch job submission failed: Requested node configuration is not available"
    )
    assert written.count(reason) == 1
    assert reason in untrained.log()
    assert "the log is empty" not in written


def test_the_reason_of_a_waiting_job_is_shown(untrained) -> None:
    slurm("scontrol", "update", "partitionname=other", "maxtime=1")
    resources = "--set-resources=train_shard:runtime=5"
    process = untrained.begin(MODEL, resources, "--default-resources=slurm_partition=other")
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "in Slurm's queue" in line:
            process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    slurm("scontrol", "update", "partitionname=other", "maxtime=infinite")
    assert "in Slurm's queue: 1 job (PartitionTimeLimit)\n" in lines


def test_the_driver_is_stopped_and_killed_and_the_run_continued(untrained) -> None:
    untrained.set_hook("msi-1", "hang")
    process = untrained.begin(MODEL, SHARDS_IN_PAIRS)
    job = untrained.wait_until_it_hangs("msi-1", process)
    # it waits for the jobs that run
    process.terminate()
    slurm("scancel", job)
    written, _ = process.communicate(timeout=400)
    assert process.returncode == 1, written
    assert not (untrained.folder / MODEL).exists()
    untrained.set_hook("msi-1", "hang")
    process = untrained.begin(MODEL, SHARDS_IN_PAIRS)
    job = untrained.wait_until_it_hangs("msi-1", process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    slurm("scancel", job)
    untrained.snakemake("--unlock", MODEL)
    untrained.snakemake(MODEL, SHARDS_IN_PAIRS)
    assert (untrained.folder / MODEL).read_bytes() == untrained.models[0]
    assert list(list_submitted(untrained).values()) == ["shards", "merge_shards"]
    assert not list(untrained.folder.rglob("*.parts"))


def test_any_scheduler_that_takes_a_script(untrained) -> None:
    submit = "sbatch --parsable --cpus-per-task={threads} --mem={resources.mem_mb}"
    submit += " --time={resources.runtime}"
    generic = PipelineFolder(untrained.folder)
    written = generic.snakemake(
        MODEL,
        "--workflow-profile=cluster-generic",
        f"--cluster-generic-submit-cmd={submit}",
        "--seconds-between-status-checks=1",
        SHARDS_IN_PAIRS,
        "--printshellcmds",
    )
    assert (untrained.folder / MODEL).read_bytes() == untrained.models[0]
    jobs = re.findall(r"external jobid '(\d+)'", written)
    assert sorted(list_requests(jobs).values()) == [("1", "650M", "5:00"), ("2", "1000M", "2:00")]


def test_shards_are_sent_again_with_more_memory_and_time(struck) -> None:
    place, process, restarted = struck
    written, _ = process.communicate(timeout=600)
    assert process.returncode == 0, written
    models = [(place.folder / model).read_bytes() for model in (MODEL, OTHER_MODEL)]
    assert models == place.models
    assert "exceeded memory limit" in written
    assert "TIMEOUT" in written
    shards = [job for job, name in list_submitted(place).items() if name == "shards"]
    requests = [(memory, minutes) for _, memory, minutes in list_requests(shards).values()]
    # too little memory, cancelled, and too little time
    second = [("1000M", "10:00"), ("1000M", "10:00"), ("1000M", "2:00")]
    first = [("500M", "1:00"), ("500M", "10:00"), ("500M", "10:00"), ("500M", "10:00")]
    assert sorted(requests) == sorted(first + second)
    # when a node goes down, Slurm itself starts its jobs anew
    assert "Restarts=1" in slurm("scontrol", "show", "job", restarted)
