"""A text-like problem for tests of the solver."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from ovaflow.sparse.csr import CSR, from_scipy


class TextLike(NamedTuple):
    """Sparse unit rows with a bias feature, and labels from frequent to rare."""

    X: CSR
    dense: np.ndarray  # X in float64
    labels: list[np.ndarray]  # signs of all instances, for each label


@pytest.fixture(scope="session")
def text_like() -> TextLike:
    """400 instances of 91 features, 6 labels."""
    rng = np.random.default_rng(0)
    tokens = sp.random_array((400, 90), density=0.08, rng=rng, format="csr")
    norms = np.sqrt(tokens.multiply(tokens).sum(axis=1)).ravel()
    unit_rows = sp.diags_array(1 / np.maximum(norms, 1e-12)) @ tokens
    features = sp.hstack([unit_rows, np.ones((400, 1))]).tocsr()
    hidden = rng.normal(size=(6, 91))
    scores = features @ hidden.T + 0.3 * rng.normal(size=(400, 6))
    quantiles = [0.5, 0.8, 0.9, 0.97, 0.99, 0.9975]
    labels = []
    for label, quantile in enumerate(quantiles):
        threshold = np.quantile(scores[:, label], quantile)
        labels.append(np.where(scores[:, label] > threshold, 1.0, -1.0))
    X = from_scipy(features)
    return TextLike(X, X.to_scipy().astype(float).toarray(), labels)
