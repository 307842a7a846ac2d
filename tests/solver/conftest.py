import numpy as np
import pytest
import scipy.sparse as sp

from ovaflow.sparse.csr import from_scipy


@pytest.fixture(scope="session")
def text_like():
    """400 sparse unit rows with a bias feature: (X as CSR, X dense in float64, list of label
    vectors).
    """
    rng = np.random.default_rng(0)
    tokens = sp.random_array((400, 90), density=0.08, rng=rng, format="csr")
    norms = np.sqrt(tokens.multiply(tokens).sum(axis=1)).ravel()
    features = sp.hstack(
        [sp.diags_array(1 / np.maximum(norms, 1e-12)) @ tokens, np.ones((400, 1))]
    ).tocsr()
    hidden = rng.normal(size=(6, 91))
    scores = features @ hidden.T + 0.3 * rng.normal(size=(400, 6))
    thresholds = np.quantile(scores, [0.5, 0.8, 0.9, 0.97, 0.99, 0.9975], axis=0).diagonal()
    labels = [np.where(s > t, 1.0, -1.0) for s, t in zip(scores.T, thresholds, strict=True)]
    X = from_scipy(features)
    return X, X.to_scipy().astype(float).toarray(), labels
