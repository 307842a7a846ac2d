"""What failed and why, in the words of the job, of Snakemake and of the executor."""

import functools
import re
from collections import Counter, defaultdict, deque
from pathlib import Path

_STATUS = re.compile(r"returned non-zero exit status \d+|died with <Signals\.\w+: \d+>")
_OF_SCHEDULER = re.compile(r"^(?:slurm\S+|srun|sbatch): error: .*", re.MULTILINE)
_FINAL = re.compile("Batch job submission failed: (Invalid|Requested|Memory specification|CPU count|User's group)")
_LOG = re.compile(r"^ *log: (.+?)( \(check log file\(s\) for error details\))?$", re.MULTILINE)


class Failures:
    """Failed jobs in words, each cause once."""

    def __init__(self):
        self.causes = Counter()
        self._statuses = set()
        self._status = None
        # by group, in the order in which they fail: groups are sent side by side
        self.reasons = defaultdict(deque)

    @property
    def are_mistakes(self):
        """Whether commands alone failed, each because something given by the user is wrong."""
        return self._statuses == {"returned non-zero exit status 2"}

    def explains(self, text):
        """Whether Snakemake's words about a command are shown with the failure of its job."""
        status = _STATUS.search(text)
        self._status = f"the command {status[0]}" if status else None
        self._statuses |= {status[0]} if status else set()
        return status is not None or "At least one job did not complete successfully" in text

    def of_job(self, record):
        return self._told([vars(record)], [record.rule_msg, self._status], record.log[:1], record.log[1:])

    def of_group(self, record):
        """Jobs that were sent together and failed: those that are the cause, if the group's log tells, or all."""
        jobs = {log: job for job in record.job_error_info for log in job["log"]}
        named = [match for path in record.aux_logs for match in _LOG.findall(_read(path)) if match[0] in jobs]
        # those that failed; if the group was killed from outside, the one that was begun last
        logs = list(dict.fromkeys(log for log, failed in named if failed)) or [log for log, _ in named[-1:]]
        reasons = self.reasons[record.groupid]
        said = [reasons.popleft()] if reasons else []
        return self._told([jobs[log] for log in logs or jobs], said, logs, record.aux_logs)

    def _told(self, jobs, messages, logs, aux_logs):
        said = "\n".join(filter(None, messages))
        # the script that a scheduler is handed is Snakemake's own call, as long as a page
        lines = [line.strip() for line in re.sub(r" --wrap=.*", " --wrap=...", said).splitlines()]
        lines += dict.fromkeys(line for path in aux_logs for line in _OF_SCHEDULER.findall(_read(path)))
        for path in logs:
            lines += [line.rstrip() for line in _read(path).splitlines() if line.strip()][-10:]
        self._status = None
        # one reason may be told of many calls
        cause = re.sub(r"\d+", "", "\n".join(line for line in lines if not line.startswith("sbatch ")))
        self.causes[cause] += 1
        if self.causes[cause] > 1:
            return ""
        more = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
        name = f"FAILED: {jobs[0]['rule_name']}: {' '.join(jobs[0]['output'])}{more}"
        return "\n  ".join([name, *lines, *(f"log: {path}" for path in [*logs, *aux_logs])])


def _read(path):
    return Path(path).read_text(errors="replace") if path and Path(path).is_file() else ""


@functools.cache
def hear_executors():
    """Log what an executor says of a group, which Snakemake 9 drops (snakemake-executor-plugin-slurm, issue 456).

    A job that Slurm refuses for what it asks for is not sent again: it would ask for the same, or for more.
    """
    # loaded here: Snakemake imports plugins for every job
    from snakemake.jobs import GroupJob, Job
    from snakemake.logging import logger

    def heard(kind, log_error):
        def log_and_hear(job, msg=None, **details):
            if kind is GroupJob:
                logger.error(msg, extra={"of_group": job.groupid})
            if _FINAL.search(msg or ""):
                job.attempt = job.restart_times + 1
            log_error(job, msg, **details)

        return log_and_hear

    for kind in (Job, GroupJob):
        kind.log_error = heard(kind, kind.log_error)
