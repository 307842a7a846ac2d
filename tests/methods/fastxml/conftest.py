import pytest
from synthetic import write_topics

from ovaflow.dataset.dataset import Dataset


@pytest.fixture(scope="session")
def dataset(tmp_path_factory) -> Dataset:
    """A file of 600 instances, 400 features and 30 labels."""
    path = tmp_path_factory.mktemp("fastxml") / "dataset.h5"
    return write_topics(path, n=600, d=400, n_labels=30, seed=3)
