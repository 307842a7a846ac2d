"""The pipeline on a real Slurm cluster of four nodes on this host, started by slurm-up."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from pipeline_place import SOURCE, Place
from tiny_table import write_config

pytestmark = [pytest.mark.workflow, pytest.mark.cluster, pytest.mark.timeout(900)]

HERE = Path(__file__).parent
TESTS = HERE.parent
MODEL = "results/tiny/msi/model.h5"

# what a shard does when it has written its file and not yet renamed it, if there is a file shard-K beside this one
HOOK = """
import os, sys, time
from pathlib import Path

fsync = os.fsync


def act(handle):
    shard = [option.removeprefix("--shard=") for option in sys.argv if option.startswith("--shard=")]
    trick = Path(__file__).with_name(f"shard-{shard[0] if shard else None}")
    what = trick.read_text() if sys.argv[1:2] == ["train-shard"] and trick.exists() else ""
    if what == "hang":
        trick.unlink()
        told = trick.with_suffix(".partial")
        told.write_text(os.environ["SLURM_JOB_ID"])
        told.rename(trick.with_suffix(".hanging"))
        time.sleep(600)
    if what == "grow":
        held = bytearray(os.urandom(1 << 20)) * 450
        time.sleep(5)
    if what == "fail":
        raise OSError(f"shard {shard[0]} fails as it was told")
    fsync(handle)


os.fsync = act
"""


@pytest.fixture(scope="session")
def cluster():
    """A cluster; its folder."""
    missing = [name for name in ("slurmctld", "slurmd", "munged", "sbatch", "srun") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)}: install Debian's slurm-wlm and munge")
    if os.geteuid() != 0:
        pytest.skip("only root can start Slurm")
    if os.path.lexists("/etc/slurm/slurm.conf"):
        pytest.skip("/etc/slurm/slurm.conf is there already: this host belongs to a cluster")
    # munge asks for a folder that everybody may enter
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    folder.chmod(0o755)
    started = subprocess.run([HERE / "slurm-up", folder], capture_output=True, text=True, timeout=60)
    try:
        assert started.returncode == 0, started.stdout + started.stderr
        yield folder
    finally:
        subprocess.run([HERE / "slurm-down", folder], check=True, timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


class ClusterPlace(Place):
    """A folder in which Snakemake runs the pipeline on the cluster."""

    def command(self, *arguments):
        """Command line, with the profile as it is, and by its name."""
        command = [part for part in super().command() if part not in ("--cores", "2")]
        return [*command, "--workflow-profile=slurm", "--slurm-init-seconds-before-status-checks=1", *arguments]

    def log(self):
        """What Snakemake wrote to its own log file in the last run."""
        return max((self.folder / ".snakemake" / "log").iterdir()).read_text()

    def environment(self, **variables):
        """As on one machine, with the hook and a folder for local copies."""
        hook = self.folder / "hook"
        hook.mkdir(exist_ok=True)
        (hook / "sitecustomize.py").write_text(HOOK)
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        own = {"PYTHONPATH": f"{hook}:{SOURCE}", "OVAFLOW_SCRATCH": str(scratch)}
        return super().environment() | own | variables

    def tell(self, shard, what):
        """Tell a shard what to do at its end."""
        (self.folder / "hook").mkdir(exist_ok=True)
        (self.folder / "hook" / f"shard-{shard}").write_text(what)


def make_untrained(finished, folder):
    """A place where all is done but one run's two shards and what follows; the model that they should give."""
    place = ClusterPlace(finished.copy(folder).folder)
    model = (place.folder / MODEL).read_bytes()
    (place.folder / MODEL).unlink()
    shutil.rmtree(place.folder / "results/tiny/msi/shards")
    return place, model


@pytest.fixture
def untrained(cluster, finished, tmp_path):
    return make_untrained(finished, tmp_path / "place")


@pytest.fixture(scope="module")
def over_its_time(cluster, finished, tmp_path_factory):
    """A run one of whose shards takes longer than its minute, begun early, since Slurm ends it within two."""
    place, model = make_untrained(finished, tmp_path_factory.mktemp("over") / "place")
    place.tell(1, "hang")
    process = start(place, "--group-components", "shards.{run}=1", "--set-resources", "train_shard:runtime=attempt")
    yield place, model, process
    process.kill()


def submitted(place):
    """Slurm's job ids of the last run, with the group or the rule of each."""
    of_log = r"SLURM jobid (\d+) \(log: .*?/logs/slurm/(?:group_(start|shards|end)|rule_(\w+))"
    return {job: group or rule for job, group, rule in re.findall(of_log, place.log())}


def squeue(jobs, form):
    """What Slurm says of jobs, ended ones as well."""
    command = ["squeue", "--states=all", "--noheader", f"--jobs={jobs}", f"--format={form}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def asked(jobs):
    """Cores, megabytes and minutes that Slurm jobs asked for."""
    lines = squeue(",".join(jobs), "%i %C %m %l").splitlines()
    return {job: tuple(values) for job, *values in map(str.split, lines)}


def wait_for(path, process):
    deadline = time.monotonic() + 400
    while not path.exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, f"no {path}"
        time.sleep(0.1)


def start(place, *arguments):
    """Snakemake in the background."""
    arguments = place.command(MODEL, "--configfile", "my.yaml", *arguments)[3:]
    return subprocess.Popen(
        [sys.executable, "-P", TESTS / "snakemake_server.py", *arguments],
        cwd=place.folder,
        env=place.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def hanging(place, shard, process):
    """Slurm's job of a shard that hangs: its process says which."""
    told = place.folder / "hook" / f"shard-{shard}.hanging"
    wait_for(told, process)
    return told.read_text()


@pytest.mark.usefixtures("over_its_time")
def test_the_whole_run_with_groups(cluster, place, finished):
    place = ClusterPlace(place.folder)
    write_config(place.folder / "my.yaml", runs={"msi": {"initialization": "mean-separating"}}, train={"shards": 4})
    written = place.snakemake()
    jobs = submitted(place)
    alone = ["estimate_training", "merge_shards", "prepare_dataset", "warm_up", "write_report"]
    assert sorted(jobs.values()) == sorted(["start", "shards", "end", "end", *alone])
    assert (place.folder / MODEL).read_bytes() == (finished.folder / MODEL).read_bytes()
    # four shards one after the other: the cores and the memory of one, the minutes of all
    requests = asked(jobs)
    (shards,) = [requests[job] for job, name in jobs.items() if name == "shards"]
    assert shards == ("1", "500M", "8:00")
    # small steps ask for minutes
    assert {minutes for job, (_, _, minutes) in requests.items() if jobs[job] == "end"} <= {"5:00", "10:00"}
    logs = [(place.folder / f"logs/tiny/msi/train-shard.{shard}.log").read_text() for shard in range(4)]
    assert sum("copied to" in log for log in logs) >= 1
    assert not list((place.folder / "scratch").rglob("*.h5"))
    assert written.splitlines()[-1].startswith("The report is ready: ")


def test_a_cancelled_shard_is_sent_again_and_one_without_memory_asks_for_more(untrained):
    place, model = untrained
    place.tell(0, "grow")
    place.tell(1, "hang")
    process = start(place, "--group-components", "shards.{run}=1")
    subprocess.run(["scancel", hanging(place, 1, process)], check=True)
    written, _ = process.communicate(timeout=600)
    assert process.returncode == 0, written
    assert (place.folder / MODEL).read_bytes() == model
    assert "exceeded memory limit" in written
    shards = [job for job, name in submitted(place).items() if name == "shards"]
    assert sorted(memory for _, memory, _ in asked(shards).values()) == ["1000M", "1000M", "500M", "500M"]


def test_of_a_group_the_failing_shard_is_named_and_its_log_shown(untrained):
    place, model = untrained
    place.tell(1, "fail")
    written = place.snakemake(MODEL, "--retries=0", "--group-components", "shards.{run}=2", status=1)
    (failed,) = re.findall(r"FAILED: .*", written)
    assert failed == "FAILED: train_shard: results/tiny/msi/shards/1.h5"
    assert "  SLURM-job '" in written
    assert "  ovaflow: error: input/output: shard 1 fails as it was told" in written
    assert "  log: logs/tiny/msi/train-shard.1.log" in written
    assert re.search(r"  log: /.*/logs/slurm/group_shards\.msi_train_shard/\d+\.log", written)
    assert "fails as it was told" in (place.folder / "logs/tiny/msi/train-shard.1.log").read_text()
    assert not list(place.folder.glob("results/tiny/msi/shards/?.h5"))
    (place.folder / "hook" / "shard-1").unlink()
    place.snakemake(MODEL, "--group-components", "shards.{run}=2")
    assert (place.folder / MODEL).read_bytes() == model


REFUSALS = {
    "more cores than a node has": (
        ["--cores=8", "--set-resources", "train_shard:in_turn=0", "--config", "train={shards: 8}"],
        {},
        "Requested node configuration is not available",
    ),
    "no such partition": (
        ["--group-components", "shards.{run}=1", "start=1"],
        {"SBATCH_PARTITION": "nowhere"},
        "Invalid partition name specified",
    ),
}


@pytest.mark.parametrize(("options", "variables", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_a_job_that_slurm_refuses_is_told_once(untrained, options, variables, reason):
    place, _ = untrained
    written = place.snakemake(MODEL, "--quiet", "host", *options, status=1, **variables)
    assert len(re.findall("FAILED: ", written)) == 1
    assert written.count(f"sbatch: error: Batch job submission failed: {reason}") == 1
    assert f"sbatch: error: Batch job submission failed: {reason}" in place.log()
    assert "the log is empty" not in written


def test_why_a_job_waits_is_told(untrained, cluster):
    place, _ = untrained
    subprocess.run(["scontrol", "update", "partitionname=other", "maxtime=1"], check=True)
    process = start(place, "--set-resources", "train_shard:runtime=5", "--default-resources", "slurm_partition=other")
    told = []
    for line in process.stdout:
        told.append(line)
        if "in Slurm's queue" in line:
            process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    subprocess.run(["scontrol", "update", "partitionname=other", "maxtime=infinite"], check=True)
    assert "in Slurm's queue: 1 job (PartitionTimeLimit)\n" in told


def test_the_driver_killed_and_the_run_continued(untrained):
    place, model = untrained
    place.tell(1, "hang")
    process = start(place, "--group-components", "shards.{run}=2")
    job = hanging(place, 1, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    subprocess.run(["scancel", job], check=True)
    place.snakemake("--unlock", MODEL)
    place.snakemake(MODEL, "--group-components", "shards.{run}=2")
    assert (place.folder / MODEL).read_bytes() == model
    assert list(submitted(place).values()) == ["shards", "merge_shards"]
    assert not list(place.folder.rglob("*.parts"))


def test_the_driver_stopped_by_sigterm_and_the_run_continued(untrained):
    place, model = untrained
    place.tell(1, "hang")
    process = start(place, "--group-components", "shards.{run}=1")
    job = hanging(place, 1, process)
    process.terminate()
    subprocess.run(["scancel", job], check=True)
    written, _ = process.communicate(timeout=400)
    assert process.returncode == 1, written
    assert not (place.folder / MODEL).exists()
    place.snakemake(MODEL)
    assert (place.folder / MODEL).read_bytes() == model
    assert sorted(submitted(place).values()) == ["merge_shards", "shards"]


def test_shards_of_a_node_that_goes_down_are_started_anew(untrained):
    place, model = untrained
    place.tell(1, "hang")
    process = start(place, "--group-components", "shards.{run}=1")
    job = hanging(place, 1, process)
    node = squeue(job, "%N")
    # it comes back when its slurmd registers again
    subprocess.run(["scontrol", "update", f"nodename={node}", "state=down", "reason=test"], check=True)
    written, _ = process.communicate(timeout=600)
    assert process.returncode == 0, written
    told = subprocess.run(["scontrol", "show", "job", job], capture_output=True, text=True, check=True).stdout
    assert "Restarts=1" in told
    assert (place.folder / MODEL).read_bytes() == model


def test_a_shard_over_its_time_asks_for_more(over_its_time):
    place, model, process = over_its_time
    written, _ = process.communicate(timeout=600)
    assert process.returncode == 0, written
    assert "TIMEOUT" in written
    assert (place.folder / MODEL).read_bytes() == model
    shards = [job for job, name in submitted(place).items() if name == "shards"]
    assert sorted(minutes for _, _, minutes in asked(shards).values()) == ["1:00", "1:00", "2:00"]


def test_any_scheduler_that_takes_a_script(untrained):
    place, model = untrained
    submit = "sbatch --parsable --cpus-per-task={threads} --mem={resources.mem_mb} --time={resources.runtime}"
    options = [f"--cluster-generic-submit-cmd={submit}", "--group-components", "shards.{run}=2"]
    generic = Place(place.folder)
    written = generic.snakemake(MODEL, "--workflow-profile=cluster-generic", "--printshellcmds", *options)
    assert (place.folder / MODEL).read_bytes() == model
    sent = re.findall(r"external jobid '(\d+)'", written)
    assert sorted(asked(sent).values()) == [("1", "650M", "5:00"), ("2", "1000M", "2:00")]
