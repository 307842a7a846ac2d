import numpy as np
import pytest
import scipy.sparse as sp

from ovaflow.dataset.dataset import Dataset, Split, open_dataset, write_dataset
from ovaflow.sparse.csr import from_scipy


def make_split(n, rng, centres) -> Split:
    """Make instances whose features are those of their labels' centres, with noise."""
    labels = rng.random((n, len(centres))) < np.linspace(0.3, 0.05, len(centres))
    labels[:, -1] = False
    features = np.maximum(labels @ centres + rng.normal(0.0, 0.3, (n, centres.shape[1])) - 0.6, 0.0)
    features /= np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
    X = sp.hstack([sp.csr_array(features), np.ones((n, 1))])
    return Split(from_scipy(X), from_scipy(sp.csr_array(labels.astype(float))))


@pytest.fixture(scope="session")
def small_dataset(tmp_path_factory) -> Dataset:
    """A dataset of 400 training instances with 12 labels, the last without positives."""
    rng = np.random.default_rng(3)
    centres = rng.random((12, 40)) * (rng.random((12, 40)) < 0.2)
    path = tmp_path_factory.mktemp("benchmark") / "dataset.h5"
    names = [f"label {j}" for j in range(12)]
    train = make_split(400, rng, centres)
    test = make_split(100, rng, centres)
    write_dataset(path, train, test, names, [], {"bias": 1.0})
    return open_dataset(path)
