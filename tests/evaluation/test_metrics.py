import math

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import coverage_error, f1_score, label_ranking_average_precision_score

from ovaflow.dataset.dataset import compute_inverse_propensity
from ovaflow.evaluation.metric import compute_metric
from ovaflow.evaluation.metrics import compute_ranking_metrics
from ovaflow.evaluation.ranking import Ranked
from ovaflow.sparse.csr import from_scipy


@st.composite
def problems(draw) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranked labels of some instances, their true labels, and inverse propensities."""
    n = draw(st.integers(1, 6))
    n_labels = draw(st.integers(2, 8))
    k = draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    Y = (rng.random((n, n_labels)) < draw(st.sampled_from([0.1, 0.4, 1.0]))).astype(int)
    ids = np.full((n, k), -1, np.int32)
    for row in ids:
        some = rng.permutation(n_labels)[: rng.integers(0, k + 1)]
        row[: len(some)] = some
    return ids, Y, 1 + rng.random(n_labels)


@given(problems())
def test_like_naive_and_scikit_learn(problem) -> None:
    ids, Y, inverse = problem
    ours = compute_ranking_metrics(ids, from_scipy(Y), inverse)
    n_labels = Y.shape[1]
    most = ids.shape[1]
    places = {k for k in (1, 3, 5) if k <= min(most, n_labels)} | (
        {most} if most < n_labels else set()
    )
    assert {name for name in ours if name.startswith("P@")} == {f"P@{k}" for k in places}
    for k in places:
        theirs = naive.ranking_metrics(ids, Y, inverse, k)
        taken = naive.mark_labels(ids[:, :k], n_labels)
        # labels without test positives are left out
        tested = np.flatnonzero(Y.any(axis=0))
        if len(tested):
            theirs["macro-F1"] = f1_score(Y, taken, labels=tested, average="macro", zero_division=0)
        theirs["micro-F1"] = f1_score(Y, taken, average="micro", zero_division=0)
        for name, value in theirs.items():
            assert ours[f"{name}@{k}"] == pytest.approx(value), (name, k)


@given(problems())
def test_metrics_of_candidates_like_scikit_learn(problem) -> None:
    ids, Y, inverse = problem
    hits = np.take_along_axis(Y, ids.astype(int), axis=1) * (ids >= 0)
    # of instances without a true label scikit-learn says 1 and 0
    some = hits.any(axis=1)
    places = -np.arange(ids.shape[1], dtype=float)
    theirs = {"LRAP": 0.0, "coverage-error": 0.0}
    if some.any():
        scores = np.tile(places, (some.sum(), 1))
        theirs["LRAP"] = (
            label_ranking_average_precision_score(hits[some], scores) if ids.shape[1] > 1 else 1.0
        )
        theirs["coverage-error"] = coverage_error(hits[some], scores) if ids.shape[1] > 1 else 1.0
    for name, value in theirs.items():
        assert compute_metric(name, Ranked(ids, from_scipy(Y), inverse)) == pytest.approx(value), (
            name
        )


@pytest.mark.parametrize("Y", [np.zeros((3, 2)), np.zeros((0, 2))])
def test_nothing_to_average(Y) -> None:
    ids = np.zeros((len(Y), 5), np.int32)
    assert set(compute_ranking_metrics(ids, from_scipy(Y), np.ones(2)).values()) == {0.0}


@given(st.integers(3, 10**7), st.integers(0, 10**6), st.floats(0.1, 1), st.floats(0.1, 5))
def test_propensity_formula(n, count, a, b) -> None:
    # Jain et al. 2016, eq. of section 5: p = 1 / (1 + C exp(-A log(N + B)))
    c = (math.log(n) - 1) * (b + 1) ** a
    theirs = 1 + c * math.exp(-a * math.log(count + b))
    assert compute_inverse_propensity(np.array([count]), n, a, b)[0] == pytest.approx(theirs)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_propensity_of_few_instances_is_one(n) -> None:
    assert compute_inverse_propensity(np.array([0, 1]), n, 0.55, 1.5).tolist() == [1, 1]
