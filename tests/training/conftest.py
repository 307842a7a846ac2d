from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from synthetic import make_topics

from ovaflow.dataset.dataset import Split
from ovaflow.features.normalize import store_zeros
from ovaflow.sparse.csr import from_scipy


def weighted():
    """Instances of unlike weights, and after them the names of all labels but one: two words each."""
    documents = make_topics(n=5000, d=800, n_labels=70, signed=True)
    rng = np.random.default_rng(1)
    X = documents.train.X.to_scipy()
    Y = documents.train.Y.to_scipy()
    words = np.zeros((69, X.shape[1]))
    for row in words:
        row[rng.choice(X.shape[1] - 1, 2, replace=False)] = 0.5**0.5
    words[:, -1] = 1.0
    names = sp.csr_array(words), sp.eye_array(70, format="csr")[1:]
    matrices = (from_scipy(sp.vstack(both)) for both in zip((X, Y), names, strict=True))
    weights = np.pad(rng.choice(np.float32([0.25, 1, 2.5]), 5000), (0, 69), constant_values=1)
    return replace(
        documents,
        train=Split(*matrices, weights=weights),
        parameters={"bias": 1.0, "named_labels": 69},
    )


def in_full():
    """Features of either sign, stored with their zeros."""
    made = make_topics(n=5000, d=200, n_labels=14, signed=True)
    return replace(made, train=replace(made.train, X=store_zeros(made.train.X)))


MADE = {
    "sparse": lambda: make_topics(n=5000, d=800, n_labels=70),
    "weighted": weighted,
    "in full": in_full,
}


@pytest.fixture(scope="session")
def made():
    """Datasets by name, with labels for the fast paths and others."""
    return {name: make() for name, make in MADE.items()}
