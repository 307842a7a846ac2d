"""The one place for jit flags, and for the cache of compiled kernels.

Kernels release the interpreter lock, so that plain threads run them in
parallel, and are compiled once per version of the source, Numba and CPU type.
Numba's cache may be written by several processes at a time: of those that
start together each compiles what it does not find.
"""

import contextlib
import errno
import os
import shutil
import sys
import tempfile
from functools import cache

import numba
from llvmlite import binding

from ovaflow.sparse.fingerprint import cache_folder, kernel_fingerprint

_END = b"."  # every file of the cache ends as a pickle does

_ROOM = 1 << 26
"""Bytes; all kernels take half of it, and Numba raises an error where it cannot store one."""

FASTMATH = frozenset({"reassoc", "contract", "nsz", "arcp"})
"""Sums may be reordered and fused, which vector code needs; nan and inf keep their meaning."""


@cache
def cache_directory():
    """Folder of the compiled kernels, made if need be; None if it cannot be written or is full."""
    # a cached caller keeps an old callee of another file, and CPUs differ
    cpu = numba.config.CPU_NAME or binding.get_host_cpu_name()
    base = cache_folder()
    folder = base / f"kernels-{kernel_fingerprint()[:16]}-{numba.__version__}-{cpu}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(bytes(4096))
        if shutil.disk_usage(folder).free < _ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        reason = error.strerror or error
        print(
            f"compiled kernels: {base} cannot be written ({reason}): each job compiles its own;"
            " set OVAFLOW_CACHE to another folder",
            file=sys.stderr,
            flush=True,
        )
        return None
    _remove_cut_short(folder)
    return folder


def _remove_cut_short(folder) -> None:
    """Remove what a crash of the machine left incomplete: Numba would run it, or fail."""
    for path in folder.rglob("*.nb[ci]"):
        # another process may remove it meanwhile
        with contextlib.suppress(OSError), open(path, "rb") as file:
            file.seek(max(path.stat().st_size - len(_END), 0))
            if file.read() != _END:
                path.unlink()


def _compiled(**flags):
    def decorate(function):
        folder = cache_directory()
        config = numba.config
        compiler = numba.njit(nogil=True, error_model="numpy", cache=folder is not None, **flags)
        # for this function alone: a program keeps its own functions elsewhere
        default = config.CACHE_DIR
        config.CACHE_DIR = str(folder or "")
        compiled = compiler(function)
        config.CACHE_DIR = default
        return compiled

    return decorate


kernel = _compiled(fastmath=set(FASTMATH))
"""Decorator of numerical kernels."""

inner_kernel = _compiled(fastmath=set(FASTMATH), inline="always")
"""Decorator of numerical kernels that hardly more than one other calls, with whose code alone they
are compiled.
"""

strict_kernel = _compiled()
"""Decorator of kernels that parse, count, sort, or must round exactly as written."""
