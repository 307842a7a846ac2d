"""The one place for jit flags.

Kernels release the interpreter lock, so that plain threads run them side by
side, and are compiled once per version of the source, Numba and CPU type: of
many processes that start together one compiles a kernel, the others wait for
what it stores.
"""

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path

import numba
from llvmlite import binding
from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock

from ovaflow.fingerprint import kernel_fingerprint
from ovaflow.machine.locks import open_locked

_PATIENCE = 100.0
"""Seconds; kernels take ten at most to compile."""

FASTMATH = frozenset({"reassoc", "contract", "nsz", "arcp"})
"""Sums may be reordered and fused, which vector code needs; nan and inf keep their meaning."""


def cache_directory():
    """Folder of the compiled kernels, made if need be.

    A cached caller keeps an old callee of another file, so the folder's name
    carries a hash of the source of all kernels, beside Numba's version and the
    CPU's name.

    Returns
    -------
    pathlib.Path
        ``$OVAFLOW_CACHE`` or ``~/.cache/ovaflow``, then the key; where that
        cannot be written, a folder of the user's in the system's temporary
        folder.
    """
    cpu = numba.config.CPU_NAME or binding.get_host_cpu_name()
    key = f"kernels-{kernel_fingerprint()[:16]}-{numba.__version__}-{cpu}"
    base = Path(os.environ.get("OVAFLOW_CACHE") or Path.home() / ".cache" / "ovaflow")
    try:
        (base / key).mkdir(parents=True, exist_ok=True)
        if not os.access(base / key, os.W_OK):
            raise PermissionError(base / key)
    except OSError:
        base = Path(tempfile.gettempdir()) / f"ovaflow-{os.getuid()}"
        (base / key).mkdir(parents=True, exist_ok=True, mode=0o700)
    return base / key


_DIRECTORY = cache_directory()


class _SharedCache(FunctionCache):
    """Cache of a kernel's versions; whoever finds none there holds a lock until it has compiled one."""

    _lock = None

    def load_overload(self, sig, target_context):
        """As of :class:`numba.core.caching.FunctionCache`."""
        found = super().load_overload(sig, target_context)
        if found is None:
            # a file system may have no locks, and who holds one may be suspended: then each compiles for itself
            with contextlib.suppress(OSError):
                self._lock = open_locked(self._lock_path, fcntl.LOCK_EX, _PATIENCE)
            found = super().load_overload(sig, target_context)
        return found

    @property
    def _lock_path(self):
        return _DIRECTORY / f"{self._py_func.__module__}.{self._py_func.__qualname__}.lock"

    def close(self):
        """Let another process compile."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _compiled(**flags):
    """Decorator of kernels; a kernel holds its callers' locks and never waits for them, since calls have no cycle."""

    def decorate(function):
        # again for each kernel: Numba forgets it when a variable of its own changes and it reads its settings anew
        numba.config.CACHE_DIR = str(_DIRECTORY)
        dispatcher = numba.njit(nogil=True, error_model="numpy", **flags)(function)
        compile_version = dispatcher.compile
        dispatcher._cache = cache = _SharedCache(function)

        def compile_once(signature):
            # threads take Numba's own lock before that of the file, or two of them could wait for each other
            with global_compiler_lock, contextlib.closing(cache):
                return compile_version(signature)

        dispatcher.compile = compile_once
        return dispatcher

    return decorate


kernel = _compiled(fastmath=set(FASTMATH))
"""Decorator of numerical kernels."""

strict_kernel = _compiled()
"""Decorator of kernels that parse, count, sort, or must round exactly as written."""
