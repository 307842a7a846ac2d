"""Solvers of one label at a time: the violation at the end is what the stopping rule allows."""

from typing import Any, NamedTuple

import naive
import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import make_topics

from ovaflow.initialization.means import compute_means
from ovaflow.solver import working_features
from ovaflow.solver.label_solvers import (
    CoordinateDescentSolver,
    LabelData,
    LabelSolver,
    NewtonSolver,
    WorkingFeaturesSolver,
)
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.problem import (
    Costs,
    LabelProblem,
    Outcome,
    Settings,
    Status,
    make_unit_instances,
)
from ovaflow.solver.stopping import Tolerance
from ovaflow.solver.working_features import make_working_features
from ovaflow.sparse.csr import CSR, from_scipy

SOLVERS = ["newton", "all features", "working features"]


def make_solver(
    name: str, X: CSR, loss: str = "squared-hinge", epsilon: float = 0.01, **constants: Any
) -> LabelSolver:
    """Make a solver by its name, with C = 1."""
    instances = make_unit_instances(X.n_rows)
    settings = Settings(1.0, LOSSES[loss], **constants)
    tolerance = Tolerance(epsilon)
    if name == "newton":
        return NewtonSolver(X, instances, settings, tolerance)
    features = make_working_features(X, instances)
    if name == "all features":
        return CoordinateDescentSolver(X, instances, settings, tolerance, features)
    return WorkingFeaturesSolver(X, instances, settings, tolerance, features)


def make_problem(solver: LabelSolver, y: np.ndarray, cost: float = 1.0) -> LabelProblem:
    """Make the problem of one label with C = 1."""
    label = from_scipy(sp.csr_array((y > 0)[None].astype(float)))
    costs = Costs(np.array([cost]), np.array([1.0]))
    (target,) = solver.compute_targets(LabelData(label, compute_means(solver.X, label), costs))
    return LabelProblem(label.indices, target, 1.0, cost)


def solve(
    name: str,
    X: CSR,
    y: np.ndarray,
    loss: str = "squared-hinge",
    start: np.ndarray | None = None,
    cost: float = 1.0,
    **constants: Any,
) -> tuple[np.ndarray, Outcome]:
    """Solve one label with C = 1: weights in double precision, and the outcome."""
    solver = make_solver(name, X, loss, **constants)
    work = solver.make_work()
    work.weights[:] = 0.0 if start is None else start
    outcome = solver.solve(make_problem(solver, y, cost), work)
    return work.weights.astype(float), outcome


class Problem(NamedTuple):
    """Dense features, signs and a start."""

    dense: np.ndarray
    y: np.ndarray
    start: np.ndarray | None


DEGENERATE = {
    "one instance": ([[1.0]], [1.0]),
    "one negative": ([[1.0]], [-1.0]),
    "bias only": ([[0.0, 1.0]], [1.0]),
    "no features": ([[0.0], [0.0], [1.0]], [1.0, -1.0, -1.0]),
    "nothing": ([[0.0, 0.0], [0.0, 0.0]], [1.0, -1.0]),
    "all positive": ([[0.6, 0.8, 1.0], [0.0, 0.0, 1.0]], [1.0, 1.0]),
    "contradiction": ([[0.6, 0.8, 1.0], [0.6, 0.8, 1.0]], [1.0, -1.0]),
}
"""Dense features and signs of problems without instances, features or a separation."""


@st.composite
def problems(draw) -> Problem:
    """Degenerate problems and random ones."""
    if draw(st.booleans()):
        dense, y = draw(st.sampled_from(sorted(DEGENERATE.values())))
        return Problem(np.array(dense), np.array(y), None)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = rng.integers(1, 60)
    d = rng.integers(1, 40)
    signed = rng.random() < 0.5
    dense = rng.normal(size=(n, d)) * (rng.random((n, d)) < rng.random())
    if not signed:
        dense = np.abs(dense)
    n_bias_features = rng.integers(2)
    dense = np.hstack([dense, np.full((n, n_bias_features), 0.7)])
    y = np.where(rng.random(n) < rng.random(), 1.0, -1.0)
    y[0] = 1.0
    start = draw(st.sampled_from([None, np.linspace(-1, 1, dense.shape[1])]))
    return Problem(dense, y, start)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
@given(problem=problems(), cost=st.sampled_from([1.0, 3.0]))
@settings(max_examples=40)
def test_the_reported_violation_is_that_of_the_weights_and_below_its_target(
    name, loss, problem, cost
) -> None:
    X = from_scipy(sp.csr_array(problem.dense))
    y = problem.y
    weights, outcome = solve(name, X, y, loss, problem.start, cost)
    costs = np.where(y > 0, cost, 1.0)
    rounded = X.to_scipy().astype(float).toarray()
    penalty = "l2" if name == "newton" else "l1"
    violation = naive.violation(rounded, y, weights, loss, 1.0, costs, penalty)
    objective = naive.objective(rounded, y, weights, loss, 1.0, costs, penalty)
    assert outcome.status == Status.CONVERGED
    assert outcome.gradient_norm == pytest.approx(violation, rel=1e-2, abs=1e-3 + 1e-4 * len(y))
    assert outcome.objective == pytest.approx(objective, rel=1e-4, abs=1e-6)
    assert outcome.gradient_norm <= outcome.gradient_target


@pytest.mark.parametrize("name", SOLVERS)
def test_no_step_at_the_optimum(text_like, name) -> None:
    y = text_like.labels[2]
    optimum, outcome = solve(name, text_like.X, y, epsilon=1e-3)
    assert outcome.newton_steps > 1
    _, again = solve(name, text_like.X, y, start=optimum)
    most_steps = 0 if name == "newton" else 1
    assert again.newton_steps <= most_steps


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(("max_newton", "max_cg"), [(1, 10), (10, 1)])
def test_limits_of_steps_and_of_passes(text_like, name, max_newton, max_cg) -> None:
    limits = {"max_newton": max_newton, "max_cg": max_cg}
    y = text_like.labels[0]
    _, outcome = solve(name, text_like.X, y, "logistic", epsilon=1e-7, **limits)
    assert outcome.status == Status.ITERATION_LIMIT
    if name != "working features":
        assert outcome.newton_steps == max_newton
        assert outcome.cg_steps <= max_newton * max_cg


def test_a_start_without_active_instances(text_like) -> None:
    X = text_like.X
    y = np.full(X.n_rows, -1.0)
    start = np.zeros(X.n_columns)
    start[-1] = -5.0
    weights, outcome = solve("newton", X, y, start=start)
    from_zero, _ = solve("newton", X, y)
    assert outcome.active_start == 0
    assert outcome.status == Status.CONVERGED
    ours = naive.objective(text_like.dense, y, weights)
    theirs = naive.objective(text_like.dense, y, from_zero)
    assert ours == pytest.approx(theirs, rel=1e-3)


def test_a_start_with_many_weights_is_cut_down() -> None:
    X = make_topics(n=300, d=4000, n_labels=1).train.X
    y = np.where(np.arange(300) < 20, 1.0, -1.0)
    start = np.random.default_rng(0).normal(size=4001)
    _, ours = solve("working features", X, y, start=start)
    _, theirs = solve("all features", X, y)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-3)


def test_a_label_without_rounds_left_changes_no_later_label(text_like, monkeypatch) -> None:
    X = text_like.X
    solver = make_solver("working features", X)
    work = solver.make_work()
    work.weights[:] = 0.0
    with monkeypatch.context() as patch:
        # compiled code keeps the constant
        minimize = numba.njit(working_features._minimize_on_features.py_func)
        patch.setattr(working_features, "_minimize_on_features", minimize)
        patch.setattr(working_features, "_MOST_ROUNDS", 1)
        unfinished = solver.solve(make_problem(solver, text_like.labels[0]), work)
    assert unfinished.status == Status.ITERATION_LIMIT
    y = text_like.labels[1]
    work.weights[:] = 0.0
    ours = solver.solve(make_problem(solver, y), work)
    _, theirs = solve("all features", X, y)
    assert ours.status == Status.CONVERGED
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_brings_its_share_of_the_linear_decrease(text_like, loss) -> None:
    dense = text_like.dense
    zero = np.zeros(text_like.X.n_columns)
    for y in text_like.labels:
        step, _ = solve("all features", text_like.X, y, loss, max_newton=1, sufficient_decrease=0.9)
        before = naive.objective(dense, y, zero, loss, regularization="l1")
        after = naive.objective(dense, y, step, loss, regularization="l1")
        linear = naive.loss_gradient(dense, y, zero, loss) @ step + np.abs(step).sum()
        assert after - before <= 0.9 * linear < 0


ONES = np.ones((4, 1))
SOME = np.array([[1.0], [0.0], [1.0], [1.0]])


@pytest.mark.parametrize(
    ("columns", "bias"),
    [((SOME, ONES), 1), ((ONES, SOME), -1), ((SOME, 0.5 * ONES), 1), ((ONES, ONES + SOME), -1)],
)
def test_the_bias_is_the_last_feature_if_all_instances_have_it_alike(columns, bias) -> None:
    X = from_scipy(sp.csr_array(np.hstack(columns)))
    assert make_working_features(X, make_unit_instances(4)).bias == bias
