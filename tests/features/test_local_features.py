import os

import numpy as np
import pytest
from synthetic import write_topics

from ovaflow.dataset.dataset import copy_to_local_node
from ovaflow.machine.pinning import NOT_PINNED, pin_threads


@pytest.fixture
def dataset(tmp_path):
    return write_topics(tmp_path / "dataset.h5", n=2000, d=500, n_labels=10)


@pytest.fixture
def two_nodes(fake_sys) -> None:
    """A /sys with a second node, which this machine may lack."""
    cpus = sorted(os.sched_getaffinity(0))
    for node in (0, 1):
        fake_sys.node(node, cpus[node] if node < len(cpus) else "", 4000, "10 21")


def test_the_local_copy_has_the_same_bytes(dataset, two_nodes, tmp_path) -> None:
    with pin_threads(1, "job") as place:
        near = copy_to_local_node(dataset, place)
        [copy] = tmp_path.glob("*/*.copy")
        assert copy.name == f"{dataset.checksum}-features-node0.copy"
        assert near.train.X.n_columns == dataset.train.X.n_columns
        assert near.train.Y is dataset.train.Y
        for ours, theirs in zip(near.train.X.arrays, dataset.train.X.arrays, strict=True):
            assert not np.shares_memory(ours, theirs)
            assert (ours.tobytes(), ours.dtype) == (theirs.tobytes(), theirs.dtype)
    assert not copy.exists()


def test_without_a_place_the_file_is_read(dataset) -> None:
    assert copy_to_local_node(dataset, NOT_PINNED) is dataset
