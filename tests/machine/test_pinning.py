import contextlib
import errno
import os
from dataclasses import replace

import pytest

from ovaflow.machine import system_calls
from ovaflow.machine.limits import read_allowance
from ovaflow.machine.pinning import OFF, pinned, settle_thread


@pytest.fixture
def two_nodes(fake_sys, monkeypatch):
    """Two nodes of one real CPU each, of whose memory we may have both."""
    monkeypatch.setattr("ovaflow.machine.pinning.read_allowance", lambda: replace(read_allowance(), nodes={0, 1}))
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    fake_sys.node(0, str(cpus[0]), 1000, "10 21")
    fake_sys.node(1, str(cpus[1]), 1000, "21 10")
    return fake_sys.folder, cpus[:2]


@contextlib.contextmanager
def only_on(cpu):
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize(
    ("switch", "note"),
    [("", "one NUMA node: threads are not pinned, memory is not bound"), ("off", f"{OFF}=off: not pinned")],
)
def test_one_node_or_off_costs_nothing(fake_sys, tmp_path, monkeypatch, switch, note):
    monkeypatch.setenv(OFF, switch)
    for number in range(2 if switch else 1):
        fake_sys.node(number, "0-7", 1000, "10 21")
    before = os.sched_getaffinity(0)
    with pinned(2, tmp_path, fake_sys.folder) as pinning:
        pinning.check()
        pinning.confine()
        assert pinning.share("x", 100, None) is None
        assert (pinning.notes, pinning.cpus, pinning.nodes) == ([note], (), ())
        assert os.sched_getaffinity(0) == before
    assert [path.name for path in tmp_path.iterdir()] == ["sys"]


def test_pinned_while_it_lasts(two_nodes, tmp_path):
    sys, (first, second) = two_nodes
    before = os.sched_getaffinity(0)
    with pinned(1, tmp_path, sys) as ours:
        assert os.sched_getaffinity(0) == {first}
        assert ours.nodes == [0]
        assert ours.notes[0] == f"node 0 of 2, CPUs {first}"
    assert os.sched_getaffinity(0) == before
    assert system_calls.policy() == system_calls.DEFAULT
    with only_on(second), pinned(1, tmp_path, sys) as ours:
        assert (ours.cpus, ours.nodes) == ([second], [1])


def test_memory_of_the_nearest_node_that_is_allowed(two_nodes, tmp_path, monkeypatch):
    monkeypatch.setattr("ovaflow.machine.pinning.read_allowance", lambda: replace(read_allowance(), nodes={0}))
    sys, (_, second) = two_nodes
    with only_on(second), pinned(1, tmp_path, sys) as pinning:
        assert (pinning.cpus, pinning.nodes) == ([second], [0])


def test_a_container_that_forbids_binding(two_nodes, tmp_path, monkeypatch):
    def forbid(name, *arguments):
        raise OSError(errno.EPERM, f"{name}: Operation not permitted")

    monkeypatch.setattr(system_calls, "_call", forbid)
    monkeypatch.setenv("OVAFLOW_MEMORY", "1")
    with pinned(1, tmp_path, two_nodes[0]) as pinning:
        assert len(os.sched_getaffinity(0)) == 1
        assert pinning.share("x", 1 << 20, lambda memory: memory.write(b"content"))[:7] == b"content"
        assert len(list(tmp_path.glob("*/x-node0.copy"))) == 1
        pinning.confine()
        pinning.check()
    assert not list(tmp_path.glob("*/*.copy"))
    assert pinning.notes[1:] == [
        "memory is not bound (get_mempolicy: Operation not permitted)",
        "the local copy is not bound (mbind: Operation not permitted)",
        "where pages are is not known (move_pages: Operation not permitted)",
    ]


def test_no_room_is_noted(two_nodes, tmp_path):
    with pinned(1, tmp_path, two_nodes[0]) as pinning:
        assert pinning.share("x", 1 << 30, None) is None
        assert pinning.notes[-1] == "no local copy of 1,074 MB: only 549 MB are free there"


def test_more_than_a_fair_share_is_not_forced(two_nodes, tmp_path, monkeypatch):
    with pinned(1, tmp_path, two_nodes[0]) as pinning:
        pinning.confine()
        assert system_calls.policy() == system_calls.PREFERRED
        monkeypatch.setenv("OVAFLOW_MEMORY", "900")
        pinning.confine()
        assert system_calls.policy() == system_calls.BIND
        monkeypatch.setenv("OVAFLOW_MEMORY", "1000")
        pinning.confine()
        assert pinning.notes[-1] == "node preferred, not forced: 1,000 MB are more than a share of it (944)"


def test_a_policy_from_outside_is_kept(two_nodes, tmp_path, monkeypatch):
    monkeypatch.setenv("OVAFLOW_MEMORY", "1")
    system_calls.set_policy(system_calls.BIND, [0])
    try:
        with pinned(1, tmp_path, two_nodes[0]) as pinning:
            assert pinning.notes[-1] == "the memory policy that was set from outside is kept"
            pinning.confine()
        assert system_calls.policy() == system_calls.BIND
    finally:
        system_calls.set_policy(system_calls.DEFAULT)


def test_threads_on_several_nodes_have_a_cpu_each(two_nodes, tmp_path):
    sys, (first, second) = two_nodes
    with pinned(2, tmp_path, sys) as pinning:
        assert (pinning.cpus, pinning.nodes) == ([first, second], [0, 1])
        settle_thread()
        assert os.sched_getaffinity(0) == {first}
        settle_thread()
        assert os.sched_getaffinity(0) == {second}
    before = os.sched_getaffinity(0)
    settle_thread()
    assert os.sched_getaffinity(0) == before


def test_a_full_machine(two_nodes, tmp_path):
    before = os.sched_getaffinity(0)
    with pinned(2, tmp_path, two_nodes[0]):
        os.sched_setaffinity(0, before)
        with pinned(1, tmp_path, two_nodes[0]) as pinning:
            said = f"not pinned: fewer than 1 of {len(before)} CPUs are free, so that jobs share them"
            assert pinning.notes == [said]
            assert os.sched_getaffinity(0) == before
