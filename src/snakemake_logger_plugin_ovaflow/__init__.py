"""Logger plugin of Snakemake, which the profiles switch on: one line per stage, and why jobs fail."""

import contextlib
import logging
import subprocess
import sys
import threading
import time
from collections import Counter

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from ovaflow.workflow import end_with, interrupted, owner
from snakemake_logger_plugin_ovaflow.failures import Failures, log_reasons_of_groups
from snakemake_logger_plugin_ovaflow.stages import Stage

_EVERY = 30.0  # seconds between two lines of a running stage
_RUN_ID = "SLURM run ID: "  # the name of all jobs of a run
_ABOUT_JOBS = (LogEvent.JOB_INFO, LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR)
# on macOS Snakemake cannot measure the memory of jobs, and says so for each
_NO_NEWS = (
    "Assuming",
    "Benchmark: unable",
    "Building DAG",
    "Conda env",
    "Exiting because",
    "Group jobs",
    "Provided",
    "Using",
)


class LogHandler(LogHandlerBase):
    """Snakemake's events as lines for a person."""

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        settings = self.common_settings
        options = settings.dryrun, settings.verbose, settings.printshellcmds, settings.debug_dag
        # where this is False, Snakemake shows its own messages
        self.writes_to_stream = not any(options)
        self._stream = sys.stdout if settings.stdout else sys.stderr
        self._quiet = {each.name for each in settings.quiet or ()}
        self._names = {}
        self._stages = {}
        self._of_job = {}
        self._jobs = 0
        self._failures = Failures()
        self._ended = threading.Event()
        self._slurm_name = None
        log_reasons_of_groups()
        threading.Thread(target=self._tick, daemon=True).start()

    def filter(self, record):
        """Let events of jobs pass, by which they are counted; --quiet rules would drop them."""
        if getattr(record, "event", None) in _ABOUT_JOBS and "ALL" not in self._quiet:
            return True
        return super().filter(record)

    def emit(self, record) -> None:
        """Show an event, or its effect on the stages."""
        handle = getattr(self, f"_on_{getattr(record, 'event', None) or 'message'}", None)
        try:
            if handle is not None and self.writes_to_stream:
                handle(record)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Say how the run ended."""
        if self._jobs and not self._ended.is_set():
            done = sum(stage.finished for stage in self._stages.values())
            repeated = self._failures.causes.total() - len(self._failures.causes)
            if repeated:
                self._print(f"{repeated:,} more failures had the same reasons")
            end = "Done"
            hint = ""
            if done < self._jobs:
                end = "Interrupted" if interrupted() else "Stopped"
                hint = "; the same command continues"
            if end == "Stopped" and self._failures.are_mistakes:
                hint = ". Correct the errors above; finished jobs are kept"
                end_with(2)
            self._print(f"{end}: {done:,} of {self._jobs:,} jobs{hint}")
        self._ended.set()
        super().close()

    def _on_run_info(self, record) -> None:
        self._expect({rule: jobs for rule, jobs in record.stats.items() if rule != "total"})
        self._print(f"{self._jobs:,} job{'s' * (self._jobs > 1)} to do")

    def _expect(self, jobs) -> None:
        self._stages = {name: Stage(name, number) for name, number in jobs.items() if name != "all"}
        self._jobs = sum(stage.jobs for stage in self._stages.values())

    def _on_job_info(self, record) -> None:
        # a workflow that uses this one as a module does not send the names
        stage = self._stages.get(self._names.get(record.jobid, record.rule_name))
        if stage is not None:
            self._of_job[record.jobid] = stage
            vars(record).update(self._failures.copies.get(record.jobid, {}))
            stage.begin(record)

    def _on_job_finished(self, record) -> None:
        stage = self._of_job.pop(record.job_id, None)
        if stage is not None:
            stage.finish(record.job_id)
            if stage.finished == stage.jobs:
                self._show(stage)

    def _on_job_error(self, record) -> None:
        if record.jobid in self._of_job:
            self._of_job.pop(record.jobid).end(record.jobid)
        # jobs of a group are reported with their group, and a job that a signal ended has not
        # failed
        if not record.indent and not interrupted():
            self._print(self._failures.of_job(record))

    def _on_group_error(self, record) -> None:
        if not interrupted():
            self._print(self._failures.of_group(record))

    def _on_error(self, record) -> None:
        if not self._failures.explains(record.getMessage()):
            self._print(_about_lock(record.getMessage()))

    def _on_message(self, record) -> None:
        text = str(record.msg or "").strip()
        if hasattr(record, "of_group"):
            self._failures.reasons[record.of_group].append(text)
        elif text.startswith(_RUN_ID):
            self._slurm_name = text.removeprefix(_RUN_ID)
        elif hasattr(record, "stage_names"):
            self._names, self._failures.copies = (
                (record.stage_names, record.copies) if self._jobs else ({}, {})
            )
            self._expect(Counter(self._names.values()))
        elif (
            record.levelno >= logging.WARNING
            or not self._jobs
            or text.startswith(("Complete log", "Elapsed"))
        ):
            self._print("" if text.startswith(_NO_NEWS) else text)

    def _tick(self) -> None:
        while not self._ended.wait(_EVERY):
            waiting = _why_jobs_wait(self._slurm_name)
            with self.lock:
                for stage in self._stages.values():
                    stage.count()
                    if any(
                        time.time() - record.created > _EVERY for record in stage.running.values()
                    ):
                        self._show(stage)
                self._print(waiting)

    def _show(self, stage) -> None:
        if "RULES" not in self._quiet:
            self._print(stage.line(max(map(len, self._stages))))

    def _print(self, text) -> None:
        if text:
            print(text, file=self._stream, flush=True)


def _why_jobs_wait(name):
    """The number of jobs of this name in Slurm's queue, and its words for why; empty if there are
    none.
    """
    if name is None:
        return ""
    command = ["squeue", "--me", "--noheader", "--states=PENDING", f"--name={name}", "--format=%r"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(command, capture_output=True, text=True, timeout=_EVERY)
        reasons = Counter(done.stdout.splitlines())
        jobs = [
            f"{count} job{'s' * (count > 1)} ({reason})" for reason, count in reasons.most_common()
        ]
        if jobs:
            return f"in Slurm's queue: {', '.join(jobs)}"
    return ""


def _about_lock(text):
    """Snakemake's words; if another run has locked the folder, ours."""
    if "Error: Directory cannot be locked" not in text:
        return text
    process = owner()
    if not process:
        return text
    end_with(2)
    return f"ovaflow: error: another run (process {process}) uses this folder; wait for it, or use another folder"
