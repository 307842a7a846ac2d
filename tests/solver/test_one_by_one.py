"""Labels solved one by one, in each way: what is violated at the end is no more than the stopping
rule allows.
"""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import make_topics

from ovaflow.initialization.means import compute_means
from ovaflow.solver.label_solvers import (
    CoordinateDescentSolver,
    LabelData,
    NewtonSolver,
    WorkingFeaturesSolver,
)
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.problem import (
    L1,
    L2,
    Costs,
    LabelProblem,
    Settings,
    Status,
    make_unit_instances,
)
from ovaflow.solver.working_features import make_working_features
from ovaflow.sparse.csr import from_scipy

WAYS = {
    "newton": NewtonSolver,
    "all features": CoordinateDescentSolver,
    "working features": WorkingFeaturesSolver,
}


def penalty_of(way):
    return "l2" if way == "newton" else "l1"


def solve(way, X, y, loss="squared-hinge", start=None, cost=1.0, **constants):
    """Weights in double precision, and the outcome."""
    given = {"C": 1.0, "epsilon": 0.01, "regularization": L2 if way == "newton" else L1} | constants
    instances = make_unit_instances(X.n_rows)
    label = from_scipy(sp.csr_array((y > 0)[None].astype(float)))
    features = [] if way == "newton" else [make_working_features(X, instances)]
    solver = WAYS[way](X, instances, Settings(loss=LOSSES[loss], **given), *features)
    costs = Costs(np.array([cost]), np.array([given["C"]]))
    work = solver.make_work()
    (target,) = solver.compute_targets(LabelData(label, compute_means(X, label), costs))
    work.weights[:] = 0.0 if start is None else start
    outcome = solver.solve(LabelProblem(label.indices, target, given["C"], cost), work)
    return work.weights.astype(float), outcome


DEGENERATE = {
    "one instance": ([[1.0]], [1.0]),
    "one negative": ([[1.0]], [-1.0]),
    "bias only": ([[0.0, 1.0]], [1.0]),
    "no features": ([[0.0], [0.0], [1.0]], [1.0, -1.0, -1.0]),
    "nothing": ([[0.0, 0.0], [0.0, 0.0]], [1.0, -1.0]),
    "all positive": ([[0.6, 0.8, 1.0], [0.0, 0.0, 1.0]], [1.0, 1.0]),
    "contradiction": ([[0.6, 0.8, 1.0], [0.6, 0.8, 1.0]], [1.0, -1.0]),
}
"""Dense features and signs of problems that are hardly any."""


@st.composite
def problems(draw):
    """Features, signs and a start."""
    if draw(st.booleans()):
        return *map(np.array, draw(st.sampled_from(sorted(DEGENERATE.values())))), None
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = rng.integers(1, 60)
    d = rng.integers(1, 40)
    signed = rng.random() < 0.5
    dense = rng.normal(size=(n, d)) * (rng.random((n, d)) < rng.random())
    dense = np.hstack([dense if signed else np.abs(dense), np.full((n, rng.integers(2)), 0.7)])
    y = np.where(rng.random(n) < rng.random(), 1.0, -1.0)
    y[0] = 1.0
    return dense, y, draw(st.sampled_from([None, np.linspace(-1, 1, dense.shape[1])]))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("loss", LOSSES)
@given(problem=problems(), cost=st.sampled_from([1.0, 3.0]))
@settings(max_examples=40)
def test_what_is_violated_at_the_end(way, loss, problem, cost) -> None:
    dense, y, start = problem
    weights, outcome = solve(way, X := from_scipy(sp.csr_array(dense)), y, loss, start, cost)
    costs = np.where(y > 0, cost, 1.0)
    given = X.to_scipy().astype(float).toarray(), y, weights, loss, 1.0, costs, penalty_of(way)
    assert outcome.status == Status.CONVERGED
    assert outcome.gradient_norm == pytest.approx(
        naive.violation(*given), rel=1e-2, abs=1e-3 + 1e-4 * len(y)
    )
    assert outcome.objective == pytest.approx(naive.objective(*given), rel=1e-4, abs=1e-6)
    assert outcome.gradient_norm <= outcome.gradient_target


@pytest.mark.parametrize("way", WAYS)
def test_no_step_at_the_optimum(text_like, way) -> None:
    X, _, labels = text_like
    optimum, outcome = solve(way, X, labels[2], epsilon=1e-3)
    assert outcome.newton_steps > 1
    assert solve(way, X, labels[2], start=optimum)[1].newton_steps <= (way != "newton")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("max_newton", "max_cg"), [(1, 10), (10, 1)])
def test_limits_of_steps_and_of_passes(text_like, way, max_newton, max_cg) -> None:
    X, _, labels = text_like
    _, outcome = solve(
        way, X, labels[0], "logistic", epsilon=1e-7, max_newton=max_newton, max_cg=max_cg
    )
    assert outcome.status == Status.ITERATION_LIMIT
    if way != "working features":
        assert outcome.newton_steps == max_newton
        assert outcome.cg_steps <= max_newton * max_cg


def test_a_start_where_no_loss_is_curved(text_like) -> None:
    X, dense, _ = text_like
    y = np.full(X.n_rows, -1.0)
    start = np.zeros(X.n_columns)
    start[-1] = -5.0
    weights, outcome = solve("newton", X, y, start=start)
    assert (outcome.active_start, outcome.status) == (0, Status.CONVERGED)
    ours, theirs = (naive.objective(dense, y, each) for each in (weights, solve("newton", X, y)[0]))
    assert ours == pytest.approx(theirs, rel=1e-3)


def test_a_start_with_many_weights_is_cut_down() -> None:
    X = make_topics(n=300, d=4000, n_labels=1).train.X
    y = np.where(np.arange(300) < 20, 1.0, -1.0)
    start = np.random.default_rng(0).normal(size=4001)
    (_, cut) = solve("working features", X, y, start=start)
    (_, whole) = solve("all features", X, y)
    assert cut.objective == pytest.approx(whole.objective, rel=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_brings_its_share_of_the_linear_decrease(text_like, loss) -> None:
    X, dense, labels = text_like
    zero = np.zeros(X.n_columns)
    for y in labels:
        step, _ = solve("all features", X, y, loss, max_newton=1, sufficient_decrease=0.9)
        after, before = (
            naive.objective(dense, y, weights, loss, regularization="l1")
            for weights in (step, zero)
        )
        linear = naive.loss_gradient(dense, y, zero, loss) @ step + np.abs(step).sum()
        assert after - before <= 0.9 * linear < 0


def test_the_bias_is_the_last_feature_that_all_instances_have_alike() -> None:
    ones = np.ones((4, 1))
    some = np.array([[1.0], [0.0], [1.0], [1.0]])
    matrices = [(some, ones), (ones, some), (some, 0.5 * ones), (ones, ones + some)]
    stacked = [from_scipy(sp.csr_array(np.hstack(columns))) for columns in matrices]
    assert [make_working_features(X, make_unit_instances(X.n_rows)).bias for X in stacked] == [
        1,
        -1,
        1,
        -1,
    ]
