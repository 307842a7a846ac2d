"""What failed and why, in the words of the job, of Snakemake and of the executor."""

import contextlib
import functools
import re
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from logging import LogRecord
from pathlib import Path
from typing import Any

from ovaflow.workflow import fetch

_STATUS = re.compile(r"returned non-zero exit status \d+|died with <Signals\.\w+: \d+>")
_SCHEDULER_ERROR = re.compile(r"^(?:slurm\S+|srun|sbatch): error: .*", re.MULTILINE)
_LOG = re.compile(r"^ *log: (.+?)( \(check log file\(s\) for error details\))?$", re.MULTILINE)
_STORED = " (send to storage)"
_LAST_LINES = 10
"""Lines shown of a failed job's log."""


class Failures:
    """Descriptions of failed jobs, each cause once."""

    def __init__(self) -> None:
        self.causes: Counter[str] = Counter()
        # by job: what is on this machine of its files in storage
        self.copies: dict[int, dict[str, Any]] = {}
        self._statuses: set[str] = set()
        self._status: str | None = None
        # by group, in the order in which they fail: groups are submitted in parallel
        self.reasons: defaultdict[str, deque[str]] = defaultdict(deque)

    @property
    def are_mistakes(self) -> bool:
        """True if only commands failed, each because of a mistake of the user."""
        return self._statuses == {"returned non-zero exit status 2"}

    def explains(self, text: str) -> bool:
        """Return True if this message of Snakemake is shown with the failure of its job."""
        status = _STATUS.search(text)
        self._status = None
        if status:
            self._status = f"the command {status[0]}"
            self._statuses.add(status[0])
        return status is not None or "At least one job did not complete successfully" in text

    def describe_job(self, record: LogRecord) -> str:
        """Describe a failed job; return an empty text if its cause was shown before."""
        details = vars(record)
        messages = [details["rule_msg"], self._status]
        job = self._with_local_log(details)
        return self._describe([job], messages, job["log"][:1], job["log"][1:])

    def describe_group(self, record: LogRecord) -> str:
        """Describe the jobs that made a group fail: those that its log names, or else all."""
        details = vars(record)
        aux_logs = details["aux_logs"]
        jobs = {log: job for job in details["job_error_info"] for log in job["log"]}
        logs = _logs_of_failed(aux_logs, jobs)
        reasons = self.reasons[details["groupid"]]
        messages = [reasons.popleft()] if reasons else []
        failed = [self._with_local_log(jobs[log]) for log in logs or jobs]
        first_logs = [job["log"][0] for job in failed[: len(logs)]]
        return self._describe(failed, messages, first_logs, aux_logs)

    def _with_local_log(self, job: dict[str, Any]) -> dict[str, Any]:
        copies = self.copies.get(job["jobid"])
        if copies is None:
            return job
        return _fetch_log(job, copies)

    def _describe(
        self,
        jobs: list[dict[str, Any]],
        messages: Sequence[str | None],
        logs: list[str],
        aux_logs: list[str],
    ) -> str:
        # the script for a scheduler is Snakemake's own call, a page long
        text = "\n".join(message for message in messages if message)
        text = re.sub(r" --wrap=.*", " --wrap=...", text)
        lines = [line.strip() for line in text.splitlines()]
        for path in aux_logs:
            lines += dict.fromkeys(_SCHEDULER_ERROR.findall(_read(path)))
        for path in logs:
            lines += _last_lines(path)
        self._status = None
        if self._was_shown(lines):
            return ""
        first = jobs[0]
        name = f"FAILED: {first['rule_name']}: {' '.join(first['output'])}"
        if len(jobs) > 1:
            name += f" and {len(jobs) - 1} more"
        paths = [f"log: {path}" for path in [*logs, *aux_logs]]
        return "\n  ".join([name, *lines, *paths])

    def _was_shown(self, lines: list[str]) -> bool:
        """Count the cause that these lines describe; return True if it was counted before."""
        described = [line for line in lines if not line.startswith("sbatch ")]
        # calls with other numbers may fail for the same reason
        cause = re.sub(r"\d+", "", "\n".join(described))
        self.causes[cause] += 1
        return self.causes[cause] > 1


def _logs_of_failed(aux_logs: list[str], jobs: dict[str, dict[str, Any]]) -> list[str]:
    """List the logs of a group's jobs that failed.

    If the group was killed from outside, this is the log of the job that began last.
    """
    begun = []
    failed = []
    for path in aux_logs:
        for log, failure in _LOG.findall(_read(path)):
            if log not in jobs:
                continue
            begun.append(log)
            if failure:
                failed.append(log)
    return list(dict.fromkeys(failed)) or begun[-1:]


def _fetch_log(job: dict[str, Any], copies: dict[str, Any]) -> dict[str, Any]:
    """Describe a failed job by the addresses of its files in storage; fetch its logs."""
    output = [path.removesuffix(_STORED) for path in job["output"]]
    logs = [path.removesuffix(_STORED) for path in job["log"]]
    for i, log in enumerate(copies["log"]):
        # a machine that is gone has left no log
        with contextlib.suppress(FileNotFoundError):
            if copies["elsewhere"]:
                fetch(log)
            logs[i] = log
    return job | {"output": output, "log": logs}


def _read(path: str) -> str:
    """Read a file; return an empty text if it is missing."""
    if path and Path(path).is_file():
        return Path(path).read_text(errors="replace")
    return ""


def _last_lines(path: str) -> list[str]:
    lines = [line.rstrip() for line in _read(path).splitlines() if line.strip()]
    return lines[-_LAST_LINES:]


@functools.cache
def log_reasons_of_groups() -> None:
    """Log why a group failed, which Snakemake 9 drops.

    See issue 456 of snakemake-executor-plugin-slurm.
    """
    # loaded here: Snakemake imports plugins for every job
    from snakemake.jobs import GroupJob
    from snakemake.logging import logger

    log_error = GroupJob.log_error

    def log_reason_and_error(group: Any, msg: str | None = None, **details: Any) -> None:
        logger.error(msg, extra={"of_group": group.groupid})
        log_error(group, msg, **details)

    GroupJob.log_error = log_reason_and_error
