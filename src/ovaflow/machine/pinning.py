"""CPUs of its own for one job, memory next to them, and a copy of shared arrays there.

Linux gives a page to the node of the thread that touches it first, and keeps it there. So a job is pinned before it has
memory worth moving, and what many jobs read, which the first reader would pull to its own node, is copied once for each
node. On a machine of one node nothing is done.

A job holds a lock on a file for each of its CPUs, in a folder of memory (tmpfs) that is of this machine and gone with a
reboot; the kernel releases the locks when the job dies.
"""

import contextlib
import fcntl
import itertools
import mmap
import os

from ovaflow.machine import system_calls
from ovaflow.machine.limits import read_allowance
from ovaflow.machine.shared_files import SharedFile, open_locked, private_folder, remove_unused
from ovaflow.machine.topology import format_list, free_memory, read_topology

OFF = "OVAFLOW_NUMA"
"""``off`` in this variable of the environment leaves everything to the kernel."""

MEMORY = "OVAFLOW_MEMORY"
"""Megabytes that the job was given, in the environment of the workflow's jobs."""

_OF_A_NODE = 0.9
_SUFFIX = ".copy"


class Pinning:
    """Where a job runs: a CPU for each thread, and the nodes of its memory; both empty where it is not pinned.

    ``share`` is the job's fair share of a node, in bytes; what happens is noted for the log.
    """

    def __init__(self, note="not pinned", cpus=(), nodes=(), share=0, folder=None, sys="/sys"):
        self.notes, self.cpus, self.nodes = [note], cpus, nodes
        self._share, self._folder, self._sys = share, folder, sys
        self._bound = False
        self.seats = itertools.cycle(cpus)  # for threads
        self._copy = self._shared = None

    def bind(self, others):
        """Take memory of the node, and move there what the process has on others already."""
        if len(self.nodes) > 1:
            # each thread's own arrays go to the node where it runs, as the kernel does by itself
            return
        with self.noting("memory is not bound"):
            if system_calls.policy() == system_calls.DEFAULT:
                system_calls.set_policy(system_calls.PREFERRED, self.nodes)
                self._bound = True
                system_calls.migrate(others, self.nodes[0])
            else:
                self.notes.append("the memory policy that was set from outside is kept")

    def confine(self):
        """Take memory of the node alone, if what the job was given is no more than its fair share of the node.

        Until then, and otherwise, the node is preferred, but free memory of another goes before files that this one has
        cached; a job that is bound to the node and outgrows it is killed.
        """
        given, share = int(os.environ.get(MEMORY, "0")), self._share / 1e6
        if not self._bound or not given:
            return
        if given > share:
            self.notes.append(f"node preferred, not forced: {given:,} MB are more than a share of it ({share:,.0f})")
        else:
            with self.noting("memory is not bound"):
                system_calls.set_policy(system_calls.BIND, self.nodes)

    def share(self, name, size, fill):
        """Map memory of the node that has the same content for all jobs there; None where there is no room.

        ``fill`` takes a writable buffer in the first of the jobs; ``name`` must change with the content. A write to the
        map changes the process's own page alone.
        """
        if not self.nodes:
            return None
        try:
            folder = private_folder(self._folder)
            remove_unused(folder, _SUFFIX)
            path = folder / f"{name}-node{format_list(self.nodes)}{_SUFFIX}"
            self._copy = SharedFile(path, lambda partial: self._make_copy(partial, size, fill))
        except OSError as error:
            self.notes.append(f"no local copy of {size / 1e6:,.0f} MB: {error.strerror}")
            return None
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        self._shared = mmap.mmap(self._copy.handle, size, flags=mmap.MAP_PRIVATE, prot=protection)
        return self._shared

    def _make_copy(self, path, size, fill):
        self._require_room(path, size)
        with open(path, "w+b") as file:
            file.truncate(size)
            with mmap.mmap(file.fileno(), size) as shared:
                mode = system_calls.BIND if len(self.nodes) == 1 else system_calls.INTERLEAVE
                with self.noting("the local copy is not bound"):
                    system_calls.set_policy_of(*system_calls.address_of(shared), mode, self.nodes)
                # allocates every page now: a write to a full tmpfs would kill the process
                os.posix_fallocate(file.fileno(), 0, size)
                fill(shared)

    def _require_room(self, path, size):
        files = os.statvfs(path.parent)
        left = min(files.f_bavail * files.f_frsize, sum(free_memory(node, self._sys) for node in self.nodes))
        if size > _OF_A_NODE * left:
            raise OSError(0, f"only {left / 1e6:,.0f} MB are free there")
        of_group = read_allowance().memory_left
        if of_group is not None and size > of_group:
            raise OSError(0, f"only {of_group / 1e6:,.0f} MB are left to this job")

    def check(self):
        """Ask the kernel where the job's memory is, and note it."""
        if not self.nodes:
            return
        kinds = {"private memory": system_calls.private_ranges()}
        if self._shared is not None:
            kinds["features"] = [system_calls.address_of(self._shared)]
        with self.noting("where pages are is not known"):
            for kind, ranges in kinds.items():
                pages = system_calls.pages_by_node(ranges)
                inside = sum(pages[node] for node in self.nodes)
                self.notes.append(f"{kind}: {100 * inside / max(pages.total(), 1):.1f} % of the pages are there")

    def release(self):
        """Give up the copy, which the last job of the node removes, and the memory policy."""
        if self._copy is not None:
            self._copy.release()
        if self._bound:
            system_calls.set_policy(system_calls.DEFAULT)

    @contextlib.contextmanager
    def noting(self, what):
        """Note that something is left out because the kernel refuses it."""
        try:
            yield
        except OSError as error:
            note = f"{what} ({error.strerror})"
            if note not in self.notes:
                self.notes.append(note)

    def tell(self, title):
        """Write what happened since the last call, in one line."""
        if self.notes:
            print(f"{title}: {'; '.join(self.notes)}", flush=True)
        self.notes = []


_present = Pinning()


def settle_thread():
    """Pin the calling thread to a CPU of its own, where the threads of the job are on several nodes."""
    if len(_present.nodes) > 1:
        with _present.noting("a thread is not pinned"):
            os.sched_setaffinity(0, [next(_present.seats)])


@contextlib.contextmanager
def pinned(threads, folder=None, sys="/sys"):
    """Yield the :class:`Pinning` of some threads, held until the block or the process ends."""
    global _present
    nodes = read_topology(sys)
    if os.environ.get(OFF) == "off":
        yield Pinning(f"{OFF}=off: not pinned")
    elif sum(node.memory > 0 for node in nodes) < 2:
        yield Pinning("one NUMA node: threads are not pinned, memory is not bound")
    else:
        with contextlib.ExitStack() as held:
            _present = _take(nodes, threads, held, folder, sys)
            try:
                yield _present
            finally:
                _present.release()
                _present = Pinning()


def _take(nodes, threads, held, folder, sys):
    allowance = read_allowance()
    ours = [node.within(allowance.cpus) for node in nodes]
    try:
        cpus = held.enter_context(take_cpus(ours, threads, folder))
    except OSError as error:
        return Pinning(f"not pinned: {error.strerror}")
    if not cpus:
        free = f"fewer than {threads} of {len(allowance.cpus)} CPUs are free"
        return Pinning(f"not pinned: {free}, so that jobs share them")
    chosen, note = _memory_of(cpus, nodes, allowance.nodes)
    homes = [node for node in nodes if node.number in chosen[:1]]
    share = sum(_OF_A_NODE * home.memory * threads / max(len(home.cpus), 1) for home in homes)
    found = Pinning(note, cpus, chosen, share, folder, sys)
    with found.noting("threads are not pinned"):
        before = os.sched_getaffinity(0)
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), cpus)
        held.callback(os.sched_setaffinity, 0, before)
    if chosen:
        found.bind([node.number for node in nodes if node.number not in chosen])
    return found


def _memory_of(cpus, nodes, allowed):
    """Nodes whose memory is nearest to the CPUs, and a note that says so."""
    homes = [next(node for node in nodes if cpu in node.cpus) for cpu in cpus]
    with_memory = [node.number for node in nodes if node.memory and node.number in allowed]
    if not with_memory:
        return [], f"CPUs {format_list(cpus)}; no node's memory is known to be allowed"
    nearest = [min(with_memory, key=lambda number: (home.distances[number], number)) for home in homes]
    chosen = sorted(set(nearest), key=lambda number: (-nearest.count(number), number))
    where = f"{format_list(chosen)} of {len(nodes)}, CPUs {format_list(cpus)}"
    return chosen, f"node {where}" if len(chosen) == 1 else f"nodes {where}, each thread on one of them"


@contextlib.contextmanager
def take_cpus(nodes, threads, folder=None):
    """Yield a CPU for each thread, held until the block or the process ends; none where too few are free."""
    folder = private_folder(folder)
    free = {}
    try:
        # one chooses at a time: two that try all CPUs at once would keep each other from what they do not take
        with open(open_locked(folder / "choice.lock", fcntl.LOCK_EX)):
            for cpu in (cpu for node in nodes for cpu in node.cpus):
                with contextlib.suppress(BlockingIOError):
                    free[cpu] = open_locked(folder / f"cpu{cpu}.lock", fcntl.LOCK_EX, patience=0)
            chosen = choose(nodes, set(free), threads)
            for cpu in free.keys() - set(chosen):
                os.close(free.pop(cpu))
        yield chosen
    finally:
        for handle in free.values():
            os.close(handle)


def choose(nodes, free, threads):
    """A CPU for each thread, those of a node together: on free cores rather than next to an SMT sibling, on one node
    rather than on several; none where too few are free.

    Of nodes that fit, the one with the most free cores is taken, so that jobs spread over the memory of all; what fits
    no node takes CPUs of neighbours, nearest first.
    """
    cores = {node.number: [core[0] for core in node.cores if free.issuperset(core)] for node in nodes}
    every = {node.number: _cores_first(node, free) for node in nodes}
    for left in (cores, every):
        if sum(map(len, left.values())) >= threads:
            first = max(nodes, key=lambda node: (len(left[node.number]), -node.number))
            nearest = sorted(left, key=lambda number: (number != first.number, first.distances[number], number))
            return [cpu for number in nearest for cpu in left[number]][:threads]
    return []


def _cores_first(node, free):
    """Free CPUs of a node, those of whole cores first, and of these one of each core before siblings."""
    depth = {cpu: depth for core in node.cores for depth, cpu in enumerate(core)}
    whole = {cpu for core in node.cores if free.issuperset(core) for cpu in core}
    return sorted(free & depth.keys(), key=lambda cpu: (cpu not in whole, depth[cpu], cpu))
