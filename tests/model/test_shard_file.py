"""A shard file gives back what was written."""

import numpy as np
import pytest
import scipy.sparse

from ovaflow.model.training_file import STATISTICS, read_shard, write_shard
from ovaflow.sparse.csr import from_scipy


@pytest.mark.parametrize("n_labels", [0, 3])
def test_round_trip(tmp_path, n_labels):
    path, rng = tmp_path / "0.h5", np.random.default_rng(0)
    parts = {
        "labels": np.arange(n_labels)[::-1],
        "weights": from_scipy(scipy.sparse.random(n_labels, 5, 0.5, rng=rng)),
        "trained": np.arange(n_labels) > 0,
        "statistics": {name: rng.integers(0, 100, n_labels) for name in STATISTICS},
        "parameters": {"stored_threshold": 0.01, "C": 1.0},
        "inputs": {"dataset": "0" * 32},
        "core_seconds": 1.5,
        "peak_rss_bytes": 1 << 20,
    }
    write_shard(path, **parts)
    shard = read_shard(path)
    for ours, theirs in zip(shard.weights.arrays, parts["weights"].arrays, strict=True):
        assert np.array_equal(ours, theirs)
    for name, dtype in STATISTICS.items():
        assert shard.statistics[name].dtype == dtype
        assert np.array_equal(shard.statistics[name], parts["statistics"][name])
    assert shard.labels.dtype == np.int32
    for name in parts.keys() - {"weights", "statistics"}:
        assert np.array_equal(getattr(shard, name), parts[name])
