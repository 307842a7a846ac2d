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

    X = from_scipy(scipy.sparse.random_array((25, N_FEATURES), density=0.5, rng=rng))
    Y = from_scipy((rng.random((25, N_LABELS)) < 0.3) * 1.0)
    path = tmp_path / "dataset.h5"
    names = [f"label {j}" for j in range(N_LABELS)], [f"word{f}" for f in range(N_FEATURES - 1)]
    splits = [Split(X.part(*rows), Y.part(*rows)) for rows in ((0, 20), (20, 25))]
    write_dataset(path, *splits, *names, {"bias": 1.0}, np.ones(N_FEATURES - 1))
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

    def write(*parts, folder="shards"):
        (tmp_path / folder).mkdir()
        paths = [tmp_path / folder / f"{number}.h5" for number in range(len(parts))]
        about = {"parameters": {"stored_threshold": STORED}, "inputs": {"dataset": small_dataset.checksum}}
        for number, (path, part) in enumerate(zip(paths, parts, strict=True)):
            labels = np.asarray(part, np.int32)
            statistics = typed_statistics(dict.fromkeys(STATISTICS, 7 * labels % 5))
            Shard(labels, labels != 3, rows_of(all_weights, labels), statistics, 1.0, 1000 + number, **about).write(
                path
            )
        return paths

    return write
