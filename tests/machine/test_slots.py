"""The CPUs that a job takes, which no other job has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.machine.pinning import choose_cpus
from ovaflow.machine.topology import Node

HOLDER = """
import sys
from pathlib import Path
from ovaflow.machine import shared_files, topology
from ovaflow.machine.pinning import take_cpus
topology.SYS_FOLDER = Path(sys.argv[1])
shared_files.MEMORY_FOLDER = Path(sys.argv[3])
with take_cpus(topology.read_topology(), int(sys.argv[2])) as cpus:
    print(*cpus, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def hold(start, two_sockets, tmp_path):
    """A function that starts a process that holds CPUs of the two sockets: the process, and these
    CPUs.
    """

    def start_holder(threads) -> tuple:
        job = start(HOLDER, two_sockets.folder, threads, tmp_path)
        return job, [int(word) for word in job.next_word().split()]

    return start_holder


def test_jobs_spread_over_nodes_and_fill_cores_before_siblings(hold) -> None:
    def hold_cpus(threads) -> list[int]:
        _, cpus = hold(threads)
        return cpus

    first, cpus = hold(1)
    assert cpus == [0]
    assert hold_cpus(1) == [4]
    assert hold_cpus(2) == [1, 2]
    # the CPU of a killed job is free
    first.kill()
    assert hold_cpus(2) == [5, 6]
    assert hold_cpus(1) == [0]
    assert hold_cpus(1) == [3]
    assert hold_cpus(1) == [7]
    assert hold_cpus(2) == [8, 9]
    assert hold_cpus(7) == []
    assert sorted(hold_cpus(6)) == [10, 11, 12, 13, 14, 15]


SOCKETS = [
    Node(0, ((0, 8), (1, 9), (2, 10), (3, 11)), {0: 10, 1: 21}),
    Node(1, ((4, 12), (5, 13), (6, 14), (7, 15)), {1: 10, 0: 21}),
]
# node 2 is nearer to node 0 than node 1 is
IN_A_ROW = [
    Node(0, ((0,), (1,), (2,)), {0: 10, 1: 32, 2: 16}),
    Node(1, ((3,), (4,), (5,)), {0: 32, 1: 10, 2: 32}),
    Node(2, ((6,), (7,), (8,)), {0: 16, 1: 32, 2: 10}),
]


@pytest.mark.parametrize(
    ("nodes", "used", "threads", "theirs"),
    [
        (SOCKETS, set(), 6, [0, 1, 2, 3, 4, 5]),
        # with the cores of one node in use, the siblings of the other
        (SOCKETS, {0, 1, 2, 3}, 6, [4, 5, 6, 7, 12, 13]),
        # a complete core before a part of one
        (SOCKETS, {0, *range(2, 8), *range(10, 16)}, 2, [1, 9]),
        # by distance
        (IN_A_ROW, set(), 5, [0, 1, 2, 6, 7]),
    ],
)
def test_more_threads_than_a_node_has_cores(nodes, used, threads, theirs) -> None:
    cpus: set[int] = set()
    for node in nodes:
        cpus.update(node.cpus)
    assert choose_cpus(nodes, cpus - used, threads) == theirs


@given(st.sets(st.integers(0, 15)), st.integers(1, 17))
def test_any_choice_is_free_and_of_one_node_if_that_has_enough(free, threads) -> None:
    chosen = choose_cpus(SOCKETS, free, threads)
    assert free.issuperset(chosen)
    assert len(set(chosen)) == len(chosen) == (threads if threads <= len(free) else 0)
    cores = [sum(free.issuperset(core) for core in node.cores) for node in SOCKETS]
    touched = {cpu % 8 for cpu in chosen}
    if sum(cores) >= threads:
        assert len(touched) == threads
    if max(cores) >= threads:
        assert len({core // 4 for core in touched}) == 1
