"""Failures that an operator has to mend: each process records its own in the folder of the metrics,
and any worker reports them.
"""

import contextlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path

from ovaflow.console.errors import InputError, StrPath
from ovaflow.storage.writing import write_text


def get_shared_path(name: str) -> Path:
    """Return the path of a file that all processes of the service see, and that goes with it."""
    return Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]) / name


def read_failure(subject: str) -> dict[str, str] | None:
    """Read since when a subject fails and why, for /health; None if all is well."""
    try:
        return json.loads(get_shared_path(subject).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def get_failure_time(subject: str) -> float:
    """Return the time since which a subject fails, in seconds since 1970; 0 if all is well."""
    failure = read_failure(subject)
    if failure is None:
        return 0
    return datetime.fromisoformat(failure["since"]).timestamp()


def record_failure(subject: str, reason: str) -> None:
    """Record the latest reason of a failure; the time of the first record stays."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    earlier = read_failure(subject) or {}
    failure = {"since": now} | earlier | {"reason": reason}
    # on a full disk the service goes on
    with contextlib.suppress(InputError):
        write_text(get_shared_path(subject), json.dumps(failure))


def clear_failure(subject: str) -> None:
    """Remove the record of a failure that is over."""
    get_shared_path(subject).unlink(missing_ok=True)


def describe_error(error: Exception, *paths: StrPath | None) -> str:
    """Describe an error to every client: without the folders of the paths, which the log has."""
    if not isinstance(error, InputError):
        return "it failed; the log says why"
    text = str(error)
    for path in paths:
        folder = os.path.dirname(path) if path else ""
        if folder:
            text = text.replace(f"{folder}/", "")
    return text
