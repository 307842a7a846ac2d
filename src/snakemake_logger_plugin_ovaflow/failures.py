"""What failed, why, and what to do next."""

import re
from pathlib import Path

_LINES = 10
_SAID = "ovaflow: error: "
_STATUS = re.compile(r"returned non-zero exit status (\d+)|died with <Signals\.(\w+)")
_KILLED = (137, 9)


class Failures:
    """Failed jobs in words.

    Parameters
    ----------
    show_logs : bool
        Whether the ends of their logs are shown.
    """

    def __init__(self, show_logs):
        self._show_logs = show_logs
        self._statuses = []

    def explains(self, text):
        """Take what Snakemake says of a command that failed.

        Parameters
        ----------
        text : str

        Returns
        -------
        bool
            Whether it needs no place of its own, since the job's failure tells it.
        """
        status = _STATUS.search(text)
        if status is not None:
            self._statuses.append(int(status[1]) if status[1] else status[2])
        return status is not None or "At least one job did not complete successfully" in text

    def describe(self, record, failed):
        """A failed job.

        Parameters
        ----------
        record : logging.LogRecord
            Of the job's error.
        failed : (Stage, Job) or None
            The same job, where it was seen to start.

        Returns
        -------
        str
            Several lines.
        """
        stage, job = failed or (None, None)
        what = record.rule_name if stage is None else " ".join(filter(None, (stage.title, stage.place)))
        part = f", shard {job.shard}" if job is not None and job.shard is not None else ""
        said = _last_lines(record.log)
        lines = [f"FAILED: {what}{part}"]
        if self._show_logs:
            lines += [f"  {line}" for line in _reason(said)]
        if record.log:
            lines.append(f"  log: {', '.join(record.log)}")
        return "\n".join([*lines, f"  next: {self._remedy(said)}"])

    def _remedy(self, said):
        again = "call the same command again, which goes on from here"
        if any(line.startswith(_SAID) for line in said):
            return f"mend this, and {again}"
        status = self._statuses.pop() if self._statuses else None
        if status in (*_KILLED, "SIGKILL"):
            return f"the job was killed, often for want of memory: allow fewer --cores, and {again}"
        return f"read the log, and {again}"


def _last_lines(logs):
    lines = []
    for log in logs:
        path = Path(log)
        if path.is_file():
            lines += [line.rstrip() for line in path.read_text(errors="replace").splitlines() if line.strip()]
    return lines


def _reason(said):
    errors = [line for line in said if line.startswith(_SAID)]
    return errors[-1:] or said[-_LINES:] or ["the log is empty"]
