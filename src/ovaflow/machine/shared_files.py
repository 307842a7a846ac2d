"""Files that the first of several jobs makes and the last removes, even if some are killed.

A job holds a shared lock on a file while it uses it. It looks for, makes or gives up a file while
it holds the lock of the folder. So jobs wait for one that makes a file, and never for one that uses
it.
"""

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from ovaflow.console.errors import StrPath

MEMORY_FOLDER = Path("/dev/shm")
"""Folder whose files are in memory (tmpfs)."""


def open_locked(path: StrPath, mode: int) -> int:
    """Open a file that is locked for as long as it is open, and create it if it does not exist.

    Parameters
    ----------
    path : path-like
        File to open.
    mode : int
        Kind of the lock, as :func:`fcntl.flock` takes it.

    Returns
    -------
    handle : int
        Descriptor of the file.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, mode)
    except BaseException:
        os.close(handle)
        raise
    return handle


def private_folder(base: StrPath | None = None) -> Path:
    """Return the folder of this user in ``base`` or in memory, and create it if it does not exist.

    PermissionError is raised if the folder is another user's, or open to others.
    """
    if base is None:
        base = MEMORY_FOLDER if os.access(MEMORY_FOLDER, os.W_OK) else tempfile.gettempdir()
    folder = Path(base) / f"ovaflow-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise PermissionError(0, f"{folder} is not a private folder of this user")
    return folder


class SharedFile:
    """A file that exists while jobs use it.

    Parameters
    ----------
    path : path-like
        Path of the file.
    make : callable
        Writes the file under the path that it is given; called by the first job only.
    """

    def __init__(self, path: StrPath, make: Callable[[Path], None]) -> None:
        self.path = Path(path)
        with self._lock_folder():
            # files of killed jobs
            for leftover in self.path.parent.glob(f"*{self.path.suffix}"):
                with open(leftover) as file:
                    _remove_if_unused(leftover, file)
            if not self.path.exists():
                partial = self.path.with_name(f"partial{self.path.suffix}")
                try:
                    make(partial)
                    partial.replace(self.path)
                finally:
                    partial.unlink(missing_ok=True)
            self.handle = open_locked(self.path, fcntl.LOCK_SH)

    def release(self) -> None:
        """End the use; the last user removes the file."""
        with self._lock_folder():
            # by this handle, of which a map keeps a copy
            _remove_if_unused(self.path, self.handle)
        os.close(self.handle)

    def _lock_folder(self) -> IO[str]:
        return open(open_locked(self.path.with_name("copies.lock"), fcntl.LOCK_EX))


def _remove_if_unused(path: Path, handle: int | IO[str]) -> None:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
