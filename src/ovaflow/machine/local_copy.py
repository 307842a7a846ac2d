"""Arrays in the memory of a node, one copy for all jobs there: a file on tmpfs that lives as long as its users.

Each user holds a shared lock on the file, and whoever fills it an exclusive
one; the kernel releases both when a process dies. The last user removes the
file, and a job that finds files without users, whose jobs were killed, removes
them before it makes its own.
"""

import contextlib
import fcntl
import mmap
import os
from pathlib import Path

from ovaflow.machine.locks import open_locked

_COMPLETE = b"complete"
_SUFFIX = ".copy"


class LocalCopy:
    """A file of some size, filled by the first of its users.

    Parameters
    ----------
    folder : path-like
        On tmpfs, private to the user.
    name : str
        What it holds, and on which node.
    size : int
        Bytes.
    """

    def __init__(self, folder, name, size):
        self._path, self._size = Path(folder) / f"{name}{_SUFFIX}", size
        self._handle = None

    def open(self, prepare, fill):
        """Map the copy, made if there is none yet; waits while another process makes it.

        Parameters
        ----------
        prepare : callable
            Takes the map of a new file before any of its pages is there; raises
            OSError where there is no room.
        fill : callable
            Takes the map of a new file.

        Returns
        -------
        mmap.mmap
            Private: a write changes the process's own page alone.

        Raises
        ------
        OSError
            If there is no room.
        """
        if not self._join():
            self._make(prepare, fill)
        return mmap.mmap(self._handle, self._size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)

    def _join(self):
        """Become a user of the file; whether it is complete. If not, it is locked for writing."""
        while True:
            self._lock(fcntl.LOCK_SH)
            if self._is_complete():
                return True
            self._lock(fcntl.LOCK_EX)
            if not self._is_complete():
                return False
            # another filled it in between; the lock for writing must not keep others out

    def _lock(self, mode):
        """Lock the file of this name, not one that its last user has removed."""
        while True:
            self.close_handle()
            self._handle = open_locked(self._path, mode)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._handle), os.stat(self._path)):
                    return

    def _is_complete(self):
        return os.pread(self._handle, len(_COMPLETE), _whole_pages(self._size)) == _COMPLETE

    def _make(self, prepare, fill):
        try:
            remove_unused(self._path.parent, keep=self._path)
            os.ftruncate(self._handle, 0)
            os.ftruncate(self._handle, self._size)
            with mmap.mmap(self._handle, self._size) as shared:
                prepare(shared)
                # allocates every page now: a write to a full tmpfs would kill the process
                os.posix_fallocate(self._handle, 0, self._size)
                fill(shared)
            os.pwrite(self._handle, _COMPLETE, _whole_pages(self._size))
        except BaseException:
            _unlink(self._path, self._handle)
            self.close_handle()
            raise
        fcntl.flock(self._handle, fcntl.LOCK_SH)

    def release(self):
        """End the use; the last user removes the file."""
        if self._handle is None:
            return
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _unlink(self._path, self._handle)
        self.close_handle()

    def close_handle(self):
        """Give up the lock."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _whole_pages(size):
    return mmap.PAGESIZE * -(-size // mmap.PAGESIZE)


def remove_unused(folder, keep=None):
    """Remove copies without users.

    Parameters
    ----------
    folder : path-like
    keep : path-like, optional
        One that is just being made.
    """
    for path in Path(folder).glob(f"*{_SUFFIX}"):
        if path != keep:
            with contextlib.suppress(FileNotFoundError, BlockingIOError):
                handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _unlink(path, handle)
                finally:
                    os.close(handle)


def _unlink(path, handle):
    """Remove a locked file, unless another has taken its name."""
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(handle), os.stat(path)):
            path.unlink()
