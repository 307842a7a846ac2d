"""Locks that the kernel releases when their process dies, SIGKILL included."""

import fcntl
import os
import time

_PAUSE = 0.05


def open_locked(path, mode, patience=None):
    """Open a file, made if need be, and lock it for as long as it is open.

    Parameters
    ----------
    path : path-like
    mode : int
        As of :func:`fcntl.flock`.
    patience : float, optional
        Seconds to wait for it; without them, as long as it takes.

    Returns
    -------
    int
        Its descriptor.

    Raises
    ------
    BlockingIOError
        If another holds it and the mode does not wait, or not any longer.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock(handle, mode, patience)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _lock(handle, mode, patience):
    end = time.monotonic() + (patience or 0.0)
    while patience is not None and time.monotonic() < end:
        try:
            return fcntl.flock(handle, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE)
    fcntl.flock(handle, mode if patience is None else mode | fcntl.LOCK_NB)
