"""Where pages of memory really lie, asked page by page of the kernel (move_pages)."""

import ctypes
import mmap
from collections import Counter

from ovaflow.machine.system_calls import nodes_of

MOST = 1024
"""Pages that are asked for, evenly spaced."""


def pages_by_node(ranges, pid=0, most=MOST):
    """How many pages of some memory lie on each node.

    Parameters
    ----------
    ranges : list of (int, int)
        First address and size in bytes of each.
    pid : int
        Whose memory; 0 is this process.
    most : int
        About as many pages are asked for.

    Returns
    -------
    Counter of int to int
        Pages by node; those that nobody has touched yet are not counted.

    Raises
    ------
    OSError
        If the kernel or a container refuses.
    """
    size = mmap.PAGESIZE
    total = sum(-(-length // size) for _, length in ranges)
    step = size * max(1, total // most)
    addresses = [address for start, length in ranges for address in range(start, start + length, step)]
    return Counter(node for node in (nodes_of(addresses, pid) if addresses else []) if node >= 0)


def address_of(buffer):
    """Where a writable buffer lies.

    Parameters
    ----------
    buffer : buffer

    Returns
    -------
    (int, int)
        First address and size.
    """
    view = memoryview(buffer).cast("B")
    return ctypes.addressof(ctypes.c_char.from_buffer(view)), view.nbytes


def private_ranges(pid="self"):
    """Memory of a process that no file stands behind: heap, stacks and arrays.

    Parameters
    ----------
    pid : int or str

    Returns
    -------
    list of (int, int)
        First address and size.
    """
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
        fields = [line.split(maxsplit=5) for line in maps]
    named = [(words[0], words[1], words[4], words[5].strip() if len(words) > 5 else "") for words in fields]
    spans = [where for where, mode, inode, name in named if "w" in mode and inode == "0" and not name.startswith("[v")]
    bounds = [[int(end, 16) for end in span.split("-")] for span in spans]
    return [(low, high - low) for low, high in bounds]
