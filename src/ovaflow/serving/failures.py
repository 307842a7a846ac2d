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


def shared_file(name):
    """A file that all processes of the service see, and that goes with it."""
    return Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]) / name


def noted(subject):
    """Since when something fails and why, as /health has it; None while all is well."""
    try:
        return json.loads(shared_file(subject).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def since(subject):
    """Since when something fails, in seconds since 1970; 0 while all is well."""
    failure = noted(subject)
    return datetime.fromisoformat(failure["since"]).timestamp() if failure else 0


def note(subject, reason) -> None:
    """Note the latest reason of what fails, perhaps for long."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    # on a full disk the service goes on
    with contextlib.suppress(InputError):
        write_text(
            shared_file(subject),
            json.dumps({"since": now} | (noted(subject) or {}) | {"reason": reason}),
        )


def forget(subject) -> None:
    shared_file(subject).unlink(missing_ok=True)


def shown(error, *paths):
    """Why it fails, for everybody: without the folders of these paths, which the log has."""
    text = str(error) if isinstance(error, InputError) else "it failed; the log says why"
    for folder in filter(None, map(os.path.dirname, filter(None, paths))):
        text = text.replace(f"{folder}/", "")
    return text
