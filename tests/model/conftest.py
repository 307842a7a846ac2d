import numpy as np
import pytest
import scipy.sparse

from ovaflow.data.dataset import Split, open_dataset, write_dataset
from ovaflow.model.training_file import STATISTICS, Shard, typed_statistics
from ovaflow.sparse.csr import from_scipy, rows_of

N_LABELS, N_FEATURES = 11, 7
STORED = 0.01


@pytest.fixture
def small_dataset(tmp_path):
    rng = np.random.default_rng(1)

    def split(n):
        X = scipy.sparse.random_array((n, N_FEATURES), density=0.5, rng=rng)
        Y = scipy.sparse.random_array((n, N_LABELS), density=0.3, rng=rng, data_sampler=lambda size: np.ones(size))
        return Split(from_scipy(X), from_scipy(Y))

    path = tmp_path / "dataset.h5"
    names = [f"label {j}" for j in range(N_LABELS)]
    features = [f"word{f}" for f in range(N_FEATURES - 1)]
    write_dataset(path, split(20), split(5), names, features, {"bias": 1.0}, np.ones(N_FEATURES - 1))
    return open_dataset(path)


@pytest.fixture
def all_weights():
    rng = np.random.default_rng(2)
    dense = rng.normal(0, 0.03, (N_LABELS, N_FEATURES)).astype(np.float32)
    dense[np.abs(dense) < STORED] = 0
    dense[3] = 0
    return from_scipy(dense)


@pytest.fixture
def cut(tmp_path, small_dataset, all_weights):
    """Write shards of the given labels; returns their paths."""

    def write(*parts, folder="shards", **changes):
        paths = []
        for number, labels in enumerate(parts):
            path = tmp_path / folder / f"{number}.h5"
            path.parent.mkdir(exist_ok=True)
            labels = np.asarray(labels, np.int64)
            given = {
                "labels": labels.astype(np.int32),
                "weights": rows_of(all_weights, labels),
                "trained": labels != 3,
                "statistics": typed_statistics(dict.fromkeys(STATISTICS, 7 * labels % 5)),
                "parameters": {"stored_threshold": STORED, "C": 1.0},
                "inputs": {"dataset": small_dataset.checksum},
                "core_seconds": 1.0,
                "peak_rss_bytes": 1000 + number,
            }
            Shard(**(given | changes)).write(path)
            paths.append(path)
        return paths

    return write
