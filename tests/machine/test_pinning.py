import os

import pytest

from ovaflow.machine.pinning import NOT_PINNED, PINNING_VARIABLE, pin_thread, pin_threads

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system pins no process"
)


@pytest.fixture
def two_nodes(fake_sys):
    """Two nodes of one real CPU each."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    fake_sys.node(0, str(cpus[0]), 1000, "10 21")
    fake_sys.node(1, str(cpus[1]), 1000, "21 10")
    yield cpus[:2]
    os.sched_setaffinity(0, cpus)


@pytest.mark.parametrize(
    ("switch", "reason"), [("", "one NUMA node"), ("off", f"{PINNING_VARIABLE}=off")]
)
def test_a_job_on_one_node_or_with_pinning_off_is_not_pinned(
    fake_sys, tmp_path, monkeypatch, capsys, switch, reason
) -> None:
    monkeypatch.setenv(PINNING_VARIABLE, switch)
    # no job can run on a node that has memory only
    for number, cpus in enumerate(["0-7", "8" if switch else ""]):
        fake_sys.node(number, cpus, 1000, "10 21")
    before = os.sched_getaffinity(0)
    with pin_threads(2, "job") as pinning:
        assert pinning.share("x", 100, None) is None
        assert (pinning.cpus, pinning.nodes, os.sched_getaffinity(0)) == ((), (), before)
    assert capsys.readouterr().out == f"job: {reason}: not pinned\n"
    assert os.listdir(tmp_path) == ["sys"]


def test_a_job_is_pinned_until_its_block_ends(two_nodes, capsys) -> None:
    for number, cpu in enumerate(two_nodes):
        allowed = set(two_nodes[number:])
        os.sched_setaffinity(0, allowed)
        with pin_threads(1, "job") as pinning:
            assert os.sched_getaffinity(0) == {cpu}
            assert (pinning.cpus, pinning.nodes) == ([cpu], [number])
        assert capsys.readouterr().out == f"job: node {number} of 2, CPUs {cpu}\n"
        assert os.sched_getaffinity(0) == allowed


def test_a_copy_exists_while_it_is_used_if_it_fits_into_memory(two_nodes, tmp_path, capsys) -> None:
    with pin_threads(1, "job") as pinning:
        assert pinning.share("x", 1 << 30, None) is None
        assert "no local copy of 1,074 MB: only 549 MB are free there\n" in capsys.readouterr().out
        shared = pinning.share("x", 1 << 20, lambda memory: memory.write(b"content"))
        assert shared[:7] == b"content"
        shared[:7] = b"changed"
        [copy] = tmp_path.glob("*/*.copy")
        assert copy.name == "x-node0.copy"
        assert copy.read_bytes()[:7] == b"content"
    assert not copy.exists()


def test_threads_on_several_nodes_have_a_cpu_each(two_nodes, capsys) -> None:
    first, second = two_nodes
    with pin_threads(2, "job") as pinning:
        assert (pinning.cpus, pinning.nodes) == ([first, second], [0, 1])
        for cpu in two_nodes:
            pin_thread()
            assert os.sched_getaffinity(0) == {cpu}
        # no copy is near to all threads
        assert pinning.share("x", 100, None) is None
    assert capsys.readouterr().out.startswith("job: nodes 0-1 of 2, CPUs ")
    before = os.sched_getaffinity(0)
    pin_thread()
    assert os.sched_getaffinity(0) == before


def test_jobs_share_the_cpus_of_a_full_machine(two_nodes, capsys) -> None:
    before = os.sched_getaffinity(0)
    with pin_threads(2, "first"):
        os.sched_setaffinity(0, before)
        with pin_threads(1, "second") as pinning:
            assert pinning.cpus == NOT_PINNED.cpus
            assert os.sched_getaffinity(0) == before
    reason = f"fewer than 1 of {len(before)} CPUs are free, so that jobs share them"
    assert f"second: not pinned: {reason}\n" in capsys.readouterr().out
