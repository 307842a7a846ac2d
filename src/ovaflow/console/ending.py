"""How the process that runs the pipeline ends: Snakemake itself knows the exit statuses 0 and 1 alone."""

import atexit
import os
import signal
import sys

_BY_SIGNAL = {128 + signal.SIGINT, 128 + signal.SIGTERM}

_status: int | None = None


def end_with(status: int) -> None:
    """Let this process end with a status, whatever is said later."""
    global _status
    if _status is None:
        _status = status
        atexit.register(_leave)


def interrupted() -> bool:
    """Whether a signal ends this process."""
    return _status in _BY_SIGNAL


def _leave() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_status or 0)
