"""``ovaflow means``, ``label-tree`` and ``plan``: from a dataset file to artifacts."""

import numpy as np
import pytest

from ovaflow.artifacts.label_tree import read_label_tree
from ovaflow.artifacts.means import read_means
from ovaflow.cli import main
from ovaflow.data.dataset import Split, open_dataset, write_dataset
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.plan import read_plan


@pytest.fixture
def dataset(tmp_path):
    rng = np.random.default_rng(0)
    split = Split(from_scipy(rng.random((20, 6))), from_scipy((rng.random((20, 8)) < 0.4).astype(np.float32)))
    path = tmp_path / "dataset.h5"
    write_dataset(path, split, split, [f"label {j}" for j in range(8)], [], {"bias": 0.0})
    return path


def test_means_label_tree_and_plan(dataset, tmp_path, capsys):
    checksum = open_dataset(dataset).checksum
    means, tree, plan = (str(tmp_path / name) for name in ("means.h5", "label_tree.h5", "shards.tsv"))
    assert main(["means", str(dataset), "--output", means, "--threads", "2"]) == 0
    assert "20 instances and 8 labels" in capsys.readouterr().out
    assert main(["label-tree", str(dataset), "--output", tree]) == 0
    computed = read_label_tree(tree, checksum)
    assert f"{computed.subtrees} subtrees, height {computed.height}" in capsys.readouterr().out
    assert main(["plan", str(dataset), "--shards=3", "--label-tree", tree, "--output", plan]) == 0
    written = capsys.readouterr().out
    assert "8 labels in 3 shards" in written
    labels = np.concatenate([read_plan(plan, shard, 8) for shard in range(3)])
    np.testing.assert_array_equal(np.sort(labels), np.arange(8))
    assert len(read_means(means, checksum).pp) == 8


def test_errors_are_one_line(dataset, tmp_path, capsys):
    output = str(tmp_path / "shards.tsv")
    assert main(["plan", str(dataset), "--shards=2", "--label-tree", str(dataset), "--output", output]) == 2
    error = capsys.readouterr().err
    assert "expected label-tree, found dataset" in error
    assert error.count("\n") == 1
    assert main(["plan", str(dataset), "--shards=0", "--output", output]) == 2
