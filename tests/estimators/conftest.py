from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from estimators.corpus import prepare_dataset


@pytest.fixture(scope="package")
def table(tmp_path_factory) -> SimpleNamespace:
    """Features, an indicator, and the dataset file that ``ovaflow prepare`` makes of them."""
    folder = tmp_path_factory.mktemp("table")
    rng = np.random.default_rng(3)
    n, d, l = 300, 120, 12  # noqa: E741
    X = sp.random_array((n, d), density=0.08, rng=rng, dtype=np.float32, format="csr")
    hints = rng.random((d, l)) < 0.05
    # the last label has no instances
    hints[:, -1] = False
    Y = sp.csr_array((X @ hints > 0.5).astype(np.int64))
    return SimpleNamespace(dataset=prepare_dataset(folder, X, Y), X=X, Y=Y)
