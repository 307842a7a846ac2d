"""What an operator has to mend: each process notes it in the folder of the figures, and any worker
tells.
"""

import contextlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.storage.writing import write_text


def get_shared_path(name):
    """A file that all processes of the service see, and that goes with it."""
    return Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]) / name


def read_failure(subject):
    """Since when something fails and why, as /health has it; None while all is well."""
    try:
        return json.loads(get_shared_path(subject).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def get_failure_time(subject):
    """Since when something fails, in seconds since 1970; 0 while all is well."""
    failure = read_failure(subject)
    return datetime.fromisoformat(failure["since"]).timestamp() if failure else 0


def record_failure(subject, reason) -> None:
    """Note the latest reason of what fails, perhaps for long."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    # on a full disk the service goes on
    with contextlib.suppress(InputError):
        write_text(
            get_shared_path(subject),
            json.dumps({"since": now} | (read_failure(subject) or {}) | {"reason": reason}),
        )


def clear_failure(subject) -> None:
    get_shared_path(subject).unlink(missing_ok=True)


def describe_error(error, *paths):
    """Why it fails, for everybody: without the folders of these paths, which the log has."""
    text = str(error) if isinstance(error, InputError) else "it failed; the log says why"
    for folder in filter(None, map(os.path.dirname, filter(None, paths))):
        text = text.replace(f"{folder}/", "")
    return text
