"""How far the stages of a run are, by the files and logs of their jobs."""

import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from ovaflow.console.progress import clock

_PROGRESS = re.compile(r".*: ([\d,]+) of ([\d,]+) \w+ \(\d+ %\), .* left")


@dataclass
class Stage:
    """The jobs of one rule for one dataset and run."""

    name: str
    jobs: int
    finished: int = 0
    running: dict = field(default_factory=dict)
    began: float | None = None
    summary: str = ""

    def finish(self, jobid):
        self.finished += 1
        record = self.running.pop(jobid)
        self.began = self.began or record.created
        remarks = [line for line in _written(record) if line.startswith("remark: ")]
        said = [line for line in _written(record) if line not in remarks]
        self.summary = "\n  ".join([*(said[-1:] if self.jobs == 1 else [f"{self.jobs:,} jobs"]), *remarks])

    def line(self, width):
        """What a person reads, the name in a column of that width."""
        said = self.summary if self.finished == self.jobs else self._progress()
        elapsed = max(time.time() - self.began, 0.0) if self.began else 0.0
        return f"{self.name:<{width}} {clock(elapsed):>13}  {said}".rstrip()

    def _progress(self):
        records = list(self.running.values())
        if self.began is None:
            if not any(record.local or _written(record) for record in records):
                return "waiting to start"
            # the time in a scheduler's queue is not work
            self.began = records[0].created if records[0].local else time.time()
        if self.jobs == 1:
            return "".join(_written(records[0])[-1:])
        shares = [_share(record) for record in records]
        done, share = self.finished + shares.count(1.0), (self.finished + sum(shares)) / self.jobs
        left = f", about {clock((time.time() - self.began) * (1 / share - 1))} left" if share > 0.01 else ""
        return f"{done:,}/{self.jobs:,} jobs{left}"


def _written(record):
    """Lines of a job's log, without the names of the files that it makes and what an earlier attempt wrote."""
    path = Path(record.log[0]) if record.log else None
    if path is None or not path.exists() or path.stat().st_mtime < record.created - 1:
        return []
    text = path.read_text(errors="replace")
    for made in record.output:
        text = text.replace(f"{made}: ", "").replace(f": {made}\n", "\n")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _share(record):
    """Share of a job that is done; Snakemake reports the jobs of a group only when all are done."""
    if all(Path(made).exists() for made in record.output):
        return 1.0
    progress = _PROGRESS.fullmatch("".join(_written(record)[-1:]))
    return int(progress[1].replace(",", "")) / int(progress[2].replace(",", "")) if progress else 0.0
