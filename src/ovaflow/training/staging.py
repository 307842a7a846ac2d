"""A copy of the dataset on a disk of the machine that trains, for file systems that are slow or far away.

The first job of a machine copies, those that run at the same time use the same copy, and the last one removes it. Jobs
hold a shared lock on the copy, which the kernel releases however they end: what a killed job left behind is used by the
next job of the same dataset, and removed by the next of any other.
"""

import contextlib
import fcntl
import os
import shutil
import sys
from pathlib import Path

from ovaflow.data.dataset import KIND
from ovaflow.storage.artifact import checksum_of, open_artifact

_SPARE = 1 << 28


@contextlib.contextmanager
def staged(path, scratch=None):
    """The path to read a dataset from while the block runs: a copy in ``scratch``, made unless another job has done so.

    The same folder is given to all jobs. Without one, or without room for a copy, it is ``path`` itself, which costs
    only time and is reported.
    """
    if scratch is None:
        yield path
        return
    with open_artifact(path, KIND) as file:
        name = checksum_of(file)
    lock = None
    try:
        folder = _own_folder(scratch)
        _remove_unused(folder, name)
        lock, copy = _share(Path(path), folder, name)
    except OSError as error:
        _say(f"no copy of {path} on {scratch}, read where it is: {error.strerror or error}")
    if lock is None:
        yield path
        return
    try:
        yield copy
    finally:
        _leave(lock, copy)


def _own_folder(scratch):
    folder = Path(scratch) / f"ovaflow-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PermissionError(0, f"{folder} belongs to somebody else")
    return folder


def _share(source, folder, name):
    """Shared lock on a complete copy; who finds none makes it under an exclusive one."""
    copy, lock_file = folder / f"{name}.h5", folder / f"{name}.lock"
    while True:
        lock = _locked(lock_file, fcntl.LOCK_SH)
        if _complete(copy, source):
            return lock, copy
        os.close(lock)
        lock = _locked(lock_file, fcntl.LOCK_EX)
        try:
            if not _complete(copy, source):
                _copy(source, copy)
        except BaseException:
            _remove(copy)
            raise
        finally:
            os.close(lock)


def _complete(copy, source):
    return copy.exists() and copy.stat().st_size == source.stat().st_size


def _copy(source, copy):
    size, free = source.stat().st_size, shutil.disk_usage(copy.parent).free
    partial = copy.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    if free < size + _SPARE:
        raise OSError(0, f"{free / 1e6:,.0f} MB free, {size / 1e6:,.0f} MB needed and some to spare")
    try:
        shutil.copyfile(source, partial)
        partial.replace(copy)
    finally:
        partial.unlink(missing_ok=True)
    _say(f"{size / 1e6:,.0f} MB copied to {copy}")


def _locked(path, operation):
    """Descriptor of a locked file, whichever process made or removed it meanwhile."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, operation)
        except OSError:
            os.close(lock)
            raise
        if _is_lock_of(lock, path):
            return lock
        os.close(lock)


def _is_lock_of(lock, path):
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path))
    except FileNotFoundError:
        return False


def _leave(lock, copy):
    """Give the copy up; remove it if nobody else uses it."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(copy)
    os.close(lock)


def _remove_unused(folder, name):
    """Remove copies of other datasets that killed jobs left."""
    for lock_file in folder.glob("*.lock"):
        if lock_file.stem != name:
            with contextlib.suppress(BlockingIOError):
                lock = _locked(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(lock_file.with_suffix(".h5"))
                os.close(lock)


def _remove(copy):
    """Remove a copy whose lock is held exclusively, the lock last."""
    for ending in (".h5", ".partial", ".lock"):
        copy.with_suffix(ending).unlink(missing_ok=True)


def _say(text):
    print(f"scratch: {text}", file=sys.stderr, flush=True)
