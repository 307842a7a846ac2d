"""How many jobs this machine takes at a time, and how many of them fit a node."""

from dataclasses import dataclass

from ovaflow.machine.allowance import read_allowance
from ovaflow.machine.topology import read_topology


@dataclass(frozen=True)
class Capacity:
    """CPUs and memory that are left to us.

    Attributes
    ----------
    cores : int
        CPUs that threads can keep busy.
    nodes : tuple of int
        CPUs of each node that has any.
    memory : int
        Bytes of the smallest of these nodes, or our share of them where we get less.
    """

    cores: int
    nodes: tuple
    memory: int

    def jobs(self, threads):
        """Jobs that run side by side.

        Parameters
        ----------
        threads : int
            Of each.

        Returns
        -------
        int
        """
        return max(1, self.cores // threads)

    def whole_jobs(self, threads):
        """Those of them that have all their threads on one node.

        Parameters
        ----------
        threads : int

        Returns
        -------
        int
        """
        return min(self.jobs(threads), sum(cpus // threads for cpus in self.nodes))

    def describe(self, shards, threads):
        """What a run makes of the machine.

        Parameters
        ----------
        shards, threads : int

        Returns
        -------
        str
            One line; says what is left idle, and jobs that lie across nodes.
        """
        at_a_time = min(shards, self.jobs(threads))
        nodes = "one node" if len(self.nodes) == 1 else f"{len(self.nodes)} nodes"
        line = f"{self.cores} CPUs on {nodes}, {at_a_time:,} jobs at a time"
        idle, across = self.cores - at_a_time * threads, at_a_time - self.whole_jobs(threads)
        if across > 0:
            line += f", {across} of them across nodes"
        if idle > 0:
            line += f", {idle} CPUs idle"
            line += f": shards: {self.cores // threads} would use them" if shards < self.cores // threads else ""
        return line


def read_capacity(sys="/sys", proc="/proc"):
    """What is left to us of this machine.

    Parameters
    ----------
    sys, proc : path-like
        Where these file systems are mounted.

    Returns
    -------
    Capacity
    """
    allowance = read_allowance(proc)
    ours = [node.within(allowance.cpus) for node in read_topology(sys, proc)]
    ours = [node for node in ours if node.cores]
    memory = min((node.memory for node in ours if node.memory), default=0)
    if allowance.memory is not None:
        memory = min(memory, allowance.memory // max(len(ours), 1))
    return Capacity(allowance.cores, tuple(len(node.cpus) for node in ours) or (allowance.cores,), memory)
