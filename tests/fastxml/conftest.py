"""A dataset on which trees have something to split."""

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic import topics

from ovaflow.data.dataset import open_dataset, write_dataset


@pytest.fixture(scope="session")
def dataset(tmp_path_factory):
    """600 instances, 400 features, 30 labels, as a file."""
    made = topics(n=600, d=400, n_labels=30, seed=3)
    path = tmp_path_factory.mktemp("fastxml") / "dataset.h5"
    names = [f"label {j}" for j in range(30)]
    write_dataset(path, made.train, replace(made.test, texts=[]), names, [], made.parameters)
    return open_dataset(Path(path))
