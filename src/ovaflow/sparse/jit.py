"""The one place for jit flags.

Kernels release the interpreter lock, so that plain threads run them side by
side, and are compiled once per version of the source, Numba and CPU type.
"""

import os
import tempfile
from pathlib import Path

import numba
from llvmlite import binding

from ovaflow.fingerprint import kernel_fingerprint

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
    key = f"kernels-{kernel_fingerprint()[:16]}-{numba.__version__}-{binding.get_host_cpu_name()}"
    base = Path(os.environ.get("OVAFLOW_CACHE") or Path.home() / ".cache" / "ovaflow")
    try:
        (base / key).mkdir(parents=True, exist_ok=True)
        if not os.access(base / key, os.W_OK):
            raise PermissionError(base / key)
    except OSError:
        base = Path(tempfile.gettempdir()) / f"ovaflow-{os.getuid()}"
        (base / key).mkdir(parents=True, exist_ok=True, mode=0o700)
    return base / key


numba.config.CACHE_DIR = str(cache_directory())

kernel = numba.njit(cache=True, nogil=True, fastmath=set(FASTMATH), error_model="numpy")
"""Decorator of numerical kernels."""

strict_kernel = numba.njit(cache=True, nogil=True, error_model="numpy")
"""Decorator of kernels that parse, count, sort, or must round exactly as written."""
