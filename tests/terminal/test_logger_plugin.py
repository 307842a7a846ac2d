"""The logger plugin: Snakemake's events in, lines for a person out."""

import io
import logging
import re
import time

import pytest
from snakemake.logging import DefaultFilter
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import MockOutputSettings, TestLogHandlerBase

import snakemake_logger_plugin_ovaflow as plugin
from ovaflow.console.progress import Progress
from snakemake_logger_plugin_ovaflow import LogHandler
from snakemake_logger_plugin_ovaflow.stages import Stage


class TestAsSnakemakeAsks(TestLogHandlerBase):
    __test__ = True

    def get_log_handler_cls(self):
        return LogHandler

    def get_log_handler_settings(self):
        return None


def record(event=None, message="", level=logging.INFO, **extra):
    made = logging.LogRecord("snakemake", level, "x.py", 1, message, (), None)
    made.__dict__.update(extra, **({} if event is None else {"event": event}))
    return made


def job(jobid, rule, log=None, outputs=(), local=True):
    logs = [] if log is None else [str(log)]
    return record(
        LogEvent.JOB_INFO, jobid=jobid, rule_name=rule, output=list(outputs), log=logs, local=local
    )


def begin(**jobs):
    """A run of so many jobs of each rule."""
    return record(LogEvent.RUN_INFO, stats=jobs | {"total": sum(jobs.values())})


def end(jobid):
    return record(LogEvent.JOB_FINISHED, job_id=jobid)


def error(message, event=None, **extra):
    return record(event, message, logging.ERROR, **extra)


def failure(jobid=1, logs=(), output="shards/1.h5", message=None, indent=False):
    details = {
        "jobid": jobid,
        "rule_name": "train_shard",
        "log": list(map(str, logs)),
        "output": [output],
    }
    return error("", LogEvent.JOB_ERROR, rule_msg=message, indent=indent, **details)


def group_failure(reason, jobs, aux_logs=()):
    """What Snakemake's loggers get of a group that failed, with what the plugin adds."""
    failures = [failure(k, [log], made, indent=True) for k, (made, log) in jobs.items()]
    details = {
        "groupid": "shards",
        "job_error_info": list(map(vars, failures)),
        "aux_logs": aux_logs,
    }
    return [error(reason, of_group="shards"), error("", LogEvent.GROUP_ERROR, **details), *failures]


@pytest.fixture
def make(monkeypatch):
    def made(**options):
        given = MockOutputSettings()
        given.printshellcmds = False
        given.nocolor = True
        given.__dict__.update(options)
        monkeypatch.setattr("sys.stderr", io.StringIO())
        return LogHandler(given, None)

    return made


def written(handler, *records):
    for each in records:
        handler.emit(each)
    handler.close()
    return handler._stream.getvalue().splitlines()


def test_a_run_in_a_log(make, tmp_path) -> None:
    log = tmp_path / "prepare.log"
    stages = {1: "prepare_dataset a", 2: "merge_shards a", 3: "all"}
    log.write_text(
        "reading: 5 texts in 0.1 s\nresults/a/dataset.h5: 5 training instances\nremark: odd\n"
    )
    lines = written(
        make(),
        record(message="Building DAG of jobs..."),
        record(message="Nothing unknown is lost."),
        begin(prepare_dataset=1, merge_shards=1, all=1),
        record(stage_names=stages, copies={}),
        job(1, "prepare_dataset", log=log, outputs=["results/a/dataset.h5"]),
        end(1),
        record(message="Select jobs to execute..."),
        record(message="a quiet corner", level=logging.WARNING),
        record(message="Complete log(s): /x.log"),
    )
    assert [re.sub(" +", " ", line) for line in lines] == [
        "Nothing unknown is lost.",
        "2 jobs to do",
        "prepare_dataset a 0.0 s 5 training instances",
        " remark: odd",
        "a quiet corner",
        "Complete log(s): /x.log",
        "Stopped: 1 of 2 jobs; the same command continues",
    ]


def test_without_names_a_stage_is_a_rule(make) -> None:
    lines = written(make(), begin(other_train_shard=1), job(7, "other_train_shard"), end(7))
    assert lines[1].split() == ["other_train_shard", "0.0", "s"]
    assert lines[-1] == "Done: 1 of 1 jobs"


@pytest.mark.parametrize("failed", [False, True])
def test_without_lines_about_rules_jobs_are_counted_and_failures_told(make, failed) -> None:
    handler = make(quiet={Quietness.RULES})
    # as Snakemake does, which drops events of jobs by it
    handler.addFilter(DefaultFilter(handler.common_settings.quiet, False, False, False, False))
    for each in (begin(train_shard=1), job(7, "train_shard"), failure(7) if failed else end(7)):
        handler.handle(each)
    handler.close()
    middle = ["FAILED: train_shard: shards/1.h5"] if failed else []
    last = "Stopped: 0 of 1 jobs; the same command continues" if failed else "Done: 1 of 1 jobs"
    assert handler._stream.getvalue().splitlines() == ["1 job to do", *middle, last]


def test_the_estimate_follows_the_jobs_logs(tmp_path, monkeypatch) -> None:
    stage = Stage("train_shard a/b", 2)
    logs = [tmp_path / f"{shard}.log" for shard in range(2)]
    for shard, log in enumerate(logs):
        stage.running[shard] = job(
            shard, "train_shard", log=log, outputs=[tmp_path / f"{shard}.h5"], local=False
        )
    assert stage.line(15).endswith("  waiting to start")
    said = io.StringIO()
    with Progress("shard 0: a title", 4000, "labels", every=0, stream=said) as progress:
        progress.advance(2000)
    logs[0].write_text(said.getvalue().splitlines()[0])
    assert "0/2 jobs" in stage.line(15)
    now = stage.began
    monkeypatch.setattr("time.time", lambda: now + 30)
    # a half of a half took 30 s
    assert stage.line(15).endswith("30 s  0/2 jobs, about 1 min 30 s left")
    (tmp_path / "0.h5").touch()
    monkeypatch.setattr("time.time", lambda: now + 3600)
    assert stage.line(15).endswith("1 h 00 min  1/2 jobs, waiting")
    logs[1].touch()
    # the queue took an hour, and a half of the work 30 s
    assert stage.line(15).endswith("1 h 00 min  1/2 jobs, about 30 s left")
    monkeypatch.setattr("time.time", lambda: now + 30)
    stage.finish(0)
    stage.finish(1)
    assert stage.line(15).endswith("30 s  2 jobs")


def test_a_finished_stage_took_the_time_in_which_its_jobs_ran(monkeypatch) -> None:
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now)
    stage = Stage("estimate_training a", 2)
    for number in range(2):
        stage.begin(job(number, "estimate_training"))
        now += 10
        stage.finish(number)
        now += 600
    assert stage.line(19).endswith("20 s  2 jobs")


def test_a_log_of_an_earlier_attempt_does_not_count(tmp_path) -> None:
    log = tmp_path / "a.log"
    log.write_text("old\n")
    sent = job(1, "merge_shards", log=log, local=False)
    sent.created += 60
    assert "waiting to start" in Stage("merge_shards", 1, running={1: sent}).line(12)


def test_a_running_stage_is_shown_now_and_then(make, monkeypatch) -> None:
    monkeypatch.setattr(plugin, "_LINE_INTERVAL", 0.01)
    handler = make()
    handler.emit(begin(train_shard=2))
    handler.emit(job(1, "train_shard", outputs=["nowhere.h5"]))
    deadline = time.monotonic() + 60
    while "0/2 jobs" not in handler._stream.getvalue():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    handler.close()


@pytest.mark.parametrize(
    ("log", "status", "expected"),
    [
        (
            "reading\novaflow: error: x.csv, line 3: no label\n",
            "returned non-zero exit status 2.",
            "  ovaflow: error: ",
        ),
        ("Traceback:\nKeyError: 3\n", "returned non-zero exit status 1.", "  KeyError: 3"),
        ("", "died with <Signals.SIGKILL: 9>.", "  the command died with <Signals.SIGKILL: 9>"),
    ],
)
def test_a_failed_job_says_why(make, tmp_path, log, status, expected) -> None:
    path = tmp_path / "a.log"
    path.write_text(log)
    raised = error(f"CalledProcessError: Command 'x' {status}", LogEvent.ERROR)
    lines = written(make(), raised, failure(logs=[path]))
    assert lines[0] == "FAILED: train_shard: shards/1.h5"
    assert lines[1] == f"  the command {status.removesuffix('.')}"
    assert any(line.startswith(expected) for line in lines)
    assert lines[-1] == f"  log: {path}"


def test_what_an_executor_says_of_a_job_is_shown_with_its_log(make, tmp_path) -> None:
    slurm = tmp_path / "12.log"
    slurm.write_text("x\nslurmstepd-node1: error: *** JOB 12 CANCELLED DUE TO TIME LIMIT ***\n")
    lines = written(
        make(), failure(logs=[tmp_path / "job.log", slurm], message="SLURM status is: 'TIMEOUT'.")
    )
    assert lines[1:] == [
        "  SLURM status is: 'TIMEOUT'.",
        "  slurmstepd-node1: error: *** JOB 12 CANCELLED DUE TO TIME LIMIT ***",
        f"  log: {tmp_path / 'job.log'}",
        f"  log: {slurm}",
    ]


def test_a_refused_group_is_one_block(make) -> None:
    reason = "sbatch failed. 'sbatch: error: too many CPUs'.\n    sbatch call:\n  sbatch --mem {} --wrap=\"a page\""
    jobs = {k: (f"{k}.h5", f"{k}.log") for k in range(8)}
    attempts = [each for mem in (100, 200, 300) for each in group_failure(reason.format(mem), jobs)]
    lines = written(make(), begin(train_shard=8), *attempts)
    assert lines[1:] == [
        "FAILED: train_shard: 0.h5 and 7 more",
        "  sbatch failed. 'sbatch: error: too many CPUs'.",
        "  sbatch call:",
        "  sbatch --mem 100 --wrap=...",
        "2 more failures had the same reasons",
        "Stopped: 0 of 8 jobs; the same command continues",
    ]


@pytest.mark.parametrize(
    "begun", [("0.log", "1.log"), ("1.log (check log file(s) for error details)", "0.log")]
)
def test_of_a_group_the_job_that_failed_is_named(make, tmp_path, begun) -> None:
    jobs = {k: (f"{k}.h5", str(tmp_path / f"{k}.log")) for k in range(3)}
    (tmp_path / "1.log").write_text("ovaflow: error: here\n")
    slurm = tmp_path / "12.log"
    slurm.write_text("".join(f"rule train_shard:\n    log: {tmp_path}/{log}\n" for log in begun))
    lines = written(make(), *group_failure("status: FAILED", jobs, [slurm]))
    assert lines == [
        "FAILED: train_shard: 1.h5",
        "  status: FAILED",
        "  ovaflow: error: here",
        f"  log: {jobs[1][1]}",
        f"  log: {slurm}",
    ]


def test_other_errors_are_shown(make) -> None:
    errors = [
        error("MissingInputException in rule x", LogEvent.ERROR),
        error("Error: Directory cannot be locked."),
        error("WorkflowError:\nAt least one job did not complete successfully.", LogEvent.ERROR),
    ]
    assert written(make(), *errors) == [
        "MissingInputException in rule x",
        "Error: Directory cannot be locked.",
    ]


@pytest.mark.parametrize("option", ["dryrun", "verbose", "printshellcmds", "debug_dag"])
def test_snakemakes_own_messages_on_demand(make, option) -> None:
    handler = make(**{option: True})
    assert not handler.writes_to_stream
    assert written(handler, record(message="Select jobs to execute...")) == []
