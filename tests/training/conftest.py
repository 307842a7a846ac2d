"""Datasets with labels for the fast paths and others."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from synthetic import make_topics

from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.features.normalize import store_zeros
from ovaflow.sparse.csr import from_scipy


def make_weighted_dataset() -> Dataset:
    """Make instances of different weights, and after them names of labels of two words each."""
    documents = make_topics(n=5000, d=800, n_labels=70, signed=True)
    rng = np.random.default_rng(1)
    X = documents.train.X.to_scipy()
    Y = documents.train.Y.to_scipy()
    words = np.zeros((69, X.shape[1]))
    for row in words:
        row[rng.choice(X.shape[1] - 1, 2, replace=False)] = 0.5**0.5
    words[:, -1] = 1.0
    # the names of all labels but the first
    X_names = sp.csr_array(words)
    Y_names = sp.eye_array(70, format="csr")[1:]
    weights = np.pad(rng.choice(np.float32([0.25, 1, 2.5]), 5000), (0, 69), constant_values=1)
    return replace(
        documents,
        train=Split(
            from_scipy(sp.vstack([X, X_names])),
            from_scipy(sp.vstack([Y, Y_names])),
            weights=weights,
        ),
        parameters={"bias": 1.0, "named_labels": 69},
    )


def make_full_dataset() -> Dataset:
    """Make features of either sign, stored with their zeros."""
    made = make_topics(n=5000, d=200, n_labels=14, signed=True)
    return replace(made, train=replace(made.train, X=store_zeros(made.train.X)))


@pytest.fixture(scope="session")
def made() -> dict[str, Dataset]:
    """Datasets by name."""
    return {
        "sparse": make_topics(n=5000, d=800, n_labels=70),
        "weighted": make_weighted_dataset(),
        "in full": make_full_dataset(),
    }
