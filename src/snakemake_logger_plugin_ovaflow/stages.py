"""Progress of the stages of a run, by the files and logs of their jobs."""

import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from ovaflow.console.progress import clock
from ovaflow.workflow import fetch

_PROGRESS = re.compile(r".*: [\d,]+ of [\d,]+ \w+ \((\d+) %\), .* left")


@dataclass
class Stage:
    """The jobs of one rule for one dataset and run."""

    name: str
    jobs: int
    finished: int = 0
    running: dict = field(default_factory=dict)
    began: float | None = None
    worked: float = 0.0  # seconds in which a job was at work
    counted: float = field(default_factory=time.time)  # until when
    summary: str = ""

    def begin(self, record) -> None:
        self.count()
        self.running[record.jobid] = record

    def count(self, at_work=False) -> None:
        """Count the time since the last call if a job is at work; waiting in a queue or for a core
        is none.
        """
        now = time.time()
        if at_work or any(map(_is_at_work, self.running.values())):
            self.worked += max(now - self.counted, 0.0)
        self.counted = now

    def end(self, jobid):
        self.count(at_work=True)
        return self.running.pop(jobid)

    def finish(self, jobid) -> None:
        self.finished += 1
        record = self.end(jobid)
        self.began = self.began or record.created
        if _is_elsewhere(record) and self.finished == self.jobs:
            fetch(record.log[0])
        lines = _written(record)
        remarks = [line for line in lines if line.startswith("remark: ")]
        results = [line for line in lines if line not in remarks][-1:]
        if self.jobs > 1:
            results = [f"{self.jobs:,} jobs"]
        self.summary = "\n  ".join([*results, *remarks])

    def line(self, width):
        """A line for a person, the name in a column of that width."""
        if self.finished == self.jobs:
            # other stages may have had the cores in between
            text = self.summary
            elapsed = self.worked
        else:
            text = self._progress()
            elapsed = max(time.time() - self.began, 0.0) if self.began else 0.0
        return f"{self.name:<{width}} {clock(elapsed):>13}  {text}".rstrip()

    def _progress(self):
        records = list(self.running.values())
        if self.began is None:
            if not any(map(_is_at_work, records)):
                return "waiting to start"
            # the time in a scheduler's queue is not work, unless nothing else is known
            is_told = not (records[0].local or _is_elsewhere(records[0]))
            self.began = time.time() if is_told else records[0].created
        if self.jobs == 1 and _is_elsewhere(records[0]):
            return "sent to another machine"
        if self.jobs == 1:
            return "".join(_written(records[0])[-1:])
        self.count()
        shares = [_share(record) for record in records]
        done = self.finished + shares.count(1.0)
        share = (self.finished + sum(shares)) / self.jobs
        if not any(map(_is_at_work, records)):
            left = ", waiting"
        elif share > 0.01:
            left = f", about {clock(self.worked * (1 / share - 1))} left"
        else:
            left = ""
        return f"{done:,}/{self.jobs:,} jobs{left}"


def _is_at_work(record):
    """Whether a job runs: one of this machine, or one whose log has begun and whose files are not
    all there.
    """
    return (
        record.local
        or _is_elsewhere(record)
        or (_log_of(record) is not None and not _is_done(record))
    )


def _is_elsewhere(record):
    """Whether a job's log is in storage alone, where it comes when the job has ended."""
    return getattr(record, "elsewhere", False)


def _is_done(record):
    return all(Path(made).exists() for made in record.output)


def _log_of(record):
    """A job's log, unless an earlier attempt wrote it."""
    path = Path(record.log[0]) if record.log else None
    return (
        path
        if path is not None and path.exists() and path.stat().st_mtime >= record.created - 1
        else None
    )


def _written(record):
    """Lines of a job's log, without the names of the files that it makes."""
    path = _log_of(record)
    if path is None:
        return []
    text = path.read_text(errors="replace")
    for made in record.output:
        text = text.replace(f"{made}: ", "").replace(f": {made}\n", "\n")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _share(record):
    """Share of a job that is done; Snakemake reports the jobs of a group only when all are done."""
    if _is_done(record):
        return 1.0
    progress = _PROGRESS.fullmatch("".join(_written(record)[-1:]))
    return int(progress[1]) / 100 if progress else 0.0
