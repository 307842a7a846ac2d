"""Memory policy of the kernel, by its system calls: libnuma need not be there."""

import ctypes
import os
import platform

DEFAULT, PREFERRED, BIND, INTERLEAVE = range(4)
"""Modes of a policy: of the nearest node; of a node if there is room; of some nodes alone; of some nodes in turn."""

_NUMBERS = {
    "x86_64": {"mbind": 237, "set_mempolicy": 238, "get_mempolicy": 239, "migrate_pages": 256, "move_pages": 279},
    "aarch64": {"mbind": 235, "get_mempolicy": 236, "set_mempolicy": 237, "migrate_pages": 238, "move_pages": 239},
}
_LIBC = ctypes.CDLL(None, use_errno=True)
_WORDS = 16
_BITS = 64 * _WORDS


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
    """Say where memory comes from that this thread, and those it starts from now on, touch first.

    Parameters
    ----------
    mode : int
    nodes : iterable of int

    Raises
    ------
    OSError
        If the kernel or a container refuses.
    """
    _call("set_mempolicy", ctypes.c_int(mode), _mask(nodes), ctypes.c_ulong(_BITS + 1))


def policy():
    """Mode of this thread's memory policy.

    Returns
    -------
    int

    Raises
    ------
    OSError
        If the kernel or a container refuses.
    """
    mode = ctypes.c_int()
    _call("get_mempolicy", ctypes.byref(mode), None, ctypes.c_ulong(0), None, ctypes.c_ulong(0))
    # the upper bits are flags
    return mode.value & 0xFF


def set_policy_of(address, size, mode, nodes):
    """Say where the pages of a mapping come from that nobody has touched yet.

    Parameters
    ----------
    address, size : int
        Of whole pages.
    mode : int
    nodes : iterable of int

    Raises
    ------
    OSError
        If the kernel or a container refuses.
    """
    where = ctypes.c_void_p(address), ctypes.c_ulong(size)
    _call("mbind", *where, ctypes.c_int(mode), _mask(nodes), ctypes.c_ulong(_BITS + 1), ctypes.c_uint(0))


def migrate(sources, target):
    """Move the pages that this process has on some nodes to another.

    Parameters
    ----------
    sources : iterable of int
    target : int

    Raises
    ------
    OSError
        If the kernel or a container refuses.
    """
    _call("migrate_pages", ctypes.c_int(0), ctypes.c_ulong(_BITS + 1), _mask(sources), _mask([target]))


def nodes_of(addresses, pid=0):
    """Node of each page.

    Parameters
    ----------
    addresses : sequence of int
        Any address within the page.
    pid : int
        Whose; 0 is this process.

    Returns
    -------
    list of int
        A negative number, as of errno, where there is no page yet.

    Raises
    ------
    OSError
        If the kernel or a container refuses.
    """
    count = len(addresses)
    pages, found = (ctypes.c_void_p * count)(*addresses), (ctypes.c_int * count)()
    _call("move_pages", ctypes.c_int(pid), ctypes.c_ulong(count), pages, None, found, ctypes.c_int(0))
    return list(found)
