import pytest
from synthetic import write_topics


@pytest.fixture(scope="session")
def dataset(tmp_path_factory):
    """600 instances, 400 features, 30 labels, as a file."""
    path = tmp_path_factory.mktemp("fastxml") / "dataset.h5"
    return write_topics(path, n=600, d=400, n_labels=30, seed=3)
