"""Which CPUs a job takes, and that no other job has them."""

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
    """Start a process that holds CPUs of the two sockets: the process, and which."""

    def held(threads):
        job = start(HOLDER, two_sockets.folder, threads, tmp_path)
        return job, [int(word) for word in job.next_word().split()]

    return held


def test_jobs_spread_over_nodes_and_fill_cores_before_siblings(hold) -> None:
    first, cpus = hold(1)
    assert [cpus, *(hold(threads)[1] for threads in (1, 2))] == [[0], [4], [1, 2]]
    # what a killed job had is free
    first.kill()
    assert [hold(threads)[1] for threads in (2, 1, 1, 1)] == [[5, 6], [0], [3], [7]]
    assert [hold(threads)[1] for threads in (2, 7)] == [[8, 9], []]
    assert sorted(hold(6)[1]) == [10, 11, 12, 13, 14, 15]


SOCKETS = [
    Node(n, tuple((core, core + 8) for core in range(4 * n, 4 * n + 4)), {n: 10, 1 - n: 21})
    for n in (0, 1)
]
FAR = {0: {0: 10, 1: 32, 2: 16}, 1: {0: 32, 1: 10, 2: 32}, 2: {0: 16, 1: 32, 2: 10}}
IN_A_ROW = [Node(n, tuple((3 * n + core,) for core in range(3)), FAR[n]) for n in FAR]


@pytest.mark.parametrize(
    ("nodes", "used", "threads", "theirs"),
    [
        (SOCKETS, set(), 6, [0, 1, 2, 3, 4, 5]),
        # with the cores of one node in use, the siblings of the other
        (SOCKETS, {0, 1, 2, 3}, 6, [4, 5, 6, 7, 12, 13]),
        # a whole core before a part of one
        (SOCKETS, {0, *range(2, 8), *range(10, 16)}, 2, [1, 9]),
        # by distance
        (IN_A_ROW, set(), 5, [0, 1, 2, 6, 7]),
    ],
)
def test_more_threads_than_a_node_has_cores(nodes, used, threads, theirs) -> None:
    assert (
        choose_cpus(nodes, {cpu for node in nodes for cpu in node.cpus} - used, threads) == theirs
    )


@given(st.sets(st.integers(0, 15)), st.integers(1, 17))
def test_any_choice_is_free_and_of_one_node_where_that_fits(free, threads) -> None:
    chosen = choose_cpus(SOCKETS, free, threads)
    assert free.issuperset(chosen)
    assert len(set(chosen)) == len(chosen) == (threads if threads <= len(free) else 0)
    cores = [sum(free.issuperset(core) for core in node.cores) for node in SOCKETS]
    touched = {cpu % 8 for cpu in chosen}
    if sum(cores) >= threads:
        assert len(touched) == threads
    if max(cores) >= threads:
        assert len({core // 4 for core in touched}) == 1
