"""Files that the first of several jobs makes, all of them use, and the last removes, even if some are killed.

A job holds a shared lock on a file while it uses it. It looks for, makes or gives up the file under an exclusive lock
on another file next to it, which it does not hold meanwhile. So no job ever waits for one that uses the file.
"""

import contextlib
import fcntl
import os
import stat
import tempfile
import time
from pathlib import Path

PAUSE = 0.01
"""Seconds between two looks for a lock."""


def open_locked(path, mode, patience=None):
    """Descriptor of a file, made if need be, that is locked (:func:`fcntl.flock`) for as long as it is open.

    With patience, BlockingIOError after so many seconds; without, it waits as long as it takes.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    end = time.monotonic() + (patience or 0.0)
    try:
        while True:
            try:
                fcntl.flock(handle, mode if patience is None else mode | fcntl.LOCK_NB)
                return handle
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise
                time.sleep(PAUSE)
    except BaseException:
        os.close(handle)
        raise


def private_folder(base=None):
    """Folder of this user in the memory of this machine or in ``base``, made if need be; OSError if it is another's."""
    shared = Path("/dev/shm")
    base = Path(base) if base else shared if os.access(shared, os.W_OK) else Path(tempfile.gettempdir())
    folder = base / f"ovaflow-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(0, f"{folder} is not a private folder of this user")
    return folder


class SharedFile:
    """A file that all jobs share which use it now; ``make`` writes it, under the name that it is given."""

    def __init__(self, path, make):
        self.path = Path(path)
        with _turn(self.path):
            if not self.path.exists():
                _make(self.path, make)
            self.handle = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
            fcntl.flock(self.handle, fcntl.LOCK_SH)

    def release(self):
        """End the use; the last user removes the file."""
        with _turn(self.path):
            _remove_if_unused(self.path, self.handle)
        os.close(self.handle)


@contextlib.contextmanager
def _turn(path, mode=fcntl.LOCK_EX):
    lock_file = _lock_file_of(path)
    while True:
        handle = open_locked(lock_file, mode)
        try:
            # its last holder may have removed it
            if lock_file.exists() and os.path.samestat(os.fstat(handle), os.stat(lock_file)):
                yield
                return
        finally:
            os.close(handle)


def _lock_file_of(path):
    return path.with_name(f"{path.name}.lock")


def _make(path, make):
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    try:
        make(partial)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        _lock_file_of(path).unlink()
        raise


def _remove_if_unused(path, handle):
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
        _lock_file_of(path).unlink()


def remove_unused(folder, suffix):
    """Remove the files of this suffix that killed jobs left."""
    for lock_file in Path(folder).glob(f"*{suffix}.lock"):
        path = lock_file.with_suffix("")
        with contextlib.suppress(FileNotFoundError, BlockingIOError), _turn(path, fcntl.LOCK_EX | fcntl.LOCK_NB):
            path.with_suffix(".partial").unlink(missing_ok=True)
            # made if it is not there, so that it goes with its lock file
            with open(path, "ab") as file:
                _remove_if_unused(path, file)
