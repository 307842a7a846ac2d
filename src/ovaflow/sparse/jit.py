"""Decorators of kernels with all jit flags, and the cache of compiled kernels.

Kernels release the interpreter lock, so that plain threads run them in
parallel, and are compiled once per version of the source, Numba and CPU type.
Several processes may write to Numba's cache at a time: each of those that
start together compiles what it does not find.
"""

import contextlib
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding

from ovaflow.sparse.fingerprint import cache_folder, kernel_fingerprint

_LAST_BYTE = b"."
"""Every file of the cache ends with it, as a pickle does."""

_PROBE_BYTES = 4096
"""Bytes that are written to see whether the folder can be written to."""

_NEEDED_BYTES = 1 << 26
"""Free space that the cache needs: all kernels take half of it, and Numba raises an error where it
cannot store one.
"""

FASTMATH = frozenset({"reassoc", "contract", "nsz", "arcp"})
"""Sums may be reordered and fused, which vector code needs; nan and inf keep their meaning."""


@cache
def cache_directory() -> Path | None:
    """Make the folder of the compiled kernels; None if it cannot be written or is full."""
    # a cached caller keeps an old callee of another file, and CPUs differ
    config: Any = numba.config
    cpu = config.CPU_NAME or binding.get_host_cpu_name()
    base = cache_folder()
    folder = base / f"kernels-{kernel_fingerprint()[:16]}-{numba.__version__}-{cpu}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(bytes(_PROBE_BYTES))
        if shutil.disk_usage(folder).free < _NEEDED_BYTES:
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
    _remove_truncated_files(folder)
    return folder


def _remove_truncated_files(folder: Path) -> None:
    """Remove files that a crash of the machine left incomplete: Numba would run them, or fail."""
    for path in folder.rglob("*.nb[ci]"):
        # another process may remove it meanwhile
        with contextlib.suppress(OSError), open(path, "rb") as file:
            file.seek(max(path.stat().st_size - len(_LAST_BYTE), 0))
            if file.read() != _LAST_BYTE:
                path.unlink()


def _make_decorator(**options: Any) -> Callable[[Callable], Any]:
    def decorate(function: Callable) -> Any:
        folder = cache_directory()
        config: Any = numba.config
        # no C code calls a kernel
        flags: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
        compiler = numba.njit(cache=folder is not None, **flags, **options)
        # for this function alone: a program keeps its own functions elsewhere
        default = config.CACHE_DIR
        config.CACHE_DIR = str(folder or "")
        compiled = compiler(function)
        config.CACHE_DIR = default
        return compiled

    return decorate


kernel = _make_decorator(fastmath=set(FASTMATH))
"""Decorator of numerical kernels."""

callee = _make_decorator(fastmath=set(FASTMATH), no_cpython_wrapper=True)
"""Decorator of numerical kernels that only kernels call: called from Python they crash, since what
would unpack their arguments is not compiled.
"""

inner_kernel = _make_decorator(fastmath=set(FASTMATH), inline="always")
"""Decorator of numerical kernels with one or two callers, into which they are always inlined."""

strict_kernel = _make_decorator()
"""Decorator of kernels that parse, count, sort, or must round exactly as written."""

strict_callee = _make_decorator(no_cpython_wrapper=True)
"""Decorator of those that only kernels call."""
