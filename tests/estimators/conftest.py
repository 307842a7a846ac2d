from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from ovaflow.cli import main


@pytest.fixture(scope="package")
def table(tmp_path_factory):
    """Features, an indicator, and the dataset file that ``ovaflow prepare`` makes of them."""
    folder = tmp_path_factory.mktemp("table")
    rng = np.random.default_rng(3)
    n, d, l = 300, 120, 12  # noqa: E741
    X = sp.random_array((n, d), density=0.08, rng=rng, dtype=np.float32, format="csr")
    hints = rng.random((d, l)) < 0.05
    hints[:, -1] = False  # the last label has no instances
    Y = sp.csr_array((X @ hints > 0.5).astype(np.int64))
    for name, matrix in (("X", X), ("Y", Y)):
        sp.save_npz(folder / f"{name}.npz", matrix)
    parts = {"train": "X", "train-labels": "Y", "test": "X", "test-labels": "Y"}
    files = [f"--{part}={folder / name}.npz" for part, name in parts.items()]
    assert main(["prepare", "--format=npz", *files, "--tfidf=false", f"--output={folder / 'dataset.h5'}"]) == 0
    return SimpleNamespace(folder=folder, X=X, Y=Y)
