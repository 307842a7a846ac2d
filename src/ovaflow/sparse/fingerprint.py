"""The folder of what all jobs share, and a hash of all kernels, which tells those that older code
compiled.
"""

import hashlib
import os
import re
from functools import cache
from pathlib import Path

import ovaflow

_PACKAGE = Path(ovaflow.__file__).parent
_HAS_KERNELS = re.compile(rb"^from ovaflow\.sparse\.jit import .*kernel", re.MULTILINE)


def cache_folder():
    """``$OVAFLOW_CACHE`` or ``~/.cache/ovaflow``."""
    return Path(os.environ.get("OVAFLOW_CACHE") or Path.home() / ".cache" / "ovaflow")


@cache
def kernel_fingerprint():
    """Hash of every module that compiles kernels: those that Numba keeps hold what they call, of
    other modules too.

    Of the modules that a workflow brings along none has kernels; their jobs run the ovaflow of
    their environment.
    """
    digest = hashlib.blake2b(ovaflow.__version__.encode(), digest_size=16)
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if _HAS_KERNELS.search(source) or path.name == "jit.py":
            digest.update(source)
    return digest.hexdigest()
