"""A small dataset, weights for it, and shards of them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic import write_topics

from ovaflow.dataset.dataset import Dataset
from ovaflow.model.training_file import STATISTICS, Shard, cast_statistics
from ovaflow.sparse.csr import CSR, from_scipy, select_rows

N_LABELS = 11
STORED_THRESHOLD = 0.01


@pytest.fixture
def small_dataset(tmp_path) -> Dataset:
    return write_topics(tmp_path / "dataset.h5", n=25, d=16, n_labels=N_LABELS)


@pytest.fixture
def all_weights(small_dataset) -> CSR:
    rng = np.random.default_rng(2)
    dense = rng.normal(0, 0.03, (N_LABELS, small_dataset.n_features)).astype(np.float32)
    dense[np.abs(dense) < STORED_THRESHOLD] = 0
    dense[3] = 0
    return from_scipy(dense)


@pytest.fixture
def write_shards(tmp_path, small_dataset, all_weights) -> Callable[..., list[Path]]:
    """A function that writes a shard for each list of labels and returns their paths."""

    def write(parts: Sequence[Any], folder: str = "shards") -> list[Path]:
        (tmp_path / folder).mkdir()
        paths = []
        for number, part in enumerate(parts):
            labels = np.asarray(part, np.int32)
            shard = Shard(
                labels=labels,
                trained=labels != 3,
                weights=select_rows(all_weights, labels),
                statistics=cast_statistics(dict.fromkeys(STATISTICS, 7 * labels % 5)),
                core_seconds=1.0,
                peak_rss_bytes=1000 + number,
                parameters={"stored_threshold": STORED_THRESHOLD},
                inputs={"dataset": small_dataset.checksum},
            )
            path = tmp_path / folder / f"{number}.h5"
            shard.write(path)
            paths.append(path)
        return paths

    return write
