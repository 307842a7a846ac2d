"""The one place for jit flags, and for the cache of compiled kernels.

Kernels release the interpreter lock, so that plain threads run them in
parallel, and are compiled once per version of the source, Numba and CPU type:
of many processes that start together one compiles, the others wait for what it
stores.
"""

import contextlib
import errno
import fcntl
import os
import shutil
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from threading import Lock

import numba
from llvmlite import binding
from numba.core import event

from ovaflow.fingerprint import kernel_fingerprint
from ovaflow.machine.shared_files import PAUSE, open_locked

_ROOM = 1 << 26
"""Bytes; all kernels take half of it, and Numba raises an error where it cannot store one."""

_PATIENCE = 60.0
"""Seconds; kernels take ten at most to compile."""

FASTMATH = frozenset({"reassoc", "contract", "nsz", "arcp"})
"""Sums may be reordered and fused, which vector code needs; nan and inf keep their meaning."""


def cache_directory():
    """Folder of the compiled kernels, made if need be.

    A cached caller keeps an old callee of another file, so the folder's name
    carries a hash of what all kernels compute, Numba's version and the CPU's
    name. (Numba itself compiles a file again whose text alone has changed.) It
    is in ``$OVAFLOW_CACHE`` or ``~/.cache/ovaflow``; None where that cannot be
    written, or has no room.
    """
    cpu = numba.config.CPU_NAME or binding.get_host_cpu_name()
    key = f"kernels-{kernel_fingerprint()[:16]}-{numba.__version__}-{cpu}"
    base = Path(os.environ.get("OVAFLOW_CACHE") or Path.home() / ".cache" / "ovaflow")
    folder = base / key
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(bytes(4096))
        if shutil.disk_usage(folder).free < _ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        reason = error.strerror or error
        _warn(f"{base} cannot be written ({reason}): each job compiles its own; set OVAFLOW_CACHE to another folder")
        return None
    return folder


@cache
def _warn(text):
    """Say something once."""
    print(f"compiled kernels: {text}", file=sys.stderr, flush=True)


def _remove_damaged(folder):
    """Remove files that do not end as Numba's do, which it would fail to load: cut short, or zeros after a crash."""
    for path in folder.glob("*/*.nb[ci]"):
        # other processes may remove it meanwhile
        with contextlib.suppress(OSError), path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 1))
            if file.read() != b".":
                _warn(f"{path.name} is damaged: compiled anew")
                path.unlink()


class _OneProcess(event.Listener):
    """While this process loads, compiles or stores kernels, others wait for its lock of the folder."""

    def __init__(self, folder):
        self._path, self._users, self._guard, self._handle = folder / "lock", 0, Lock(), None
        self._since, self._patience = 0.0, _PATIENCE

    def on_start(self, event):
        """Before Numba's own lock is taken, which may happen again inside, and in several threads."""
        with self._guard:
            self._users += 1
            if self._users == 1:
                try:
                    self._handle = open_locked(self._path, fcntl.LOCK_EX, self._patience)
                except OSError:
                    # a file system may have no locks, and who holds one may be suspended: then each compiles its own
                    self._handle, self._patience = None, 0.0
                self._since = time.monotonic()

    def on_end(self, event):
        """After Numba's own lock is released."""
        with self._guard:
            self._users -= 1
            if not self._users and self._handle is not None:
                os.close(self._handle)
                self._handle = None
                if time.monotonic() - self._since > PAUSE:
                    # others look for the lock once in a pause, and this process takes it again for its next kernel
                    time.sleep(2 * PAUSE)


_DIRECTORY = cache_directory()
if _DIRECTORY is not None:
    _remove_damaged(_DIRECTORY)
    # the first dispatcher prepares Numba under its lock: nobody needs to wait for that
    numba.njit(lambda: None)
    event.register("numba:compiler_lock", _OneProcess(_DIRECTORY))


def _compiled(**flags):
    def decorate(function):
        # for each kernel: Numba forgets it when a variable of its own changes and it reads its settings anew
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(_DIRECTORY)
        try:
            return numba.njit(nogil=True, error_model="numpy", cache=_DIRECTORY is not None, **flags)(function)
        finally:
            numba.config.CACHE_DIR = before

    return decorate


kernel = _compiled(fastmath=set(FASTMATH))
"""Decorator of numerical kernels."""

strict_kernel = _compiled()
"""Decorator of kernels that parse, count, sort, or must round exactly as written."""
