"""The cache folder, and a hash of all kernels that tells which compiled ones are out of date."""

import hashlib
import os
import re
from functools import cache
from pathlib import Path

import ovaflow

_PACKAGE = Path(ovaflow.__file__).parent
_HAS_KERNELS = re.compile(rb"^from ovaflow\.sparse\.jit import .*(kernel|callee)", re.MULTILINE)


def cache_folder() -> Path:
    """Find the folder that all jobs share: ``$OVAFLOW_CACHE`` or ``~/.cache/ovaflow``."""
    return Path(os.environ.get("OVAFLOW_CACHE") or Path.home() / ".cache" / "ovaflow")


@cache
def kernel_fingerprint() -> str:
    """Hash every module that compiles kernels.

    One hash is made of all, since a compiled kernel includes those that it calls, of other modules
    too. No module that a workflow brings along has kernels; its jobs run the ovaflow of their
    environment.
    """
    digest = hashlib.blake2b(ovaflow.__version__.encode(), digest_size=16)
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if _HAS_KERNELS.search(source) or path.name == "jit.py":
            digest.update(source)
    return digest.hexdigest()
