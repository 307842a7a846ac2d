import numpy as np
import pytest
from synthetic import write_topics

from ovaflow.model.training_file import STATISTICS, Shard, cast_statistics
from ovaflow.sparse.csr import from_scipy, select_rows

N_LABELS = 11
STORED = 0.01


@pytest.fixture
def small_dataset(tmp_path):
    return write_topics(tmp_path / "dataset.h5", n=25, d=16, n_labels=N_LABELS)


@pytest.fixture
def all_weights(small_dataset):
    rng = np.random.default_rng(2)
    dense = rng.normal(0, 0.03, (N_LABELS, small_dataset.n_features)).astype(np.float32)
    dense[np.abs(dense) < STORED] = 0
    dense[3] = 0
    return from_scipy(dense)


@pytest.fixture
def cut(tmp_path, small_dataset, all_weights):
    """Write shards of the given labels; returns their paths."""

    def write(*parts, folder="shards"):
        (tmp_path / folder).mkdir()
        paths = [tmp_path / folder / f"{number}.h5" for number in range(len(parts))]
        about = {
            "parameters": {"stored_threshold": STORED},
            "inputs": {"dataset": small_dataset.checksum},
        }
        for number, (path, part) in enumerate(zip(paths, parts, strict=True)):
            labels = np.asarray(part, np.int32)
            statistics = cast_statistics(dict.fromkeys(STATISTICS, 7 * labels % 5))
            Shard(
                labels,
                labels != 3,
                select_rows(all_weights, labels),
                statistics,
                1.0,
                1000 + number,
                **about,
            ).write(path)
        return paths

    return write
