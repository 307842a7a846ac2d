"""The logger plugin turns Snakemake's events into lines for people."""

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


class TestInterface(TestLogHandlerBase):
    __test__ = True

    def get_log_handler_cls(self) -> type[LogHandler]:
        return LogHandler

    def get_log_handler_settings(self) -> None:
        return None


def make_record(event=None, message="", level=logging.INFO, **extra) -> logging.LogRecord:
    record = logging.LogRecord("snakemake", level, "x.py", 1, message, (), None)
    record.__dict__.update(extra)
    if event is not None:
        record.event = event
    return record


def make_job(jobid, rule, log=None, outputs=(), local=True) -> logging.LogRecord:
    """Make the event of a job that starts."""
    logs = [] if log is None else [str(log)]
    return make_record(
        LogEvent.JOB_INFO, jobid=jobid, rule_name=rule, output=list(outputs), log=logs, local=local
    )


def make_start(**jobs) -> logging.LogRecord:
    """Make the event of a run that starts, by the number of jobs of each rule."""
    return make_record(LogEvent.RUN_INFO, stats=jobs | {"total": sum(jobs.values())})


def make_end(jobid) -> logging.LogRecord:
    """Make the event of a finished job."""
    return make_record(LogEvent.JOB_FINISHED, job_id=jobid)


def make_error(message, event=None, **extra) -> logging.LogRecord:
    return make_record(event, message, logging.ERROR, **extra)


def make_failure(
    jobid=1, logs=(), output="shards/1.h5", message=None, indent=False
) -> logging.LogRecord:
    """Make the event of a job that failed."""
    return make_error(
        "",
        LogEvent.JOB_ERROR,
        jobid=jobid,
        rule_name="train_shard",
        log=[str(log) for log in logs],
        output=[output],
        rule_msg=message,
        indent=indent,
    )


def make_group_failure(reason, jobs, aux_logs=()) -> list[logging.LogRecord]:
    """Make the events of a group that failed, with those that the plugin adds.

    ``jobs`` has the output and the log of each job, by its id.
    """
    failures = []
    for jobid, (output, log) in jobs.items():
        failures.append(make_failure(jobid, [log], output, indent=True))
    group = make_error(
        "",
        LogEvent.GROUP_ERROR,
        groupid="shards",
        job_error_info=[vars(failure) for failure in failures],
        aux_logs=aux_logs,
    )
    return [make_error(reason, of_group="shards"), group, *failures]


@pytest.fixture
def make_handler(monkeypatch):
    """Function that makes a handler with options of Snakemake, which writes to memory."""

    def make(**options) -> LogHandler:
        output_settings = MockOutputSettings()
        output_settings.printshellcmds = False
        output_settings.nocolor = True
        output_settings.__dict__.update(options)
        monkeypatch.setattr("sys.stderr", io.StringIO())
        return LogHandler(output_settings, None)

    return make


def write_events(handler, *records) -> list[str]:
    """Send events to a handler; return the lines that it writes."""
    for record in records:
        handler.emit(record)
    handler.close()
    return handler._stream.getvalue().splitlines()


def test_a_run_in_a_log(make_handler, tmp_path) -> None:
    log = tmp_path / "prepare.log"
    stages = {1: "prepare_dataset a", 2: "merge_shards a", 3: "all"}
    log.write_text(
        "reading: 5 texts in 0.1 s\nresults/a/dataset.h5: 5 training instances\nremark: odd\n"
    )
    lines = write_events(
        make_handler(),
        make_record(message="Building DAG of jobs..."),
        make_record(message="Nothing unknown is lost."),
        make_start(prepare_dataset=1, merge_shards=1, all=1),
        make_record(stage_names=stages, copies={}),
        make_job(1, "prepare_dataset", log=log, outputs=["results/a/dataset.h5"]),
        make_end(1),
        make_record(message="Select jobs to execute..."),
        make_record(message="a quiet corner", level=logging.WARNING),
        make_record(message="Complete log(s): /x.log"),
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


def test_without_names_a_stage_is_a_rule(make_handler) -> None:
    lines = write_events(
        make_handler(),
        make_start(other_train_shard=1),
        make_job(7, "other_train_shard"),
        make_end(7),
    )
    assert lines[1].split() == ["other_train_shard", "0.0", "s"]
    assert lines[-1] == "Done: 1 of 1 jobs"


@pytest.mark.parametrize("failed", [False, True])
def test_without_lines_of_rules_jobs_are_counted_and_failures_shown(make_handler, failed) -> None:
    handler = make_handler(quiet={Quietness.RULES})
    # Snakemake's filter, which drops events of jobs
    handler.addFilter(DefaultFilter(handler.common_settings.quiet, False, False, False, False))
    last = make_failure(7) if failed else make_end(7)
    for each in (make_start(train_shard=1), make_job(7, "train_shard"), last):
        handler.handle(each)
    handler.close()
    theirs = ["1 job to do", "Done: 1 of 1 jobs"]
    if failed:
        theirs = [
            "1 job to do",
            "FAILED: train_shard: shards/1.h5",
            "Stopped: 0 of 1 jobs; the same command continues",
        ]
    assert handler._stream.getvalue().splitlines() == theirs


def test_the_estimate_follows_the_jobs_logs(tmp_path, monkeypatch) -> None:
    stage = Stage("train_shard a/b", 2)
    logs = [tmp_path / f"{shard}.log" for shard in range(2)]
    for shard, log in enumerate(logs):
        stage.running[shard] = make_job(
            shard, "train_shard", log=log, outputs=[tmp_path / f"{shard}.h5"], local=False
        )
    assert stage.line(15).endswith("  waiting to start")
    output = io.StringIO()
    with Progress("shard 0: a title", 4000, "labels", every=0, stream=output) as progress:
        progress.advance(2000)
    logs[0].write_text(output.getvalue().splitlines()[0])
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
        stage.begin(make_job(number, "estimate_training"))
        now += 10
        stage.finish(number)
        now += 600
    assert stage.line(19).endswith("20 s  2 jobs")


def test_a_log_of_an_earlier_attempt_does_not_count(tmp_path) -> None:
    log = tmp_path / "a.log"
    log.write_text("old\n")
    sent = make_job(1, "merge_shards", log=log, local=False)
    sent.created += 60
    assert "waiting to start" in Stage("merge_shards", 1, running={1: sent}).line(12)


def test_a_running_stage_is_shown_now_and_then(make_handler, monkeypatch) -> None:
    monkeypatch.setattr(plugin, "_LINE_INTERVAL", 0.01)
    handler = make_handler()
    handler.emit(make_start(train_shard=2))
    handler.emit(make_job(1, "train_shard", outputs=["nowhere.h5"]))
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
def test_the_reason_of_a_failed_job_is_shown(make_handler, tmp_path, log, status, expected) -> None:
    path = tmp_path / "a.log"
    path.write_text(log)
    raised = make_error(f"CalledProcessError: Command 'x' {status}", LogEvent.ERROR)
    lines = write_events(make_handler(), raised, make_failure(logs=[path]))
    assert lines[0] == "FAILED: train_shard: shards/1.h5"
    assert lines[1] == f"  the command {status.removesuffix('.')}"
    assert any(line.startswith(expected) for line in lines)
    assert lines[-1] == f"  log: {path}"


def test_the_message_of_an_executor_is_shown_with_the_logs(make_handler, tmp_path) -> None:
    slurm = tmp_path / "12.log"
    slurm.write_text("x\nslurmstepd-node1: error: *** JOB 12 CANCELLED DUE TO TIME LIMIT ***\n")
    lines = write_events(
        make_handler(),
        make_failure(logs=[tmp_path / "job.log", slurm], message="SLURM status is: 'TIMEOUT'."),
    )
    assert lines[1:] == [
        "  SLURM status is: 'TIMEOUT'.",
        "  slurmstepd-node1: error: *** JOB 12 CANCELLED DUE TO TIME LIMIT ***",
        f"  log: {tmp_path / 'job.log'}",
        f"  log: {slurm}",
    ]


def test_a_refused_group_is_one_block(make_handler) -> None:
    reason = (
        "sbatch failed. 'sbatch: error: too many CPUs'.\n    sbatch call:\n"
        '  sbatch --mem {} --wrap="a page"'
    )
    jobs = {k: (f"{k}.h5", f"{k}.log") for k in range(8)}
    attempts = []
    for memory in (100, 200, 300):
        attempts += make_group_failure(reason.format(memory), jobs)
    lines = write_events(make_handler(), make_start(train_shard=8), *attempts)
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
def test_the_failed_job_of_a_group_is_named(make_handler, tmp_path, begun) -> None:
    jobs = {k: (f"{k}.h5", str(tmp_path / f"{k}.log")) for k in range(3)}
    (tmp_path / "1.log").write_text("ovaflow: error: here\n")
    slurm = tmp_path / "12.log"
    slurm.write_text("".join(f"rule train_shard:\n    log: {tmp_path}/{log}\n" for log in begun))
    lines = write_events(make_handler(), *make_group_failure("status: FAILED", jobs, [slurm]))
    assert lines == [
        "FAILED: train_shard: 1.h5",
        "  status: FAILED",
        "  ovaflow: error: here",
        f"  log: {jobs[1][1]}",
        f"  log: {slurm}",
    ]


def test_other_errors_are_shown(make_handler) -> None:
    errors = [
        make_error("MissingInputException in rule x", LogEvent.ERROR),
        make_error("Error: Directory cannot be locked."),
        make_error(
            "WorkflowError:\nAt least one job did not complete successfully.", LogEvent.ERROR
        ),
    ]
    assert write_events(make_handler(), *errors) == [
        "MissingInputException in rule x",
        "Error: Directory cannot be locked.",
    ]


@pytest.mark.parametrize("option", ["dryrun", "verbose", "printshellcmds", "debug_dag"])
def test_snakemakes_own_messages_on_demand(make_handler, option) -> None:
    handler = make_handler(**{option: True})
    assert not handler.writes_to_stream
    assert write_events(handler, make_record(message="Select jobs to execute...")) == []
