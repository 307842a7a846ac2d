"""Progress of the stages of a run, by the files and logs of their jobs."""

import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ovaflow.console.progress import format_duration
from ovaflow.workflow import fetch

_LEAST_SHARE = 0.01
"""Share of a stage that must be done before the time left is estimated."""

_PROGRESS = re.compile(r".*: [\d,]+ of [\d,]+ \w+ \((\d+) %\), .* left")


@dataclass
class Stage:
    """The jobs of one rule for one dataset and run."""

    name: str
    jobs: int
    finished: int = 0
    running: dict[int, Any] = field(default_factory=dict)  # Snakemake's records by job
    began: float | None = None  # Unix time in seconds
    worked: float = 0.0  # seconds in which a job was at work
    counted: float = field(default_factory=time.time)  # Unix time up to which they are counted
    summary: str = ""

    def begin(self, record: Any) -> None:
        """Note that a job begins."""
        self.count()
        self.running[record.jobid] = record

    def count(self, *, at_work: bool = False) -> None:
        """Count the time since the last call if a job is at work.

        Waiting in a queue or for a core is not work.
        """
        now = time.time()
        if at_work or self._is_at_work():
            self.worked += max(now - self.counted, 0.0)
        self.counted = now

    def end(self, jobid: int) -> Any:
        """Note that a job has ended, and return its record."""
        self.count(at_work=True)
        return self.running.pop(jobid)

    def finish(self, jobid: int) -> None:
        """Note that a job has made its files, and summarize its log."""
        self.finished += 1
        record = self.end(jobid)
        self.began = self.began or record.created
        if _is_elsewhere(record) and self.finished == self.jobs:
            fetch(record.log[0])
        lines = _log_lines(record)
        remarks = [line for line in lines if line.startswith("remark: ")]
        results = [line for line in lines if line not in remarks][-1:]
        if self.jobs > 1:
            results = [f"{self.jobs:,} jobs"]
        self.summary = "\n  ".join([*results, *remarks])

    def line(self, width: int) -> str:
        """Describe the stage in a line, with its name in a column of ``width`` characters."""
        if self.finished == self.jobs:
            # other stages may have had the cores in between
            text = self.summary
            elapsed = self.worked
        else:
            text = self._progress()
            elapsed = 0.0
            if self.began:
                elapsed = max(time.time() - self.began, 0.0)
        return f"{self.name:<{width}} {format_duration(elapsed):>13}  {text}".rstrip()

    def _is_at_work(self) -> bool:
        return any(_is_at_work(record) for record in self.running.values())

    def _progress(self) -> str:
        records = list(self.running.values())
        if self.began is None:
            if not self._is_at_work():
                return "waiting to start"
            # the time in a scheduler's queue is not work, unless nothing else is known
            if records[0].local or _is_elsewhere(records[0]):
                self.began = records[0].created
            else:
                self.began = time.time()
        if self.jobs == 1:
            if _is_elsewhere(records[0]):
                return "sent to another machine"
            return "".join(_log_lines(records[0])[-1:])
        self.count()
        shares = [_share(record) for record in records]
        done = self.finished + shares.count(1.0)
        share = (self.finished + sum(shares)) / self.jobs
        return f"{done:,}/{self.jobs:,} jobs{self._time_left(share)}"

    def _time_left(self, share: float) -> str:
        if not self._is_at_work():
            return ", waiting"
        if share > _LEAST_SHARE:
            return f", about {format_duration(self.worked * (1 / share - 1))} left"
        return ""


def _is_at_work(record: Any) -> bool:
    """Return True if a job runs.

    A job of another machine runs when its log has begun and its files are not complete.
    """
    if record.local or _is_elsewhere(record):
        return True
    return _find_log(record) is not None and not _is_done(record)


def _is_elsewhere(record: Any) -> bool:
    """Return True if a job's log is in storage alone, which has it when the job has ended."""
    return getattr(record, "elsewhere", False)


def _is_done(record: Any) -> bool:
    return all(Path(path).exists() for path in record.output)


def _find_log(record: Any) -> Path | None:
    """Find a job's log, unless an earlier attempt wrote it."""
    if not record.log:
        return None
    path = Path(record.log[0])
    if path.exists() and path.stat().st_mtime >= record.created - 1:
        return path
    return None


def _log_lines(record: Any) -> list[str]:
    """List the lines of a job's log, without the names of its output files."""
    path = _find_log(record)
    if path is None:
        return []
    text = path.read_text(errors="replace")
    for output in record.output:
        text = text.replace(f"{output}: ", "").replace(f": {output}\n", "\n")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _share(record: Any) -> float:
    """Estimate the share of a job that is done.

    Snakemake reports the jobs of a group only when all are done.
    """
    if _is_done(record):
        return 1.0
    progress = _PROGRESS.fullmatch("".join(_log_lines(record)[-1:]))
    if progress is None:
        return 0.0
    return int(progress[1]) / 100
