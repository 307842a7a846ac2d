"""What an operator has to mend: each process notes it in the folder of the figures, and any worker tells."""

import contextlib
import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ovaflow.console.errors import InputError
from ovaflow.storage.writing import write_text


class Failure(NamedTuple):
    """Since when something fails, in seconds since 1970, and why."""

    since: float
    reason: str


def shared_file(name):
    """A file that all processes of the service see, and that goes with it."""
    return Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]) / name


def noted(subject):
    """The failure of something; None while all is well."""
    try:
        return Failure(*json.loads(_file(subject).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


def since(subject):
    """Since when something fails, in seconds since 1970; 0 while all is well."""
    failure = noted(subject)
    return failure.since if failure else 0.0


def described(subject):
    """The same, as /health has it."""
    failure = noted(subject)
    if failure is None:
        return None
    since = datetime.fromtimestamp(failure.since, UTC).isoformat(timespec="seconds")
    return {"since": since.replace("+00:00", "Z"), "reason": failure.reason}


def note(subject, reason):
    """Note the latest reason; what fails already has failed since it did."""
    before = noted(subject)
    # on a full disk the service goes on
    with contextlib.suppress(InputError, OSError):
        write_text(_file(subject), json.dumps([before.since if before else time.time(), reason]))


def forget(subject):
    _file(subject).unlink(missing_ok=True)


def _file(subject):
    return shared_file(f"{subject}.failure")


def shown(error, paths):
    """Why it fails, for everybody: without the folders of these paths, which the log has."""
    if not isinstance(error, InputError):
        return "it failed; the log says why"
    text = str(error)
    for path in map(os.fspath, filter(None, paths)):
        for folder in map(os.path.dirname, (path, os.path.abspath(path), os.path.realpath(path))):
            text = text.replace(f"{folder}/", "") if folder else text
    return text
