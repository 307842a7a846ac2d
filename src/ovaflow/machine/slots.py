"""Which CPUs are free: a job holds a lock on each of its own, and the kernel releases them when it dies.

There is a lock file for each CPU in a folder of memory (tmpfs), which is of this machine and gone with a reboot. Only
CPUs that a scheduler left us are asked for.
"""

import contextlib
import fcntl
import os
import stat
import tempfile
from pathlib import Path

from ovaflow.machine.shared_files import open_locked
from ovaflow.machine.topology import NEAR


def private_folder(base=None):
    """Folder of this user in the memory of this machine or in ``base``, made if need be; OSError if it is another's."""
    shared = Path("/dev/shm")
    base = Path(base) if base else shared if os.access(shared, os.W_OK) else Path(tempfile.gettempdir())
    folder = base / f"ovaflow-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is not a private folder of this user")
    return folder


@contextlib.contextmanager
def take_cpus(nodes, threads, folder=None):
    """Yield a CPU for each thread, held until the block or the process ends; none where too few are free."""
    folder = private_folder(folder)
    with contextlib.ExitStack() as held:
        yield _take(nodes, threads, folder, held)


def _take(nodes, threads, folder, held):
    # one chooses at a time: two that try all CPUs at once would keep each other from what they do not take
    choosing = open_locked(folder / "choice.lock", fcntl.LOCK_EX)
    free = {}
    try:
        for cpu in (cpu for node in nodes for cpu in node.cpus):
            with contextlib.suppress(BlockingIOError):
                free[cpu] = open_locked(folder / f"cpu{cpu}.lock", fcntl.LOCK_EX | fcntl.LOCK_NB)
        chosen = choose(nodes, set(free), threads)
        for cpu in chosen:
            held.callback(os.close, free.pop(cpu))
        return chosen
    finally:
        for handle in (*free.values(), choosing):
            os.close(handle)


def choose(nodes, free, threads):
    """A CPU for each thread, those of a node together: on one node rather than on several, on free cores rather than
    next to an SMT sibling; none where too few are free.

    Of nodes that fit, the one with the most free cores is taken, so that jobs spread over the memory of all. What fits
    no node even when the machine is empty takes cores of neighbours, nearest first, before siblings.
    """
    cores = {node.number: [core[0] for core in node.cores if free.issuperset(core)] for node in nodes}
    every = {node.number: _cores_first(node, free) for node in nodes}
    if all(threads > len(node.cores) for node in nodes):
        ways = (_on_neighbours, cores), (_on_one_node, every), (_on_neighbours, every)
    else:
        ways = (_on_one_node, cores), (_on_one_node, every), (_on_neighbours, cores), (_on_neighbours, every)
    for way, left in ways:
        chosen = way(nodes, left, threads)
        if chosen:
            return chosen
    return []


def _cores_first(node, free):
    """Free CPUs of a node, whole cores first, then siblings."""
    depths = max((len(core) for core in node.cores), default=0)
    ordered = [core[depth] for depth in range(depths) for core in node.cores if depth < len(core)]
    whole = {cpu for core in node.cores if free.issuperset(core) for cpu in core}
    left = [cpu for cpu in ordered if cpu in free]
    return sorted(left, key=lambda cpu: cpu not in whole)


def _on_one_node(nodes, left, threads):
    fitting = [node.number for node in nodes if len(left[node.number]) >= threads]
    if not fitting:
        return []
    return left[max(fitting, key=lambda number: (len(left[number]), -number))][:threads]


def _on_neighbours(nodes, left, threads):
    if sum(map(len, left.values())) < threads:
        return []
    first = max(nodes, key=lambda node: (len(left[node.number]), -node.number))
    nearest = sorted(left, key=lambda number: (first.distances.get(number, NEAR), number != first.number, number))
    return [cpu for number in nearest for cpu in left[number]][:threads]
