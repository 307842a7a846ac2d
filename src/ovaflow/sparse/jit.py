"""The one place for jit flags.

Kernels release the interpreter lock, so that plain threads run them side by
side, and are compiled once per version of the source, Numba and CPU type: of
many processes that start together one compiles a kernel, the others wait for
what it stores.
"""

import contextlib
import errno
import fcntl
import os
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path

import numba
from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler_lock import global_compiler_lock

from ovaflow.fingerprint import kernel_fingerprint
from ovaflow.machine.shared_files import open_locked

_PATIENCE = 100.0
"""Seconds; kernels take ten at most to compile."""

FASTMATH = frozenset({"reassoc", "contract", "nsz", "arcp"})
"""Sums may be reordered and fused, which vector code needs; nan and inf keep their meaning."""


def _private(folder):
    """A folder in a place where everybody may make it first, and fill it with code of their own."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(errno.EPERM, "belongs to somebody else", str(folder))
    return folder


def cache_directory():
    """Folder of the compiled kernels, made if need be.

    A cached caller keeps an old callee of another file, so the folder's name
    carries a hash of what all kernels compute, Numba's version and the CPU's
    name. (Numba itself compiles a file again whose text alone has changed.) It
    is in ``$OVAFLOW_CACHE`` or ``~/.cache/ovaflow``; where that cannot be
    written, in a folder of the user's in the system's temporary folder; None
    where neither can.
    """
    cpu = numba.config.CPU_NAME or binding.get_host_cpu_name()
    key = f"kernels-{kernel_fingerprint()[:16]}-{numba.__version__}-{cpu}"
    base = Path(os.environ.get("OVAFLOW_CACHE") or Path.home() / ".cache" / "ovaflow")
    own = Path(tempfile.gettempdir()) / f"ovaflow-{os.getuid()}"
    try:
        return _writable(base / key, 0o777)
    except OSError as error:
        reason = f"{base} cannot be written ({error.strerror or error})"
    try:
        found = _writable(_private(own) / key, 0o700)
    except OSError:
        _warn(f"{reason}, nor can {own.parent}: each job compiles its own; set OVAFLOW_CACHE to another folder")
        return None
    _warn(f"{reason}: they are kept in {own}; set OVAFLOW_CACHE to choose another folder")
    return found


def _writable(folder, mode):
    """The folder, made if need be, in which a page was written."""
    folder.mkdir(parents=True, exist_ok=True, mode=mode)
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(bytes(4096))
    return folder


@cache
def _warn(text):
    """Say something once."""
    print(f"compiled kernels: {text}", file=sys.stderr, flush=True)


_DIRECTORY = cache_directory()


class _OwnFolder(CompileResultCacheImpl):
    """Versions of a kernel in our folder or nowhere, never beside the source."""

    # the first is the one that CACHE_DIR tells
    _locator_classes = CompileResultCacheImpl._locator_classes[:1]


class _SharedCache(FunctionCache):
    """Cache of a kernel's versions; whoever finds none there holds a lock until it has compiled one."""

    _impl_class = _OwnFolder
    _lock = None

    def load_overload(self, sig, target_context):
        """As of :class:`numba.core.caching.FunctionCache`."""
        found = self._load(sig, target_context)
        if found is None:
            # a file system may have no locks, and who holds one may be suspended: then each compiles for itself
            with contextlib.suppress(OSError):
                self._lock = open_locked(self._lock_path, fcntl.LOCK_EX, _PATIENCE)
            found = self._load(sig, target_context)
        return found

    def _load(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # a damaged pickle raises anything
            _warn(f"{self._py_func.__qualname__} is damaged ({error!r}): compiled anew")
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig, data):
        """As of :class:`numba.core.caching.FunctionCache`; a kernel that cannot be stored is used all the same."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn(f"not stored in {_DIRECTORY} ({error.strerror or error}): each job compiles its own")

    @property
    def _lock_path(self):
        return _DIRECTORY / f"{self._py_func.__module__}.{self._py_func.__qualname__}.lock"

    def close(self):
        """Let another process compile."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _cache_of(function):
    """Cache of a kernel, if there is any."""
    if _DIRECTORY is None:
        return None
    try:
        return _SharedCache(function)
    except (OSError, RuntimeError) as error:
        _warn(f"not kept in {_DIRECTORY} ({error}): each job compiles its own")
        return None


def _compiled(**flags):
    """Decorator of kernels; a kernel holds its callers' locks and never waits for them, since calls have no cycle."""

    def decorate(function):
        # again for each kernel: Numba forgets it when a variable of its own changes and it reads its settings anew
        numba.config.CACHE_DIR = str(_DIRECTORY or "")
        dispatcher = numba.njit(nogil=True, error_model="numpy", **flags)(function)
        kept = _cache_of(function)
        if kept is None:
            return dispatcher
        compile_version = dispatcher.compile
        dispatcher._cache = kept

        def compile_once(signature):
            # threads take Numba's own lock before that of the file, or two of them could wait for each other
            with global_compiler_lock, contextlib.closing(kept):
                return compile_version(signature)

        dispatcher.compile = compile_once
        return dispatcher

    return decorate


kernel = _compiled(fastmath=set(FASTMATH))
"""Decorator of numerical kernels."""

strict_kernel = _compiled()
"""Decorator of kernels that parse, count, sort, or must round exactly as written."""
