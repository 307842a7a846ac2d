"""CPUs of its own for one job, and a copy of shared arrays in the memory next to them.

Linux gives a page to the node of the thread that touches it first, and keeps it there. So a job is
pinned before it has much memory. Arrays that many jobs read would be on the node of their first
reader; they are copied once for each node. On a machine of one node nothing is done.

A job holds a lock on a file for each of its CPUs, in a folder in memory (tmpfs); the kernel
releases the locks when the job dies.
"""

import contextlib
import fcntl
import itertools
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ovaflow.machine.limits import read_allowance
from ovaflow.machine.shared_files import SharedFile, open_locked, private_folder
from ovaflow.machine.topology import Node, format_cpu_list, free_memory, read_topology

PINNING_VARIABLE = "OVAFLOW_NUMA"
"""Variable of the environment that turns pinning off by the value ``off``."""

_MAX_COPY_SHARE = 0.9
"""Largest share of the free memory that a copy may take."""

Fill = Callable[[mmap.mmap], object]
"""Writes the content of a copy."""


class Pinning:
    """A CPU for each thread of a job, and the nodes of these CPUs; both empty if not pinned.

    Parameters
    ----------
    note : str
        Where the job runs, for its log.
    cpus : sequence of int
        A CPU for each thread.
    nodes : sequence of int
        Numbers of the nodes that have these CPUs.
    """

    def __init__(self, note: str, cpus: Sequence[int] = (), nodes: Sequence[int] = ()) -> None:
        self.note = note
        self.cpus = cpus
        self.nodes = nodes
        self.next_cpus = itertools.cycle(cpus)
        self._copy: SharedFile | None = None

    def share(self, name: str, size: int, fill: Fill) -> mmap.mmap | None:
        """Map memory of the node that all its jobs share; the first job fills it.

        Parameters
        ----------
        name : str
            Name of the content, the same in all jobs.
        size : int
            Size in bytes.
        fill : callable
            Writes the content into the map that it is given.

        Returns
        -------
        memory : mmap or None
            The job's private view of the copy; None where there is no space, or the job is on
            several nodes.
        """
        # threads on several nodes are as far from a copy as from the file
        if len(self.nodes) != 1:
            return None
        try:
            path = private_folder() / f"{name}-node{self.nodes[0]}.copy"
            self._copy = SharedFile(path, lambda partial: self._make_copy(partial, size, fill))
        except OSError as error:
            print(f"no local copy of {size / 1e6:,.0f} MB: {error.strerror}", flush=True)
            return None
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        return mmap.mmap(self._copy.handle, size, flags=mmap.MAP_PRIVATE, prot=protection)

    def _make_copy(self, path: Path, size: int, fill: Fill) -> None:
        self._require_memory(path, size)
        with open(path, "w+b") as file:
            # allocates every page now: a write to a full tmpfs would kill the process
            os.posix_fallocate(file.fileno(), 0, size)
            with mmap.mmap(file.fileno(), size) as shared:
                fill(shared)

    def _require_memory(self, path: Path, size: int) -> None:
        files = os.statvfs(path.parent)
        free = min(files.f_bavail * files.f_frsize, free_memory(self.nodes[0]))
        if size > _MAX_COPY_SHARE * free:
            raise OSError(0, f"only {free / 1e6:,.0f} MB are free there")
        left = read_allowance().memory_left
        if size > left:
            raise OSError(0, f"only {left / 1e6:,.0f} MB are left to this job")

    def release(self) -> None:
        """Give up the copy, which the last job of the node removes."""
        if self._copy is not None:
            self._copy.release()


NOT_PINNED = Pinning("not pinned")
"""Pinning of a job outside of :func:`pin_threads`."""

_current = NOT_PINNED


def pin_thread() -> None:
    """Pin the calling thread to a CPU of its own if the job is on several nodes."""
    if len(_current.nodes) > 1:
        os.sched_setaffinity(0, [next(_current.next_cpus)])


@contextlib.contextmanager
def pin_threads(threads: int, title: str) -> Iterator[Pinning]:
    """Pin some threads until the block or the process ends, and log where they are."""
    global _current
    with contextlib.ExitStack() as stack:
        _current = _pin_job(threads, stack)
        print(f"{title}: {_current.note}", flush=True)
        try:
            yield _current
        finally:
            _current.release()
            _current = NOT_PINNED


def _pin_job(threads: int, stack: contextlib.ExitStack) -> Pinning:
    """Pin this process; the stack ends the pinning and releases its CPUs."""
    nodes = [node for node in read_topology() if node.cores]
    if os.environ.get(PINNING_VARIABLE) == "off":
        return Pinning(f"{PINNING_VARIABLE}=off: not pinned")
    if len(nodes) < 2:
        return Pinning("one NUMA node: not pinned")
    allowed = os.sched_getaffinity(0)
    usable = [node.within(allowed) for node in nodes]
    try:
        cpus = stack.enter_context(take_cpus(usable, threads))
        if not cpus:
            free = f"fewer than {threads} of {len(allowed)} CPUs are free"
            return Pinning(f"not pinned: {free}, so that jobs share them")
        for thread in os.listdir("/proc/self/task"):
            # one may have just ended
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread), cpus)
    except OSError as error:
        return Pinning(f"not pinned: {error.strerror}")
    stack.callback(os.sched_setaffinity, 0, allowed)
    numbers = [node.number for node in nodes if not set(node.cpus).isdisjoint(cpus)]
    where = f"{format_cpu_list(numbers)} of {len(nodes)}, CPUs {format_cpu_list(cpus)}"
    note = f"node {where}"
    if len(numbers) > 1:
        note = f"nodes {where}, each thread on one of them"
    return Pinning(note, cpus, numbers)


@contextlib.contextmanager
def take_cpus(nodes: Sequence[Node], threads: int) -> Iterator[list[int]]:
    """Hold a CPU for each thread until the block or the process ends; none if too few are free."""
    folder = private_folder()
    locks: dict[int, int] = {}
    try:
        # one job at a time: two that try all CPUs would keep each other from those they do not take
        with open(open_locked(folder / "choice.lock", fcntl.LOCK_EX)):
            for node in nodes:
                for cpu in node.cpus:
                    path = folder / f"cpu{cpu}.lock"
                    with contextlib.suppress(BlockingIOError):
                        locks[cpu] = open_locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
            chosen = choose_cpus(nodes, set(locks), threads)
            for cpu in locks.keys() - set(chosen):
                os.close(locks.pop(cpu))
        yield chosen
    finally:
        for handle in locks.values():
            os.close(handle)


def choose_cpus(nodes: Sequence[Node], free: set[int], threads: int) -> list[int]:
    """Choose a CPU for each thread, complete cores of one node first.

    Parameters
    ----------
    nodes : sequence of Node
        Nodes whose CPUs may be used.
    free : set of int
        CPUs that no other job has.
    threads : int
        Number of threads.

    Returns
    -------
    cpus : list of int
        A CPU for each thread; empty where too few are free.
    """
    first_cpus = {}
    all_cpus = {}
    for node in nodes:
        first_cpus[node.number] = [core[0] for core in node.cores if free.issuperset(core)]
        all_cpus[node.number] = _sort_free_cpus(node, free)
    for candidates in (first_cpus, all_cpus):
        if sum(len(cpus) for cpus in candidates.values()) >= threads:
            return _take_nearest(nodes, candidates, threads)
    return []


def _take_nearest(
    nodes: Sequence[Node], candidates: dict[int, list[int]], threads: int
) -> list[int]:
    """Take CPUs of the node with the most candidates, then of those that are nearest to it."""
    # jobs spread over all nodes
    first = max(nodes, key=lambda node: (len(candidates[node.number]), -node.number))
    nearest = sorted(
        candidates, key=lambda number: (number != first.number, first.distances[number], number)
    )
    cpus: list[int] = []
    for number in nearest:
        cpus += candidates[number]
    return cpus[:threads]


def _sort_free_cpus(node: Node, free: set[int]) -> list[int]:
    """Sort the free CPUs of a node: complete cores first, one CPU of each core before siblings."""
    depths: dict[int, int] = {}
    complete_cores: set[int] = set()
    for core in node.cores:
        for depth, cpu in enumerate(core):
            depths[cpu] = depth
        if free.issuperset(core):
            complete_cores.update(core)
    return sorted(
        free & depths.keys(), key=lambda cpu: (cpu not in complete_cores, depths[cpu], cpu)
    )
