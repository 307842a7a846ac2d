"""The logger plugin: Snakemake's events in, lines for a person out."""

import io
import logging

import pytest
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import MockOutputSettings, TestLogHandlerBase

from ovaflow.console.progress import Progress
from snakemake_logger_plugin_ovaflow import LogHandler
from snakemake_logger_plugin_ovaflow.failures import Failures
from snakemake_logger_plugin_ovaflow.job_log import JobLog, progress_of
from snakemake_logger_plugin_ovaflow.stages import TITLES, Stages, title_of


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


def job(jobid, rule, log=None, inputs=(), outputs=(), **wildcards):
    return record(
        LogEvent.JOB_INFO,
        jobid=jobid,
        rule_name=rule,
        wildcards=wildcards,
        input=list(inputs),
        output=list(outputs),
        log=[] if log is None else [str(log)],
    )


def settings(**options):
    given = MockOutputSettings()
    given.printshellcmds, given.nocolor = False, True
    given.__dict__.update(options)
    return given


@pytest.fixture
def handler(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    handler = LogHandler(settings(), None)
    handler.setFormatter(logging.Formatter())
    yield handler
    handler.close()


def written(handler):
    return handler._stream.getvalue().splitlines()


@pytest.fixture
def trained(tmp_path):
    """Two shards of three labels each, one of them twice the work, in stages that know their places."""
    plan = tmp_path / "shards.tsv"
    plan.write_text("shard\tlabel\twork\n0\t0\t1\n0\t1\t1\n0\t2\t1\n1\t3\t2\n1\t4\t2\n1\t5\t2\n# checksum 0\n")
    stages = Stages()
    stages.expect({"train_shard": 2, "all": 1, "total": 3})
    wildcards = [{"dataset": "a", "run": "b", "shard": str(shard)} for shard in range(2)]
    stages.expect_places([("train_shard", each) for each in wildcards] + [("all", {})])
    logs = [tmp_path / f"{shard}.log" for shard in range(2)]
    for jobid, (log, each) in enumerate(zip(logs, wildcards, strict=True)):
        stages.start(job(jobid, "train_shard", log=log, inputs=[plan], **each))
    return stages, logs


def test_lines_of_our_progress_are_understood():
    stream = io.StringIO()
    with Progress("shard 0: a title", 4000, "labels", every=0, stream=stream) as progress:
        progress.advance(1234)
    running, finished = map(progress_of, stream.getvalue().splitlines())
    assert (running.title, running.done, running.total, running.unit) == ("shard 0: a title", 1234, 4000, "labels")
    assert (finished.done, finished.total, finished.share) == (1234, 0, 0)
    assert progress_of("results/a/model.h5: 5,922 labels, 4,913,140 weights, 39.9 MB").total == 0
    assert progress_of("ovaflow: error: no labels") is None


def test_the_estimate_follows_the_work_of_the_plan(trained):
    stages, logs = trained
    (stage,) = stages.running()
    assert stage.detail() == "0/2 shards"
    logs[0].write_text("shard 0: 1 of 3 labels (33 %), 5 s left\n")
    stage.started -= 90
    # a third of a third of the work took 90 s: eight ninths are left
    assert stage.detail() == "0/2 shards, 1 of 6 labels, about 12 min 00 s left"
    logs[0].write_text("shard 0: 1 of 3 labels (33 %), 5 s left\nshard 0: 3 labels in 9 s\n")
    stages.finish(0)
    assert stage.detail() == "1/2 shards, 3 of 6 labels, about 3 min 00 s left"
    stages.finish(1)
    assert stage.done
    assert stage.detail() == "2/2 shards, 6 labels"
    assert stages.counts == (2, 2)


def test_without_places_a_stage_is_a_rule():
    stages = Stages()
    stages.expect({"other_train_shard": 4, "count_words": 1, "total": 5})
    stages.start(job(7, "other_train_shard", dataset="a", run="b", shard="3"))
    (stage,) = stages.running()
    assert (stage.title, stage.place, stage.detail()) == ("train", "", "0/4 jobs")
    assert title_of("count_words") == "count words"
    stages.finish(7)
    assert stages.counts == (1, 5)


def test_every_rule_has_a_title(request):
    rules = request.config.rootpath / "workflow" / "rules"
    text = "".join(path.read_text() for path in rules.glob("*.smk"))
    names = {
        line.split()[-1 if line.startswith("rule") else -2].rstrip(":")
        for line in text.splitlines()
        if line.startswith(("rule ", "use rule "))
    }
    assert names == set(TITLES)


def test_a_run_in_a_log(handler, tmp_path):
    log = tmp_path / "prepare.log"
    handler.emit(record(message="Building DAG of jobs..."))
    handler.emit(record(message="Nothing unknown is lost."))
    handler.emit(record(LogEvent.RUN_INFO, stats={"prepare_dataset": 1, "merge_shards": 1, "all": 1, "total": 3}))
    handler.emit(record(jobs_by_place=[("prepare_dataset", {"dataset": "a"}), ("merge_shards", {"dataset": "a"})]))
    handler.emit(job(1, "prepare_dataset", log=log, outputs=["results/a/dataset.h5"], dataset="a"))
    log.write_text(
        "reading texts: 5 texts in 0.1 s\nresults/a/dataset.h5: 5 training and 2 test instances\nremark: odd\n"
    )
    handler.emit(record(LogEvent.JOB_FINISHED, job_id=1))
    handler.emit(record(message="Select jobs to execute..."))
    handler.emit(record(message="a quiet corner", level=logging.WARNING))
    handler.close()
    assert written(handler) == [
        "Nothing unknown is lost.",
        "2 jobs to do",
        "prepare      a         0.0 s  5 training and 2 test instances",
        "             remark: odd",
        "a quiet corner",
        "Stopped: 1 of 2 jobs are done, in 0.0 s",
    ]


@pytest.mark.parametrize(
    ("log", "status", "expected"),
    [
        (
            "reading\novaflow: error: x.csv, line 3: no label; add one\n",
            "returned non-zero exit status 2.",
            ["  ovaflow: error: x.csv, line 3: no label; add one", "mend this"],
        ),
        ("Traceback:\nKeyError: 3\n", "returned non-zero exit status 1.", ["  KeyError: 3", "read the log"]),
        ("half way\n", "died with <Signals.SIGKILL: 9>.", ["  half way", "killed, often for want of memory"]),
        ("", "returned non-zero exit status 137.", ["  the log is empty", "killed, often for want of memory"]),
    ],
)
def test_a_failed_job_says_why_and_what_to_do(handler, tmp_path, log, status, expected):
    path = tmp_path / "a.log"
    path.write_text(log)
    handler.emit(record(LogEvent.RUN_INFO, stats={"train_shard": 1, "total": 1}))
    handler.emit(job(1, "train_shard", log=path, dataset="a", run="b", shard="0"))
    handler.emit(record(LogEvent.ERROR, f"CalledProcessError: Command 'x' {status}", level=logging.ERROR))
    failure = {"jobid": 1, "rule_name": "train_shard", "log": [str(path)], "rule_msg": None}
    handler.emit(record(LogEvent.JOB_ERROR, level=logging.ERROR, **failure))
    lines = written(handler)
    assert lines[1] == "FAILED: train, shard 0"
    assert expected[0] in lines
    assert expected[1] in lines[-1]
    assert lines[-1].startswith("  next: ")
    assert f"  log: {path}" in lines


def test_other_errors_are_shown(handler):
    handler.emit(record(LogEvent.ERROR, "MissingInputException in rule x", level=logging.ERROR))
    handler.emit(record(message="Error: Directory cannot be locked.", level=logging.ERROR))
    assert written(handler) == ["MissingInputException in rule x", "Error: Directory cannot be locked."]


def test_failures_without_logs_when_they_are_not_wanted(tmp_path):
    (tmp_path / "a.log").write_text("secret\n")
    failure = record(LogEvent.JOB_ERROR, rule_name="x", log=[str(tmp_path / "a.log")])
    assert "secret" not in Failures(show_logs=False).describe(failure, None)
    assert "secret" in Failures(show_logs=True).describe(failure, None)


def test_a_log_is_read_from_its_end(tmp_path):
    path = tmp_path / "long.log"
    path.write_text("x" * 100_000 + "\nlast line\n\n")
    log = JobLog(path)
    assert log.read()[-1] == log.last() == "last line"
    path.unlink()
    assert log.read() == []
    assert JobLog(None).read() == []


@pytest.mark.parametrize("option", ["dryrun", "verbose", "printshellcmds", "debug_dag"])
def test_snakemakes_own_messages_on_demand(monkeypatch, option):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    handler = LogHandler(settings(**{option: True}), None)
    handler.emit(record(message="Building DAG of jobs..."))
    assert stream.getvalue() == "Building DAG of jobs...\n"


def test_quiet_progress_leaves_failures(monkeypatch):
    from snakemake.settings.enums import Quietness

    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    handler = LogHandler(settings(quiet={Quietness.PROGRESS}), None)
    handler.emit(record(LogEvent.RUN_INFO, stats={"train_shard": 1, "total": 1}))
    handler.emit(job(1, "train_shard"))
    handler.emit(record(LogEvent.JOB_ERROR, jobid=1, rule_name="train_shard", log=[]))
    handler.close()
    assert stream.getvalue().splitlines()[0] == "FAILED: train"
