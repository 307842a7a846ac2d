"""What failed and why, in the words of the job, of Snakemake and of the executor."""

import contextlib
import functools
import re
from collections import Counter, defaultdict, deque
from pathlib import Path

from ovaflow.workflow import fetch

_STATUS = re.compile(r"returned non-zero exit status \d+|died with <Signals\.\w+: \d+>")
_OF_SCHEDULER = re.compile(r"^(?:slurm\S+|srun|sbatch): error: .*", re.MULTILINE)
_LOG = re.compile(r"^ *log: (.+?)( \(check log file\(s\) for error details\))?$", re.MULTILINE)
_STORED = " (send to storage)"
_LAST_LINES = 10


class Failures:
    """Failed jobs in words, each cause once."""

    def __init__(self) -> None:
        self.causes = Counter()
        # by job: what is on this machine of its files in storage
        self.copies = {}
        self._statuses = set()
        self._status = None
        # by group, in the order in which they fail: groups are submitted side by side
        self.reasons = defaultdict(deque)

    @property
    def are_mistakes(self):
        """Whether only commands failed, each because of a mistake of the user."""
        return self._statuses == {"returned non-zero exit status 2"}

    def explains(self, text):
        """Whether Snakemake's words about a command are shown with the failure of its job."""
        status = _STATUS.search(text)
        self._status = None
        if status:
            self._status = f"the command {status[0]}"
            self._statuses.add(status[0])
        return status is not None or "At least one job did not complete successfully" in text

    def of_job(self, record):
        """Lines about a job; empty if its cause was shown before."""
        messages = [record.rule_msg, self._status]
        job = self._here(vars(record))
        return self._lines([job], messages, job["log"][:1], job["log"][1:])

    def of_group(self, record):
        """Lines about the jobs of a group that are the cause, if the group's log tells them, or
        about all.
        """
        jobs = {log: job for job in record.job_error_info for log in job["log"]}
        begun = [match for path in record.aux_logs for match in _LOG.findall(_read(path))]
        begun = [(log, failed) for log, failed in begun if log in jobs]
        # those that failed; if the group was killed from outside, the one that began last
        logs = list(dict.fromkeys(log for log, failed in begun if failed))
        logs = logs or [log for log, _ in begun[-1:]]
        reasons = self.reasons[record.groupid]
        messages = [reasons.popleft()] if reasons else []
        failed = [self._here(jobs[log]) for log in logs or jobs]
        of_failed = [job["log"][0] for job in failed[: len(logs)]]
        return self._lines(failed, messages, of_failed, record.aux_logs)

    def _here(self, job):
        copies = self.copies.get(job["jobid"])
        return job if copies is None else _from_storage(job, copies)

    def _lines(self, jobs, messages, logs, aux_logs):
        # the script for a scheduler is Snakemake's own call, a page long
        text = re.sub(r" --wrap=.*", " --wrap=...", "\n".join(filter(None, messages)))
        lines = [line.strip() for line in text.splitlines()]
        for path in aux_logs:
            lines += dict.fromkeys(_OF_SCHEDULER.findall(_read(path)))
        for path in logs:
            lines += [line.rstrip() for line in _read(path).splitlines() if line.strip()][
                -_LAST_LINES:
            ]
        self._status = None
        # calls with other numbers may fail for the same reason
        cause = re.sub(
            r"\d+", "", "\n".join(line for line in lines if not line.startswith("sbatch "))
        )
        self.causes[cause] += 1
        if self.causes[cause] > 1:
            return ""
        more = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
        name = f"FAILED: {jobs[0]['rule_name']}: {' '.join(jobs[0]['output'])}{more}"
        return "\n  ".join([name, *lines, *(f"log: {path}" for path in [*logs, *aux_logs])])


def _from_storage(job, copies):
    """A failed job whose files are in storage: with addresses of its files, and its log on this
    machine.
    """
    output = [made.removesuffix(_STORED) for made in job["output"]]
    logs = [log.removesuffix(_STORED) for log in job["log"]]
    for place, log in enumerate(copies["log"]):
        # a machine that is gone has left no log
        with contextlib.suppress(FileNotFoundError):
            if copies["elsewhere"]:
                fetch(log)
            logs[place] = log
    return job | {"output": output, "log": logs}


def _read(path):
    return Path(path).read_text(errors="replace") if path and Path(path).is_file() else ""


@functools.cache
def log_reasons_of_groups() -> None:
    """Log what an executor says of a group, which Snakemake 9 drops
    (snakemake-executor-plugin-slurm, issue 456).
    """
    # loaded here: Snakemake imports plugins for every job
    from snakemake.jobs import GroupJob
    from snakemake.logging import logger

    log_error = GroupJob.log_error

    def log_reason_and_error(group, msg=None, **details) -> None:
        logger.error(msg, extra={"of_group": group.groupid})
        log_error(group, msg, **details)

    GroupJob.log_error = log_reason_and_error
