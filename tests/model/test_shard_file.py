"""A shard file gives back what was written; a damaged or foreign one is refused."""

import numpy as np
import pytest
import scipy.sparse
from forged import Forgery, flip, offset_of

from ovaflow.console.errors import InputError
from ovaflow.model.training_file import STATISTICS, read_shard, write_shard
from ovaflow.sparse.csr import from_scipy


def _parts(n_labels=3, n_features=5):
    rng = np.random.default_rng(0)
    return {
        "labels": np.arange(n_labels)[::-1],
        "weights": from_scipy(scipy.sparse.random(n_labels, n_features, 0.5, rng=rng)),
        "trained": np.arange(n_labels) > 0,
        "statistics": {name: rng.integers(0, 100, n_labels) for name in STATISTICS},
        "parameters": {"stored_threshold": 0.01, "C": 1.0},
        "inputs": {"dataset": "0" * 32},
        "core_seconds": 1.5,
        "peak_rss_bytes": 1 << 20,
    }


@pytest.mark.parametrize("n_labels", [0, 1, 3])
def test_round_trip(tmp_path, n_labels):
    parts = _parts(n_labels)
    write_shard(tmp_path / "0.h5", **parts)
    shard = read_shard(tmp_path / "0.h5")
    assert np.array_equal(shard.labels, parts["labels"])
    assert shard.labels.dtype == np.int32
    assert np.array_equal(shard.trained, parts["trained"])
    for ours, theirs in zip(shard.weights.arrays, parts["weights"].arrays, strict=True):
        assert np.array_equal(ours, theirs)
    for name, dtype in STATISTICS.items():
        assert shard.statistics[name].dtype == dtype
        assert np.array_equal(shard.statistics[name], parts["statistics"][name])
    assert (shard.core_seconds, shard.peak_rss_bytes) == (1.5, 1 << 20)
    assert shard.parameters == parts["parameters"]
    assert shard.inputs == parts["inputs"]


def test_lengths_and_names_are_checked(tmp_path):
    parts = _parts()
    with pytest.raises(ValueError, match="lengths"):
        write_shard(tmp_path / "0.h5", **(parts | {"trained": [True]}))
    statistics = {name: array for name, array in parts["statistics"].items() if name != "seconds"}
    with pytest.raises(ValueError, match=r"missing: \['seconds'\]"):
        write_shard(tmp_path / "0.h5", **(parts | {"statistics": statistics}))
    assert not list(tmp_path.iterdir())


def test_damage_is_seen(tmp_path):
    path = tmp_path / "0.h5"
    write_shard(path, **_parts())
    flip(path, offset_of(path, "weights/data"))
    with pytest.raises(InputError, match="damaged"):
        read_shard(path)
    write_shard(path, **_parts())
    forgery = Forgery(path)
    forgery.arrays["trained"] = forgery.arrays["trained"][:1]
    forgery.write(path)
    with pytest.raises(InputError, match="train-shard"):
        read_shard(path)


@pytest.mark.parametrize("content", [None, b"not HDF5"])
def test_missing_or_foreign(tmp_path, content):
    path = tmp_path / "0.h5"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"0\.h5"):
        read_shard(path)
