"""Logger plugin of Snakemake, for the profiles: one line per stage, and why jobs fail."""

import contextlib
import logging
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from logging import LogRecord
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from ovaflow.workflow import exit_with_status, find_owner, was_interrupted
from snakemake_logger_plugin_ovaflow.failures import Failures, log_reasons_of_groups
from snakemake_logger_plugin_ovaflow.job_table import JobTable
from snakemake_logger_plugin_ovaflow.stages import Stage

_LINE_INTERVAL = 30.0  # seconds between two lines of a running stage
_RUN_ID = "SLURM run ID: "  # the name of all jobs of a run
_JOB_EVENTS = (LogEvent.JOB_INFO, LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR)
# messages that are not shown; on macOS each job says that its memory cannot be measured
_HIDDEN_MESSAGES = (
    "Assuming",
    "Benchmark: unable",
    "Building DAG",
    "Conda env",
    "Exiting because",
    "Group jobs",
    "If you ",
    "Provided",
    "Rules with provenance",
    "Some jobs were triggered",
    "Using",
)
_NOTHING_TO_DO = "Nothing to be done"


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Options of Snakemake that begin with ``--logger-ovaflow-``."""

    job_table: bool = field(
        default=False, metadata={"help": "Show the jobs of a dry run in a table."}
    )


class LogHandler(LogHandlerBase):
    """Snakemake's events as lines for a person."""

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        settings = self.common_settings
        details = [settings.verbose, settings.printshellcmds, settings.debug_dag]
        self._table: JobTable | None = None
        chosen = self.settings
        if settings.dryrun and isinstance(chosen, LogHandlerSettings) and chosen.job_table:
            self._table = JobTable()
        is_own_dry_run = settings.dryrun and self._table is None
        # where this is False, Snakemake shows its own messages
        self.writes_to_stream = not (is_own_dry_run or any(details))
        self._stream = sys.stdout if settings.stdout else sys.stderr
        self._quiet = {each.name for each in settings.quiet or ()}
        self._stage_names: dict[int, str] = {}
        self._stages: dict[str, Stage] = {}
        self._stage_by_job: dict[int, Stage] = {}
        self._jobs = 0
        self._failures = Failures()
        self._ended = threading.Event()
        self._slurm_name: str | None = None
        log_reasons_of_groups()
        threading.Thread(target=self._tick, daemon=True).start()

    def filter(self, record: LogRecord) -> bool:
        """Let events of jobs pass, which are counted; ``--quiet rules`` would drop them."""
        if getattr(record, "event", None) in _JOB_EVENTS and "ALL" not in self._quiet:
            return True
        return super().filter(record)

    def emit(self, record: LogRecord) -> None:
        """Show an event or its effect on the stages."""
        handle = getattr(self, f"_on_{getattr(record, 'event', None) or 'message'}", None)
        try:
            if handle is not None and self.writes_to_stream:
                handle(record)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Print how the run ended, or which jobs it would have."""
        if not self._ended.is_set():
            self._print_end()
        self._ended.set()
        super().close()

    def _print_end(self) -> None:
        if self._table is not None and self.writes_to_stream:
            for line in self._table.lines():
                self._print(line)
        if not self._jobs:
            return
        done = sum(stage.finished for stage in self._stages.values())
        repeated = self._failures.causes.total() - len(self._failures.causes)
        if repeated:
            self._print(f"{repeated:,} more failures had the same reasons")
        end = "Done"
        hint = ""
        if done < self._jobs:
            end = "Interrupted" if was_interrupted() else "Stopped"
            hint = "; the same command continues"
        if end == "Stopped" and self._failures.are_mistakes:
            hint = ". Correct the errors above; finished jobs are kept"
            exit_with_status(2)
        self._print(f"{end}: {done:,} of {self._jobs:,} jobs{hint}")

    def _on_run_info(self, record: Any) -> None:
        if self._table is not None:
            return
        self._expect({rule: jobs for rule, jobs in record.stats.items() if rule != "total"})
        self._print(f"{self._jobs:,} job{_plural(self._jobs)} to do")

    def _expect(self, jobs: dict[str, int]) -> None:
        self._stages = {name: Stage(name, number) for name, number in jobs.items() if name != "all"}
        self._jobs = sum(stage.jobs for stage in self._stages.values())

    def _on_job_info(self, record: Any) -> None:
        if self._table is not None:
            self._table.add(record)
            return
        # a workflow that uses this one as a module does not send the names
        stage = self._stages.get(self._stage_names.get(record.jobid, record.rule_name))
        if stage is not None:
            self._stage_by_job[record.jobid] = stage
            vars(record).update(self._failures.copies.get(record.jobid, {}))
            stage.begin(record)

    def _on_job_finished(self, record: Any) -> None:
        stage = self._stage_by_job.pop(record.job_id, None)
        if stage is not None:
            stage.finish(record.job_id)
            if stage.finished == stage.jobs:
                self._show(stage)

    def _on_job_error(self, record: Any) -> None:
        stage = self._stage_by_job.pop(record.jobid, None)
        if stage is not None:
            stage.end(record.jobid)
        # jobs of a group are reported with their group; a job that a signal ended has not failed
        if not record.indent and not was_interrupted():
            self._print(self._failures.describe_job(record))

    def _on_group_error(self, record: Any) -> None:
        if not was_interrupted():
            self._print(self._failures.describe_group(record))

    def _on_error(self, record: Any) -> None:
        if not self._failures.explains(record.getMessage()):
            self._print(_explain_lock(record.getMessage()))

    def _on_message(self, record: Any) -> None:
        text = str(record.msg or "").strip()
        if hasattr(record, "of_group"):
            self._failures.reasons[record.of_group].append(text)
        elif text.startswith(_RUN_ID):
            self._slurm_name = text.removeprefix(_RUN_ID)
        elif hasattr(record, "shared_by"):
            if self._table is not None:
                self._table.shared_by = record.shared_by
        elif hasattr(record, "stage_names"):
            if self._jobs:
                self._stage_names = record.stage_names
                self._failures.copies = record.copies
            self._expect(Counter(self._stage_names.values()))
        elif self._is_shown(record.levelno, text):
            self._print(text)

    def _is_shown(self, level: int, text: str) -> bool:
        if text.startswith(_HIDDEN_MESSAGES):
            return False
        if self._table is not None and level < logging.WARNING:
            return text.startswith(_NOTHING_TO_DO)
        is_warning = level >= logging.WARNING
        return is_warning or not self._jobs or text.startswith(("Complete log", "Elapsed"))

    def _tick(self) -> None:
        while not self._ended.wait(_LINE_INTERVAL):
            waiting = _describe_queue(self._slurm_name)
            self.acquire()
            try:
                self._show_running()
                self._print(waiting)
            finally:
                self.release()

    def _show_running(self) -> None:
        now = time.time()
        for stage in self._stages.values():
            stage.count()
            if any(now - record.created > _LINE_INTERVAL for record in stage.running.values()):
                self._show(stage)

    def _show(self, stage: Stage) -> None:
        if "RULES" not in self._quiet:
            width = max(len(name) for name in self._stages)
            self._print(stage.line(width))

    def _print(self, text: str) -> None:
        if text:
            print(text, file=self._stream, flush=True)


def _plural(number: int) -> str:
    return "s" if number > 1 else ""


def _describe_queue(name: str | None) -> str:
    """Count the jobs of this name in Slurm's queue, with its reasons; empty if there are none."""
    if name is None:
        return ""
    command = ["squeue", "--me", "--noheader", "--states=PENDING", f"--name={name}", "--format=%r"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LINE_INTERVAL)
        reasons = Counter(done.stdout.splitlines())
        jobs = [f"{n} job{_plural(n)} ({reason})" for reason, n in reasons.most_common()]
        if jobs:
            return f"in Slurm's queue: {', '.join(jobs)}"
    return ""


def _explain_lock(text: str) -> str:
    """Return Snakemake's message, or ovaflow's if another run has locked the folder."""
    if "Error: Directory cannot be locked" not in text:
        return text
    process = find_owner()
    if not process:
        return text
    exit_with_status(2)
    return (
        f"ovaflow: error: another run (process {process}) uses this folder;"
        " wait for it, or use another folder"
    )
