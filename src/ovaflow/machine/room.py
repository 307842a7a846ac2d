"""Whether there is memory for what a file announces, before it is asked for."""

import resource

import psutil

from ovaflow.console.errors import InputError
from ovaflow.machine.allowance import read_allowance

ALWAYS = 1 << 28
"""Bytes that are not asked about."""


def require_room(count, bytes_each, what, path):
    """Refuse a file that announces more than this machine has memory for.

    Parameters
    ----------
    count : int
        Things announced.
    bytes_each : int
        That each of them takes, at least.
    what : str
        Their name.
    path : path-like
        For the message.

    Raises
    ------
    InputError
    """
    needed = count * bytes_each
    if needed <= ALWAYS:
        return
    left = memory_left()
    if needed > left:
        raise InputError(
            f"it announces {count:,} {what}, which take {needed >> 20:,} MB, and {left >> 20:,} MB are left",
            path=path,
            remedy="give the job more memory if you trust the file",
        )


def memory_left():
    """Memory that this process can still have.

    Returns
    -------
    int
        Bytes: of the machine, of its control groups, and of its address space (ulimit -v).
    """
    limits = [psutil.virtual_memory().available]
    allowed = read_allowance().memory_left
    limits += [] if allowed is None else [allowed]
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    limits += [] if most == resource.RLIM_INFINITY else [max(0, most - psutil.Process().memory_info().vms)]
    return min(limits)
