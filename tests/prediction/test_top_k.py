"""Top-k scoring against brute force, with ties, untrained labels and empty rows."""

import naive
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ovaflow.prediction import top_k
from ovaflow.prediction.top_k import predict_top_k
from ovaflow.sparse.csr import from_scipy, rows_of

# small integers: float32 sums are exact and ties are frequent
VALUES = st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0, 2.0, -0.5])


@st.composite
def problems(draw):
    n, n_labels, d = draw(st.integers(0, 4)), draw(st.integers(1, 9)), draw(st.integers(1, 5))
    X, W = draw(arrays(np.float32, (n, d), elements=VALUES)), draw(arrays(np.float32, (n_labels, d), elements=VALUES))
    return X, W, draw(arrays(bool, n_labels))


@given(problems(), st.integers(1, 11), st.integers(1, 10), st.integers(1, 3))
def test_like_brute_force(problem, k, panel, threads):
    X, W, trained = problem
    ours = predict_top_k(from_scipy(W), trained, from_scipy(X), k, threads, panel)
    theirs = naive.top_k(X, W, trained, k)
    assert np.array_equal(ours[0], theirs[0])
    assert np.array_equal(ours[1], theirs[1])
    assert (ours[0].dtype, ours[1].dtype) == (np.int32, np.float32)


@pytest.fixture(scope="module")
def random_problem():
    rng = np.random.default_rng(0)
    density = rng.beta(0.3, 2, 60)
    W = np.where(rng.random((900, 60)) < density, rng.normal(size=(900, 60)), 0)
    X = scipy.sparse.random_array((1300, 60), density=0.2, rng=rng)
    return from_scipy(W), rng.random(900) < 0.9, from_scipy(X)


def test_like_scipy(random_problem):
    weights, trained, X = random_problem
    ids, scores = predict_top_k(weights, trained, X, 7, threads=2, panel=256)
    theirs = np.where(trained, (X.to_scipy().astype(float) @ weights.to_scipy().astype(float).T).toarray(), -np.inf)
    assert np.allclose(scores, -np.sort(-theirs, axis=1)[:, :7], atol=1e-5)
    assert np.allclose(np.take_along_axis(theirs, ids.astype(int), axis=1), scores, atol=1e-5)


def test_same_bits_for_any_threads_and_company(random_problem, monkeypatch):
    weights, trained, X = random_problem
    once = predict_top_k(weights, trained, X, 5)
    monkeypatch.setattr(top_k, "BLOCK", 7)
    threaded = predict_top_k(weights, trained, X, 5, threads=3)
    alone = predict_top_k(weights, trained, rows_of(X, np.array([321])), 5)
    for ours, theirs, single in zip(threaded, once, alone, strict=True):
        assert np.array_equal(ours, theirs)
        assert np.array_equal(ours[321:322], single)


def test_bias_ranks_instances_without_features():
    weights = from_scipy(np.float32([[5, -2], [0, -1], [9, 0]]))
    ids, scores = predict_top_k(weights, np.array([True, True, False]), from_scipy(np.float32([[0, 1]])), 3)
    assert ids.tolist() == [[1, 0, -1]]
    assert scores.tolist() == [[-1, -2, -np.inf]]


def test_other_features_are_refused(random_problem):
    weights, trained, _ = random_problem
    with pytest.raises(ValueError, match="3 features, the model has 60"):
        predict_top_k(weights, trained, from_scipy(np.ones((2, 3))), 5)
