"""The one place for jit flags, and for the cache of compiled kernels.

Kernels release the interpreter lock, so that plain threads run them in
parallel, and are compiled once per version of the source, Numba and CPU type.
Numba's cache may be written by several processes at a time: of those that
start together each compiles what it does not find.
"""

import atexit
import contextlib
import errno
import json
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

import numba
from llvmlite import binding
from numba.core.caching import UserProvidedCacheLocator
from xxhash import xxh3_128

from ovaflow.fingerprint import cache_folder, kernel_fingerprint

_CHECKSUMS = "checksums.json"

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
    return folder


class CheckedFolder(UserProvidedCacheLocator):
    """Where Numba keeps a kernel; with checksums, since it would execute what a damaged file holds."""

    @classmethod
    def from_function(cls, py_func, py_file):
        locator = cls(py_func, py_file)
        _check_once(locator.get_cache_path())
        return locator

    def ensure_cache_path(self):
        """Withdraw the checksums, since Numba writes next."""
        super().ensure_cache_path()
        Path(self.get_cache_path(), _CHECKSUMS).unlink(missing_ok=True)
        _check_at_exit(self.get_cache_path())


def _check(folder):
    """Remove files that differ from their checksums; if there are none, write them."""
    checksums, digests = Path(folder, _CHECKSUMS), {}
    expected = _read(checksums)
    for path in Path(folder).glob("*.nb[ci]"):
        # another process may remove it meanwhile
        with contextlib.suppress(OSError):
            content = path.read_bytes()
            # a crash of the machine may cut short what has no checksum yet
            digests[path.name] = xxh3_128(content).hexdigest() if content.endswith(b".") else ""
    if expected is None:
        expected = {name: digest for name, digest in digests.items() if digest}
        partial = checksums.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            partial.write_text(json.dumps(expected))
            partial.replace(checksums)
    damaged = [name for name, digest in digests.items() if digest != expected.get(name)]
    # else another process writes, and its files are new
    if damaged and _read(checksums) == expected:
        for name in damaged:
            Path(folder, name).unlink(missing_ok=True)


def _read(checksums):
    try:
        return json.loads(checksums.read_bytes())
    except (OSError, ValueError):
        return None


_check_once = cache(_check)


@cache
def _check_at_exit(folder):
    atexit.register(_list_anew, folder)


def _list_anew(folder):
    # a process that started meanwhile may have listed what was there then
    Path(folder, _CHECKSUMS).unlink(missing_ok=True)
    _check(folder)


def _compiled(**flags):
    def decorate(function):
        folder, config = cache_directory(), numba.config
        compiler = numba.njit(nogil=True, error_model="numpy", cache=folder is not None, **flags)
        # for this function alone: a program keeps its own functions elsewhere
        defaults = config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = str(folder), f"{__name__}.{CheckedFolder.__name__}"
        compiled = compiler(function)
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = defaults
        return compiled

    return decorate


kernel = _compiled(fastmath=set(FASTMATH))
"""Decorator of numerical kernels."""

inner_kernel = _compiled(fastmath=set(FASTMATH), inline="always")
"""Decorator of numerical kernels that hardly more than one other calls, with whose code alone they are compiled."""

strict_kernel = _compiled()
"""Decorator of kernels that parse, count, sort, or must round exactly as written."""
