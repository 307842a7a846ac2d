"""CPUs of its own for one job, and a copy of shared arrays in the memory next to them.

Linux gives a page to the node of the thread that touches it first, and keeps it there. So a job is
pinned before it has much memory, and what many jobs read, which the first reader would pull to its
own node, is copied once for each node. On a machine of one node nothing is done.

A job holds a lock on a file for each of its CPUs, in a folder in memory (tmpfs); the kernel
releases the locks when the job dies.
"""

import contextlib
import fcntl
import itertools
import mmap
import os

from ovaflow.machine.limits import read_allowance
from ovaflow.machine.shared_files import SharedFile, open_locked, private_folder
from ovaflow.machine.topology import format_cpu_list, free_memory, read_topology

PINNING_VARIABLE = "OVAFLOW_NUMA"  # ``off`` in this variable of the environment turns pinning off

_MAX_COPY_SHARE = 0.9  # of the free memory


class Pinning:
    """A CPU for each thread of a job, and the nodes that these are on; both empty if not pinned."""

    def __init__(self, note, cpus=(), nodes=()) -> None:
        self.note = note
        self.cpus = cpus
        self.nodes = nodes
        self.next_cpus = itertools.cycle(cpus)  # for threads
        self._copy = None

    def share(self, name, size, fill):
        """Map memory of the node, which the first job fills; None where there is no room."""
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

    def _make_copy(self, path, size, fill) -> None:
        self._require_room(path, size)
        with open(path, "w+b") as file:
            # allocates every page now: a write to a full tmpfs would kill the process
            os.posix_fallocate(file.fileno(), 0, size)
            with mmap.mmap(file.fileno(), size) as shared:
                fill(shared)

    def _require_room(self, path, size) -> None:
        files = os.statvfs(path.parent)
        left = min(files.f_bavail * files.f_frsize, free_memory(self.nodes[0]))
        if size > _MAX_COPY_SHARE * left:
            raise OSError(0, f"only {left / 1e6:,.0f} MB are free there")
        left = read_allowance().memory_left
        if size > left:
            raise OSError(0, f"only {left / 1e6:,.0f} MB are left to this job")

    def release(self) -> None:
        """Give up the copy, which the last job of the node removes."""
        if self._copy is not None:
            self._copy.release()


NOT_PINNED = Pinning("not pinned")

_current = NOT_PINNED


def pin_thread() -> None:
    """Pin the calling thread to a CPU of its own if the job is on several nodes."""
    if len(_current.nodes) > 1:
        os.sched_setaffinity(0, [next(_current.next_cpus)])


@contextlib.contextmanager
def pin_threads(threads, title):
    """Pin some threads until the block or the process ends, and log where they are."""
    global _current
    with contextlib.ExitStack() as stack:
        _current = _take(threads, stack)
        print(f"{title}: {_current.note}", flush=True)
        try:
            yield _current
        finally:
            _current.release()
            _current = NOT_PINNED


def _take(threads, stack):
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
    homes = [node.number for node in nodes if not set(node.cpus).isdisjoint(cpus)]
    where = f"{format_cpu_list(homes)} of {len(nodes)}, CPUs {format_cpu_list(cpus)}"
    note = f"node {where}" if len(homes) == 1 else f"nodes {where}, each thread on one of them"
    return Pinning(note, cpus, homes)


@contextlib.contextmanager
def take_cpus(nodes, threads):
    """Hold a CPU for each thread until the block or the process ends; none if too few are free."""
    folder = private_folder()
    free = {}
    try:
        # one at a time: two that try all CPUs would keep each other from those they do not take
        with open(open_locked(folder / "choice.lock", fcntl.LOCK_EX)):
            for cpu in (cpu for node in nodes for cpu in node.cpus):
                lock = folder / f"cpu{cpu}.lock"
                with contextlib.suppress(BlockingIOError):
                    free[cpu] = open_locked(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            chosen = choose_cpus(nodes, set(free), threads)
            for cpu in free.keys() - set(chosen):
                os.close(free.pop(cpu))
        yield chosen
    finally:
        for handle in free.values():
            os.close(handle)


def choose_cpus(nodes, free, threads):
    """A CPU for each thread, whole cores of one node first; none where too few are free."""
    cores = {
        node.number: [core[0] for core in node.cores if free.issuperset(core)] for node in nodes
    }
    every = {node.number: _cores_first(node, free) for node in nodes}
    for left in (cores, every):
        if sum(map(len, left.values())) >= threads:
            # jobs spread over all nodes; what fits into none takes CPUs of the nearest
            first = max(nodes, key=lambda node: (len(left[node.number]), -node.number))
            nearest = sorted(
                left, key=lambda number: (number != first.number, first.distances[number], number)
            )
            return [cpu for number in nearest for cpu in left[number]][:threads]
    return []


def _cores_first(node, free):
    """Free CPUs of a node: of whole cores first, one of each core before siblings."""
    depth = {cpu: depth for core in node.cores for depth, cpu in enumerate(core)}
    whole = {cpu for core in node.cores if free.issuperset(core) for cpu in core}
    return sorted(free & depth.keys(), key=lambda cpu: (cpu not in whole, depth[cpu], cpu))
