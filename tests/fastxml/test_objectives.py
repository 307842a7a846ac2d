import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import ndcg_score

from ovaflow.fastxml.training import OBJECTIVES, make_gains
from ovaflow.sparse.csr import from_scipy


@pytest.fixture
def Y():
    generator = np.random.default_rng(0)
    dense = (generator.random((40, 12)) < 0.3).astype(float)
    dense[0] = 0
    return dense


def gain(gains, y, ranking, normaliser):
    return normaliser * (gains.labels * y)[ranking] @ gains.discounts


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gain_of_a_ranking(Y, objective):
    gains = make_gains(objective, from_scipy(Y))
    ranking = np.random.default_rng(1).permutation(12)
    scores = np.empty(12)
    scores[ranking] = np.arange(12, 0, -1)
    for y, normaliser in zip(Y[1:], gains.normalisers[1:], strict=True):
        ours = gain(gains, y, ranking, normaliser)
        if objective == "P@5":
            theirs = y[ranking[:5]].mean()
        else:
            theirs = ndcg_score([y], [scores], k=5 if "@" in objective else None)
        assert ours == pytest.approx(theirs, abs=1e-12)


def test_propensities_as_gains_are_graded_relevance(Y):
    worth = np.random.default_rng(2).uniform(1, 20, 12)
    gains = make_gains("nDCG", from_scipy(Y), worth)
    assert gains.labels.max() == 1
    scores = np.arange(12.0)
    for y, normaliser in zip(Y[1:], gains.normalisers[1:], strict=True):
        ours = gain(gains, y, np.arange(12)[::-1], normaliser)
        assert ours == pytest.approx(ndcg_score([y * worth], [scores]), abs=1e-12)


def test_an_instance_without_labels_gains_nothing():
    gains = make_gains("nDCG", from_scipy(sp.csr_array((2, 3))))
    assert gains.normalisers.tolist() == [0, 0]
