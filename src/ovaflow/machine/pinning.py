"""CPUs of its own for one job, memory next to them, and a copy of shared arrays there.

Linux gives a page to the node of the thread that touches it first, and keeps it there. So a job is pinned before it has
memory worth moving, and what many jobs read, which the first reader would pull to its own node, is copied once for each
node. On a machine of one node nothing is done.
"""

import contextlib
import itertools
import mmap
import os

from ovaflow.machine import system_calls
from ovaflow.machine.limits import read_allowance
from ovaflow.machine.shared_files import SharedFile, remove_unused
from ovaflow.machine.slots import private_folder, take_cpus
from ovaflow.machine.topology import format_list, free_memory, read_topology

OFF = "OVAFLOW_NUMA"
"""``off`` in this variable of the environment leaves everything to the kernel."""

MEMORY = "OVAFLOW_MEMORY"
"""Megabytes that the job was given, in the environment of the workflow's jobs."""

_OF_A_NODE = 0.9
_SUFFIX = ".copy"


class Pinning:
    """Where a job runs.

    A CPU for each thread; the nodes of its memory, that of the most threads first; both empty where it is not pinned;
    and notes of what happened, for the log.
    """

    def __init__(self, cpus=(), nodes=(), notes=(), share=0, folder=None, sys="/sys"):
        self.cpus, self.nodes, self.notes = list(cpus), list(nodes), list(notes)
        self._folder, self._sys = folder, sys
        self._share = share
        self._bound = False
        self._seats = itertools.count()
        self._copies = {}

    def bind(self, others):
        """Take memory of the node, and move there what the process has on others already."""
        if len(self.nodes) > 1:
            # each thread's own arrays go to the node where it runs, as the kernel does by itself
            return
        with self._noting("memory is not bound"):
            if system_calls.policy() != system_calls.DEFAULT:
                self.notes.append("the memory policy that was set from outside is kept")
                return
            system_calls.set_policy(system_calls.PREFERRED, self.nodes)
            self._bound = True
            system_calls.migrate(others, self.nodes[0])

    def confine(self):
        """Take memory of the node alone, if what the job was given is no more than its fair share of the node.

        Until then, and otherwise, the node is preferred, but free memory of another goes before files that this one has
        cached; a job that is bound to the node and outgrows it is killed.
        """
        given = int(os.environ.get(MEMORY, "0"))
        if not self._bound or not given:
            return
        share = self._share / 1e6
        if given > share:
            self.notes.append(f"node preferred, not forced: {given:,} MB are more than a share of it ({share:,.0f})")
            return
        with self._noting("memory is not bound"):
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
            copy = SharedFile(path, lambda partial: self._make_copy(partial, size, fill))
        except OSError as error:
            self.notes.append(f"no local copy of {size / 1e6:,.0f} MB: {error.strerror or error}")
            return None
        shared = mmap.mmap(copy.handle, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        self._copies[copy] = shared
        return shared

    def _make_copy(self, path, size, fill):
        self._require_room(path, size)
        with open(path, "w+b") as file:
            file.truncate(size)
            with mmap.mmap(file.fileno(), size) as shared:
                mode = system_calls.BIND if len(self.nodes) == 1 else system_calls.INTERLEAVE
                with self._noting("the local copy is not bound"):
                    system_calls.set_policy_of(*system_calls.address_of(shared), mode, self.nodes)
                # allocates every page now: a write to a full tmpfs would kill the process
                os.posix_fallocate(file.fileno(), 0, size)
                fill(shared)

    def _require_room(self, path, size):
        files = os.statvfs(path.parent)
        left = [files.f_bavail * files.f_frsize, sum(free_memory(node, self._sys) for node in self.nodes)]
        if size > _OF_A_NODE * min(left):
            raise OSError(0, f"only {min(left) / 1e6:,.0f} MB are free there")
        of_group = read_allowance().memory_left
        if of_group is not None and size > of_group:
            raise OSError(0, f"only {of_group / 1e6:,.0f} MB are left to this job")

    def settle_thread(self):
        """Pin the calling thread to a CPU of its own, where the threads of the job are on several nodes."""
        if len(self.nodes) > 1:
            with self._noting("a thread is not pinned"):
                os.sched_setaffinity(0, [self.cpus[next(self._seats) % len(self.cpus)]])

    def check(self):
        """Ask the kernel where the job's memory is, and note it."""
        if not self.nodes:
            return
        kinds = {"private memory": system_calls.private_ranges()}
        if self._copies:
            kinds["features"] = [system_calls.address_of(shared) for shared in self._copies.values()]
        with self._noting("where pages are is not known"):
            for kind, ranges in kinds.items():
                pages = system_calls.pages_by_node(ranges)
                inside = sum(pages[node] for node in self.nodes)
                self.notes.append(f"{kind}: {100 * inside / max(pages.total(), 1):.1f} % of the pages are there")

    def release(self):
        """Give up the copies; the last job of the node removes them."""
        for copy in self._copies:
            copy.release()

    @contextlib.contextmanager
    def _noting(self, what):
        try:
            yield
        except OSError as error:
            note = f"{what} ({error.strerror or error})"
            if note not in self.notes:
                self.notes.append(note)

    def tell(self, title):
        """Write what happened since the last call, in one line."""
        if self.notes:
            print(f"{title}: {'; '.join(self.notes)}", flush=True)
        self.notes = []


_present = Pinning()


def settle_thread():
    """Pin the calling thread; see :meth:`Pinning.settle_thread`."""
    _present.settle_thread()


@contextlib.contextmanager
def pinned(threads, folder=None, sys="/sys"):
    """Yield the :class:`Pinning` of some threads, held until the block or the process ends."""
    global _present
    nodes = read_topology(sys)
    if os.environ.get(OFF) == "off":
        yield Pinning(notes=[f"{OFF}=off: not pinned"])
    elif sum(node.memory > 0 for node in nodes) < 2:
        yield Pinning(notes=["one NUMA node: threads are not pinned, memory is not bound"])
    else:
        with contextlib.ExitStack() as held:
            _present = _take(nodes, threads, held, folder, sys)
            held.callback(_leave)
            yield _present


def _leave():
    global _present
    _present.release()
    _present = Pinning()


def _take(nodes, threads, held, folder, sys):
    allowance = read_allowance()
    ours = [node.within(allowance.cpus) for node in nodes]
    try:
        cpus = held.enter_context(take_cpus(ours, threads, folder))
    except OSError as error:
        return Pinning(notes=[f"not pinned: {error.strerror or error}"])
    if not cpus:
        free = f"fewer than {threads} of {len(allowance.cpus)} CPUs are free"
        return Pinning(notes=[f"not pinned: {free}, so that jobs share them"])
    chosen, notes = _memory_of(cpus, nodes, allowance.nodes)
    found = Pinning(cpus, chosen, notes, _share_of(nodes, chosen, threads), folder, sys)
    _pin_threads(found, cpus, held)
    if found.nodes:
        found.bind([node.number for node in nodes if node.number not in found.nodes])
        held.callback(_restore_policy, found)
    return found


def _memory_of(cpus, nodes, allowed):
    """Nodes whose memory is nearest to the CPUs, and a note that says so."""
    homes = [next(node for node in nodes if cpu in node.cpus) for cpu in cpus]
    with_memory = [node.number for node in nodes if node.memory and node.number in allowed]
    if not with_memory:
        return [], [f"CPUs {format_list(cpus)}; no node's memory is known to be allowed"]
    nearest = [min(with_memory, key=lambda number: (home.distances[number], number)) for home in homes]
    chosen = sorted(set(nearest), key=lambda number: (-nearest.count(number), number))
    several = "" if len(chosen) == 1 else ", each thread on one of them"
    name = "node" if len(chosen) == 1 else "nodes"
    return chosen, [f"{name} {format_list(chosen)} of {len(nodes)}, CPUs {format_list(cpus)}{several}"]


def _share_of(nodes, chosen, threads):
    """Bytes of the first chosen node for some threads, if all of its CPUs get as much."""
    home = [node for node in nodes if node.number in chosen[:1]]
    return int(sum(_OF_A_NODE * node.memory * threads / max(len(node.cpus), 1) for node in home))


def _pin_threads(pinning, cpus, held):
    before = os.sched_getaffinity(0)
    with pinning._noting("threads are not pinned"):
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), cpus)
        held.callback(os.sched_setaffinity, 0, before)


def _restore_policy(pinning):
    if pinning._bound:
        system_calls.set_policy(system_calls.DEFAULT)
