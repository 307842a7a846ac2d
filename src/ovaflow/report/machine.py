"""The machine and the software at work."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import psutil

from ovaflow import __version__
from ovaflow.machine.topology import processor, read_topology
from ovaflow.report import wording

PACKAGES = ("numba", "llvmlite", "numpy", "scipy", "scikit-learn", "h5py", "pyarrow", "snakemake")

VARIABLES = ("OVAFLOW_NUMA", "NUMBA_CPU_NAME", "NUMBA_DISABLE_JIT", "LANG")
"""Variables of the environment that change how fast something runs or how it looks, and hold nothing secret."""


def describe_machine():
    """The machine that this process runs on.

    Returns
    -------
    list of (str, str)
        Name and value.
    """
    memory = psutil.virtual_memory().total
    cores = f"{psutil.cpu_count(logical=False) or '?'} physical, {psutil.cpu_count() or '?'} logical"
    return [
        ("processor", processor()),
        ("cores", cores),
        ("NUMA nodes", str(len(read_topology()))),
        ("memory", wording.size(memory)),
        ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
    ]


def describe_software():
    """Versions of what computed the results, and what the environment sets.

    Returns
    -------
    list of (str, str)
        Package and version, variable and value.
    """
    found = [("ovaflow", __version__), ("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, "not installed"))
    return found + [(name, os.environ[name]) for name in VARIABLES if name in os.environ]
