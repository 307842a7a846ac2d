import os
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.machine.topology import format_cpu_list, free_memory, parse_cpu_list, read_topology


def test_two_sockets_with_siblings_are_read(two_sockets) -> None:
    first, second = read_topology()
    assert first.cores == ((0, 8), (1, 9), (2, 10), (3, 11))
    assert second.cpus == [4, 5, 6, 7, 12, 13, 14, 15]
    assert (first.distances, second.distances) == ({0: 10, 1: 21}, {0: 21, 1: 10})
    assert free_memory(0) == 524 * 1024**2
    # a mask leaves parts of cores
    assert first.within({1, 3, 8, 11, 99}).cores == ((8,), (1,), (3, 11))


def test_nodes_may_have_gaps_in_their_numbers_and_no_cpus(fake_sys) -> None:
    fake_sys.node(0, "0-1", 500, "10 20 30")
    fake_sys.node(2, "2-3", 500, "")
    fake_sys.node(10, "", 4000, "30 30 10")
    nodes = read_topology()
    assert [node.number for node in nodes] == [0, 2, 10]
    assert nodes[2].cores == ()
    assert nodes[0].distances == {0: 10, 2: 20, 10: 30}
    # unless the kernel gives a distance, another node is twice as far
    assert nodes[1].distances == {0: 20, 2: 10, 10: 20}


def test_a_kernel_without_nodes_has_a_single_one(fake_sys) -> None:
    fake_sys.write("devices/system/cpu/online", "0-2")
    [node] = read_topology()
    assert (node.cpus, node.distances) == ([0, 1, 2], {0: 10})


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no /sys")
def test_this_machine_has_the_nodes_that_the_kernel_lists() -> None:
    nodes = read_topology()
    ours = []
    for node in nodes:
        ours += node.cpus
    ours.sort()
    assert ours == parse_cpu_list(Path("/sys/devices/system/cpu/online").read_text())
    assert set(ours) >= os.sched_getaffinity(0)
    assert sum(len(node.cores) for node in nodes) == psutil.cpu_count(logical=False)
    assert all(node.distances[node.number] == min(node.distances.values()) for node in nodes)


@given(st.sets(st.integers(0, 300)))
def test_lists_are_read_as_written(numbers) -> None:
    assert parse_cpu_list(format_cpu_list(numbers)) == sorted(numbers)
