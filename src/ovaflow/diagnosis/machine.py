"""What the machine gives: CPUs, NUMA nodes, memory, disk, clock, locale."""

import locale
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from ovaflow.diagnosis.finding import Finding, fail, ok, warn
from ovaflow.machine.allowance import Allowance, read_allowance
from ovaflow.machine.system_calls import policy
from ovaflow.machine.topology import Node, processor, read_topology

GIB = 1 << 30
_LITTLE_MEMORY, _LITTLE_DISK = 2 * GIB, 2 * GIB
_SKEW = 2.0
"""Seconds that clocks may differ by before Snakemake takes old files for new ones."""


def check_threads(allowance: Allowance | None = None) -> Iterator[Finding]:
    """CPUs and CPU time that this process may use.

    Parameters
    ----------
    allowance : Allowance, optional
        That of this process by default.

    Yields
    ------
    Finding
    """
    allowed = read_allowance() if allowance is None else allowance
    whole = os.cpu_count() or 1
    said = f"{len(allowed.cpus)} of {whole} CPUs ({processor()})"
    if allowed.quota is not None and allowed.quota < len(allowed.cpus):
        yield warn(
            "threads",
            f"{said}, with the time of {allowed.quota:g} by the control group",
            f"call snakemake --cores {allowed.cores} instead of --cores all, which takes every CPU it sees",
        )
    else:
        yield ok("threads", said)


def check_numa(nodes: list[Node] | None = None) -> Iterator[Finding]:
    """NUMA nodes, and whether memory can be bound to them.

    Parameters
    ----------
    nodes : list of Node, optional
        Those of this machine by default.

    Yields
    ------
    Finding
    """
    nodes = list(read_topology()) if nodes is None else nodes
    if os.environ.get("OVAFLOW_NUMA") == "off":
        yield ok("numa", "left to the kernel: OVAFLOW_NUMA=off")
        return
    if len(nodes) == 1:
        yield ok("numa", "one node, nothing to place")
        return
    said = f"{len(nodes)} nodes of {' and '.join(sorted({str(len(node.cpus)) for node in nodes}))} CPUs"
    try:
        policy()
    except OSError as error:
        yield warn(
            "numa",
            f"{said}; memory cannot be bound: {error.strerror}",
            "in Docker: --cap-add SYS_NICE; without it threads are pinned and first touch places memory",
        )
    else:
        yield ok("numa", f"{said}; jobs take cores of one and memory there")


def check_memory(allowance: Allowance | None = None) -> Iterator[Finding]:
    """Memory of the machine, and the limit of the control group.

    Parameters
    ----------
    allowance : Allowance, optional
        That of this process by default.

    Yields
    ------
    Finding
    """
    allowed = read_allowance() if allowance is None else allowance
    machine = psutil.virtual_memory()
    left = min(machine.available, machine.available if allowed.memory_left is None else allowed.memory_left)
    limit = "" if allowed.memory is None else f", limit of the control group {allowed.memory / GIB:.1f} GiB"
    said = f"{left / GIB:.1f} GiB free of {machine.total / GIB:.1f} GiB{limit}"
    if left < _LITTLE_MEMORY:
        yield warn("memory", said, "run one job at a time (--cores 1), and see `ovaflow estimate` for what they need")
    else:
        yield ok("memory", said)


def places(folder: Path) -> dict[str, Path]:
    """Folders that runs write to.

    Parameters
    ----------
    folder : pathlib.Path
        Where Snakemake is called.

    Returns
    -------
    dict of str to pathlib.Path
    """
    found = {"results": folder, "temporary files": Path(tempfile.gettempdir())}
    if scratch := os.environ.get("OVAFLOW_SCRATCH"):
        found["scratch (OVAFLOW_SCRATCH)"] = Path(scratch)
    return found


def check_disk(folder: Path) -> Iterator[Finding]:
    """Space and permission in the folders that runs write to.

    Parameters
    ----------
    folder : pathlib.Path
        Where Snakemake is called.

    Yields
    ------
    Finding
    """
    for what, place in places(folder).items():
        said = f"{what}: {place}"
        try:
            with tempfile.TemporaryFile(dir=place):
                free = shutil.disk_usage(place).free
        except OSError as error:
            yield fail(
                "disk", f"{said}: {error.strerror}", "call Snakemake in a folder of yours, or make this one writable"
            )
            continue
        said += f", {free / GIB:.1f} GiB free"
        if free < _LITTLE_DISK:
            yield warn("disk", said, "make room: a model and its shards take several times the size of the dataset")
        else:
            yield ok("disk", said)


def check_clock(folder: Path) -> Iterator[Finding]:
    """Whether files get the time that this machine has: Snakemake compares their times.

    Parameters
    ----------
    folder : pathlib.Path
        Where Snakemake is called.

    Yields
    ------
    Finding
    """
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            apart = os.stat(file.name).st_mtime - time.time()
    except OSError:
        # said by check_disk
        return
    if abs(apart) > _SKEW:
        yield warn(
            "clock",
            f"files written here are {abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} this machine's clock",
            "synchronise the clocks of this machine and the file server (NTP), or steps may run again for no reason",
        )
    else:
        yield ok("clock", f"{time.strftime('%Y-%m-%d %H:%M %Z')}, files here agree")


def check_locale() -> Iterator[Finding]:
    """Whether file names and terminal hold any letter.

    Yields
    ------
    Finding
    """
    used = {locale.getpreferredencoding(False), sys.getfilesystemencoding()}
    if {encoding.lower().replace("-", "") for encoding in used} <= {"utf8"}:
        yield ok("locale", "UTF-8")
    else:
        yield warn("locale", f"not UTF-8: {', '.join(sorted(used))}", "export LC_ALL=C.UTF-8")
