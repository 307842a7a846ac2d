"""The workflow's files, next to the source or inside the package, and the Snakemake that runs in a
folder.
"""

import atexit
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil

from ovaflow import __version__
from ovaflow.console.errors import InputError, StrPath

_PACKAGE = Path(__file__).parent

_OWNER = Path(".snakemake/ovaflow.pid")
"""File with the host and the process of the Snakemake that runs in the current folder."""

_status: int | None = None


def snakefile() -> Path:
    """Return the path of the workflow's Snakefile."""
    for folder in (_PACKAGE / "pipeline", _PACKAGE.parents[1]):
        if (folder / "Snakefile").is_file():
            return folder / "Snakefile"
    raise InputError(
        "this installation carries no workflow", path=_PACKAGE, remedy="install it from a wheel"
    )


def require_command() -> None:
    """Refuse to start where jobs find no ovaflow on their PATH, or one of another version."""
    remedy = f"pip install ovaflow=={__version__}, or give --sdm conda"
    path = shutil.which("ovaflow")
    if path is None:
        raise InputError("no command ovaflow on PATH, which jobs run", remedy=remedy)
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    if __version__ not in done.stdout.split():
        output = (done.stdout + done.stderr).strip()
        message = f"jobs would run {path} of another version: {output}"
        raise InputError(message, remedy=remedy)


def require_writable(
    files: Iterable[StrPath], remedy: str = "allow writing there, or use another folder"
) -> None:
    """Refuse files that cannot be written, where Snakemake would end with a traceback."""
    for file in files:
        path = Path(file)
        folder = next(parent for parent in path.parents if os.path.exists(parent))
        for target, access in ((folder, os.W_OK | os.X_OK), (path, os.W_OK)):
            if os.path.exists(target) and not os.access(target, access):
                raise InputError("cannot be written", path=target.resolve(), remedy=remedy)


def fetch(file: Any) -> None:
    """Fetch a file of Snakemake from its storage; FileNotFoundError if there is none."""
    stored = file.storage_object
    if not stored.exists():
        raise FileNotFoundError(stored.query)
    stored.local_path().parent.mkdir(parents=True, exist_ok=True)
    stored.retrieve_object()


def record_owner() -> None:
    """Record which Snakemake runs in this folder: its locks do not contain that."""
    require_writable([_OWNER])
    _OWNER.write_text(f"{socket.gethostname()} {os.getpid()}", encoding="utf-8")


def find_owner() -> int | None:
    """Find the process of the Snakemake that runs in this folder.

    Returns
    -------
    process : int or None
        Number of the process; 0 if it has ended, None if it is unknown or on another machine.
    """
    if not _OWNER.exists():
        return None
    host, process = _OWNER.read_text(encoding="utf-8").split()
    if host != socket.gethostname():
        return None
    try:
        words = psutil.Process(int(process)).cmdline()
    except psutil.NoSuchProcess:
        return 0
    except psutil.AccessDenied:
        # macOS hides the commands of other users
        return None
    return int(process) if "snakemake" in " ".join(words) else 0


def end_jobs_on_signals(*, jobs_are_local: bool) -> None:
    """Let SIGINT and SIGTERM end this machine's jobs, for which Snakemake would wait."""
    signal.signal(signal.SIGINT, _end_jobs if jobs_are_local else _interrupt)
    # on SIGTERM Snakemake waits for jobs on other machines
    if jobs_are_local:
        signal.signal(signal.SIGTERM, _end_jobs)


def _end_jobs(number: int, frame: Any) -> None:
    # first, so that the jobs that now end do not count as failed
    exit_with_status(128 + number)
    this = psutil.Process()
    for process in this.children(recursive=True):
        # a process that has just ended must not keep the loop from ending the others
        with contextlib.suppress(psutil.NoSuchProcess):
            # its own children are shells, which end with their commands
            if process.ppid() != this.pid:
                process.terminate()
    _interrupt(number, frame)


def _interrupt(number: int, frame: Any) -> None:
    exit_with_status(128 + number)
    raise KeyboardInterrupt


def exit_with_status(status: int) -> None:
    """Let this process end with a status, the first that is given.

    Snakemake itself ends only with 0 or 1.
    """
    global _status
    if _status is None:
        _status = status
        atexit.register(_leave)


def was_interrupted() -> bool:
    """Return whether SIGINT or SIGTERM ended the workflow."""
    return _status in (128 + signal.SIGINT, 128 + signal.SIGTERM)


def _leave() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_status or 0)
