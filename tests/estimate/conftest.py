import numpy as np
import pytest

from ovaflow.dataset.dataset import Split, write_dataset
from ovaflow.sparse.csr import CSR, from_scipy

N = 40_000
D = 20_000
LABELS = 100
PER_ROW = 12


@pytest.fixture(scope="session")
def path(tmp_path_factory):
    """A dataset of random instances with 12 words each, popular words first, and labels from rare
    to frequent.
    """
    rng = np.random.default_rng(0)
    # a rising number is added, so that no word appears twice
    words = np.sort((D - 1 - PER_ROW) * rng.random((N, PER_ROW)) ** 3, axis=1).astype(np.int32)
    words += np.arange(PER_ROW, dtype=np.int32)
    words = np.hstack([words, np.full((N, 1), D - 1, np.int32)])
    values = np.full(words.size, PER_ROW**-0.5, np.float32)
    X = CSR(values, words.ravel(), np.arange(0, words.size + 1, PER_ROW + 1), D)
    Y = np.zeros((N, LABELS), np.float32)
    for label in range(1, LABELS):
        Y[rng.integers(0, N, 2 + 3000 // label), label] = 1
    split = Split(X, from_scipy(Y))
    path = tmp_path_factory.mktemp("estimate") / "dataset.h5"
    write_dataset(path, split, split, [f"label {j}" for j in range(LABELS)], [], {"bias": 1.0})
    return path
