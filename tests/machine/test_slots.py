import os
import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.machine.slots import choose, private_folder, take_cpus
from ovaflow.machine.topology import Node, read_topology

HOLDER = """
import sys, time
from ovaflow.machine.slots import take_cpus
from ovaflow.machine.topology import read_topology
with take_cpus(read_topology(sys.argv[1]), int(sys.argv[2]), sys.argv[3]) as cpus:
    print(*cpus, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def hold(two_sockets, tmp_path):
    """Start processes that hold CPUs of the two sockets."""
    processes = []

    def start(threads=1):
        command = [sys.executable, "-c", HOLDER, two_sockets.folder, str(threads), tmp_path]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        return process, [int(word) for word in process.stdout.readline().split()]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_jobs_spread_over_nodes_and_a_killed_one_frees_its_cpu(hold):
    first, on_first = hold(1)
    _, on_second = hold(1)
    assert (on_first, on_second) == ([0], [4])
    assert hold(2)[1] == [1, 2]
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert hold(2)[1] == [5, 6]
    assert hold(1)[1] == [0]


def test_cores_are_filled_before_siblings(hold):
    assert hold(4)[1] == [0, 1, 2, 3]
    assert hold(3)[1] == [4, 5, 6]
    assert hold(1)[1] == [7]
    assert hold(2)[1] == [8, 9]
    assert hold(7)[1] == []
    assert sorted(hold(6)[1]) == [10, 11, 12, 13, 14, 15]


def test_more_threads_than_a_node_has_cores(two_sockets):
    nodes = read_topology(two_sockets.folder)
    assert choose(nodes, set(range(16)), 6) == [0, 1, 2, 3, 4, 5]
    # with the cores of one node in use, the siblings of the other
    assert choose(nodes, set(range(16)) - {0, 1, 2, 3}, 6) == [4, 5, 6, 7, 12, 13]
    assert choose(nodes, set(range(16)), 17) == []


def test_neighbours_are_taken_by_distance():
    far = {0: {0: 10, 1: 32, 2: 16}, 1: {0: 32, 1: 10, 2: 32}, 2: {0: 16, 1: 32, 2: 10}}
    nodes = [Node(number, ((3 * number,), (3 * number + 1,), (3 * number + 2,)), 1, far[number]) for number in range(3)]
    assert choose(nodes, set(range(9)), 5) == [0, 1, 2, 6, 7]


@given(st.sets(st.integers(0, 15)), st.integers(1, 16))
def test_any_choice_is_free_and_of_one_node_where_that_fits(free, threads):
    nodes = [
        Node(0, tuple((core, core + 8) for core in range(4)), 1, {0: 10, 1: 21}),
        Node(1, tuple((core, core + 8) for core in range(4, 8)), 1, {0: 21, 1: 10}),
    ]
    chosen = choose(nodes, free, threads)
    assert free.issuperset(chosen)
    assert len(set(chosen)) == len(chosen) == (threads if threads <= len(free) else 0)
    cores = [sum(free.issuperset(core) for core in node.cores) for node in nodes]
    if max(cores) >= threads:
        touched = {cpu % 8 for cpu in chosen}
        assert len(touched) == threads
        assert len({core // 4 for core in touched}) == 1


def test_threads_of_this_process_hold_locks_against_each_other(two_sockets, tmp_path):
    nodes = read_topology(two_sockets.folder)
    with take_cpus(nodes, 8, tmp_path) as first, take_cpus(nodes, 8, tmp_path) as second:
        assert sorted(first + second) == list(range(16))
    with take_cpus(nodes, 16, tmp_path) as every:
        assert sorted(every) == list(range(16))


def test_the_folder_is_private(tmp_path):
    folder = private_folder(tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="not a private folder"):
        private_folder(tmp_path)
    folder.rmdir()
    folder.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    with pytest.raises(PermissionError, match="not a private folder"):
        private_folder(tmp_path)
    assert private_folder().name == f"ovaflow-{os.getuid()}"
