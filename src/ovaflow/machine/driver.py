"""The process that runs Snakemake: its end by a signal, and what one that was killed has left.

Snakemake itself waits for its jobs when it gets SIGTERM, for hours if need be, and asks its user to remove the locks of
a Snakemake that was killed, since it cannot know whether that one still runs. A lock of the kernel's tells.
"""

import atexit
import contextlib
import fcntl
import os
import signal
import socket
import sys
import time
from pathlib import Path

from ovaflow.machine.locks import open_locked
from ovaflow.machine.stopping import leave, watch_signals

PATIENCE = 3.0
"""Seconds for Snakemake to end by itself after its jobs."""

_PAUSE = 0.3
_CALL = ["-P", "-m", "ovaflow"]


def take_charge(workflow, folder=".snakemake"):
    """Let signals end this Snakemake and its jobs, and remove locks that a killed one has left.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        Nothing is done where it is not the main process.
    folder : path-like
        Where Snakemake keeps its own files.
    """
    if workflow.is_main_process:
        with contextlib.suppress(OSError):
            _remove_stale_locks(Path(folder))
        # signals are the main thread's; Snakemake may be called from others
        with contextlib.suppress(ValueError):
            watch_signals(lambda number: _end(number, workflow), (signal.SIGTERM, signal.SIGINT))


def _remove_stale_locks(folder):
    """Remove Snakemake's locks if the last one that ran this workflow here did not come to its end, but is gone."""
    folder.mkdir(exist_ok=True)
    # held until this process ends, however it ends
    handle = open_locked(folder / "ovaflow.lock", fcntl.LOCK_EX | fcntl.LOCK_NB)
    before, ours = os.pread(handle, 1000, 0).decode().split(), _identity()
    # the kernel's locks may not reach other machines
    if set(before) & set(ours):
        locks = list((folder / "locks").glob("*.lock"))
        for path in locks:
            path.unlink()
        if locks:
            print("ovaflow: the Snakemake that ran here last was killed; its locks are removed", file=sys.stderr)
    os.ftruncate(handle, 0)
    os.pwrite(handle, " ".join(ours).encode(), 0)
    atexit.register(os.ftruncate, handle, 0)


def _identity():
    """Name of this machine, and of the time since it was started."""
    return socket.gethostname(), Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _end(number, workflow):
    """End the jobs on this machine and have Snakemake end; by force, unless it has to do with a cluster."""
    atexit.register(_leave, number)
    end = time.monotonic() + PATIENCE
    while workflow.non_local_exec or time.monotonic() < end:
        _end_jobs()
        time.sleep(_PAUSE)
    _leave(number)


def _end_jobs():
    # only a driver that is ended needs it
    import psutil

    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if process.cmdline()[1:4] == _CALL:
                process.terminate()


def _leave(number):
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    leave(number, "what is finished is kept")
