"""The recorded solver against the plain one and against naive objectives."""

import naive
import numpy as np
import pytest

from ovaflow.solver.losses import LOSSES, SLOPE_AT_ZERO
from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import Settings, Status, make_workspace
from ovaflow.solver.stopping import relative_tolerance
from ovaflow.training.tracing import refined_objective, solve_recorded

OBJECTIVES = {"squared-hinge": naive.squared_hinge_objective, "logistic": naive.logistic_objective}


def problem(text_like, which, loss="squared-hinge", **constants):
    X, dense, labels = text_like
    settings = Settings(**{"C": 1.0, "epsilon": 0.01, "loss": LOSSES[loss]} | constants)
    positives = np.flatnonzero(labels[which] > 0).astype(np.int32)
    at_zero = np.linalg.norm(settings.C * SLOPE_AT_ZERO[settings.loss] * (labels[which] @ dense))
    target = relative_tolerance(settings.epsilon, len(positives), X.n_rows) * at_zero
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = 0.0
    return (X, positives, target, work, settings), dense, labels[which]


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("which", range(6))
def test_same_outcome_and_weights_as_the_plain_solver(text_like, loss, which):
    arguments, _, _ = problem(text_like, which, loss)
    theirs = solve_label(*arguments)
    weights = arguments[3].weights.copy()
    arguments[3].weights[:] = 0.0
    ours, records = solve_recorded(*arguments)
    assert arguments[3].weights == pytest.approx(weights, rel=1e-5, abs=1e-6)
    assert ours._asdict() == pytest.approx(theirs._asdict(), rel=1e-5)
    last = records[-1]
    assert (last.objective, last.gradient_norm, last.active) == (ours.objective, ours.gradient_norm, ours.active_end)
    assert sum(record.cg_steps for record in records) == ours.cg_steps
    assert len(records) == ours.newton_steps + 1
    assert records[0].active == ours.active_start


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_every_record_against_the_naive_objective_of_a_solver_stopped_there(text_like, loss):
    arguments, dense, y = problem(text_like, 2, loss)
    _, records = solve_recorded(*arguments)
    for step, record in enumerate(records):
        stopped, _, _ = problem(text_like, 2, loss, max_newton=step)
        solve_label(*stopped)
        weights = stopped[3].weights.astype(float)
        assert record.objective == pytest.approx(OBJECTIVES[loss](dense, y, weights), rel=1e-5)
        curved = int((y * (dense @ weights) < 1).sum()) if loss == "squared-hinge" else len(y)
        assert abs(record.active - curved) <= 1
        assert record.seconds > 0


def test_objective_falls_and_steps_are_powers_of_a_half(text_like):
    arguments, _, _ = problem(text_like, 3)
    _, records = solve_recorded(*arguments)
    assert (np.diff([record.objective for record in records]) < 0).all()
    lengths = np.array([record.step_length for record in records[1:]])
    assert (np.log2(lengths) == np.round(np.log2(lengths))).all()
    assert records[0].step_length == 0


def test_step_limit_and_refinement(text_like):
    arguments, _, _ = problem(text_like, 0, epsilon=1e-5, max_newton=2)
    outcome, records = solve_recorded(*arguments)
    assert (outcome.status, len(records)) == (Status.ITERATION_LIMIT, 3)
    arguments, dense, y = problem(text_like, 0)
    ours = solve_recorded(*arguments)[0].objective
    best = refined_objective(*arguments)
    exact, _, _ = problem(text_like, 0, epsilon=1e-6)
    solve_label(*exact)
    theirs = naive.squared_hinge_objective(dense, y, exact[3].weights.astype(float))
    assert best == pytest.approx(theirs, rel=1e-6)
    assert best <= ours
