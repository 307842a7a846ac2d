import pytest

from ovaflow.machine.capacity import Capacity, read_capacity


@pytest.fixture
def large(two_sockets, tmp_path):
    """Two nodes of eight CPUs, of which a scheduler gave us twelve."""
    status = tmp_path / "proc" / "self" / "status"
    status.parent.mkdir(parents=True)
    status.write_text("Cpus_allowed_list:\t0-11\nMems_allowed_list:\t0-1\n")
    return read_capacity(two_sockets.folder, tmp_path / "proc")


def test_what_is_left_of_two_sockets(large):
    assert large == Capacity(12, (8, 4), 1000 * 1024**2)


@pytest.mark.parametrize(("threads", "jobs", "whole"), [(1, 12, 12), (4, 3, 3), (5, 2, 1), (8, 1, 1), (12, 1, 0)])
def test_jobs_at_a_time(large, threads, jobs, whole):
    assert (large.jobs(threads), large.whole_jobs(threads)) == (jobs, whole)


def test_both_nodes_are_kept_busy():
    both = Capacity(128, (64, 64), 1 << 38)
    assert both.describe(128, 1) == "128 CPUs on 2 nodes, 128 jobs at a time"
    assert both.describe(32, 4) == "128 CPUs on 2 nodes, 32 jobs at a time"
    assert both.describe(8, 1) == "128 CPUs on 2 nodes, 8 jobs at a time, 120 CPUs idle: shards: 128 would use them"
    assert both.describe(8, 40) == "128 CPUs on 2 nodes, 3 jobs at a time, 1 of them across nodes, 8 CPUs idle"
    assert Capacity(2, (2,), 1).describe(8, 1) == "2 CPUs on one node, 2 jobs at a time"


def test_this_machine():
    ours = read_capacity()
    assert 1 <= ours.cores <= sum(ours.nodes)
    assert ours.memory > 0
