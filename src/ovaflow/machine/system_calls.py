"""The kernel's memory policy and where pages are, by system calls that raise OSError; libnuma is not needed."""

import ctypes
import mmap
import os
import platform
from collections import Counter

DEFAULT, PREFERRED, BIND, INTERLEAVE = range(4)
"""Memory of the nearest node; of one node if there is room; of some nodes only; of some nodes in turn."""

_NUMBERS = {
    "x86_64": {"mbind": 237, "set_mempolicy": 238, "get_mempolicy": 239, "migrate_pages": 256, "move_pages": 279},
    "aarch64": {"mbind": 235, "get_mempolicy": 236, "set_mempolicy": 237, "migrate_pages": 238, "move_pages": 239},
}
_LIBC = ctypes.CDLL(None, use_errno=True)
_WORDS = 16
_BITS = 64 * _WORDS
_MOST_PAGES = 1024


def _call(name, *arguments):
    number = _NUMBERS.get(platform.machine(), {}).get(name)
    if number is None:
        raise OSError(0, f"{name} is not known for {platform.machine()}")
    done = _LIBC.syscall(ctypes.c_long(number), *arguments)
    if done < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return done


def _mask(nodes):
    words = (ctypes.c_ulong * _WORDS)()
    for node in nodes:
        words[node // 64] |= 1 << node % 64
    return words


def set_policy(mode, nodes=()):
    """Choose the nodes of memory that this thread, and threads that it starts from now on, touch first."""
    _call("set_mempolicy", ctypes.c_int(mode), _mask(nodes), ctypes.c_ulong(_BITS + 1))


def policy():
    """Mode of this thread's memory policy."""
    mode = ctypes.c_int()
    _call("get_mempolicy", ctypes.byref(mode), None, ctypes.c_ulong(0), None, ctypes.c_ulong(0))
    # the upper bits are flags
    return mode.value & 0xFF


def set_policy_of(address, size, mode, nodes):
    """Choose the nodes of those pages of a mapping that have not been touched yet."""
    where = ctypes.c_void_p(address), ctypes.c_ulong(size)
    _call("mbind", *where, ctypes.c_int(mode), _mask(nodes), ctypes.c_ulong(_BITS + 1), ctypes.c_uint(0))


def migrate(sources, target):
    """Move the pages that this process has on some nodes to another."""
    _call("migrate_pages", ctypes.c_int(0), ctypes.c_ulong(_BITS + 1), _mask(sources), _mask([target]))


def pages_by_node(ranges, pid=0):
    """Pages of (address, size) ranges on each node, of about a thousand that are asked for, evenly spaced."""
    step = mmap.PAGESIZE * max(1, sum(length for _, length in ranges) // mmap.PAGESIZE // _MOST_PAGES)
    addresses = [address for start, length in ranges for address in range(start, start + length, step)]
    count = len(addresses)
    pages, found = (ctypes.c_void_p * count)(*addresses), (ctypes.c_int * count)()
    _call("move_pages", ctypes.c_int(pid), ctypes.c_ulong(count), pages, None, found, ctypes.c_int(0))
    # negative where there is no page yet
    return Counter(node for node in found if node >= 0)


def address_of(buffer):
    """Address and size of a writable buffer."""
    view = memoryview(buffer).cast("B")
    return ctypes.addressof(ctypes.c_char.from_buffer(view)), view.nbytes


def private_ranges(pid="self"):
    """Address and size of each range of memory that no file backs: heap, stacks and arrays."""
    ranges = []
    with open(f"/proc/{pid}/maps", errors="replace") as maps:
        for line in maps:
            span, mode, _, _, inode, *_ = line.split()
            if "w" in mode and inode == "0":
                low, high = (int(end, 16) for end in span.split("-"))
                ranges.append((low, high - low))
    return ranges
