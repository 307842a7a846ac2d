import os

import numpy as np
import pytest
from synthetic import write_topics

from ovaflow.data.dataset import copy_to_local_node
from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.machine import shared_files, topology
from ovaflow.machine.pinning import NOT_PINNED, pinned
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_labels


@pytest.fixture
def dataset(tmp_path):
    return write_topics(tmp_path / "dataset.h5", n=2000, d=500, n_labels=10)


@pytest.fixture
def two_nodes(tmp_path, monkeypatch):
    """A /sys with a second node, which is not here."""
    monkeypatch.setattr(topology, "SYS", tmp_path / "sys")
    monkeypatch.setattr(shared_files, "MEMORY", tmp_path)
    cpus = sorted(os.sched_getaffinity(0))
    for node in (0, 1):
        folder = tmp_path / f"sys/devices/system/node/node{node}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(str(cpus[node]) if node < len(cpus) else "")
        (folder / "meminfo").write_text(f"Node {node} MemTotal: 4000000 kB\nNode {node} MemFree: 2000000 kB\n")


def test_training_on_the_copy_changes_no_bit(dataset, two_nodes, tmp_path):
    training, labels = TrainLabels(), np.arange(10)
    inputs = compute_start_inputs(dataset, training)
    theirs = train_labels(dataset, inputs, labels, training)
    with pinned(1, "job") as place:
        near = copy_to_local_node(dataset, place)
        (copy,) = tmp_path.glob("*/*.copy")
        assert copy.name == f"{dataset.checksum}-features-node0.copy"
        for ours, mapped in zip(near.train.X.arrays, dataset.train.X.arrays, strict=True):
            assert not np.shares_memory(ours, mapped)
            assert ours.tobytes() == mapped.tobytes()
            assert ours.dtype == mapped.dtype
        ours = train_labels(near, inputs, labels, training)
    assert not copy.exists()
    for mine, other in zip(ours.weights.arrays, theirs.weights.arrays, strict=True):
        assert mine.tobytes() == other.tobytes()


def test_without_a_place_the_file_is_read(dataset):
    assert copy_to_local_node(dataset, NOT_PINNED) is dataset
