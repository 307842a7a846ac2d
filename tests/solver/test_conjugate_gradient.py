import naive
import numpy as np
import pytest

from ovaflow.solver.losses import LOSSES
from ovaflow.solver.newton import solve_newton_system
from ovaflow.solver.objective import collect_active, fill_gradient, fill_preconditioner
from ovaflow.solver.problem import Settings, make_workspace


def prepared(X, y, weights, settings):
    work = make_workspace(X.n_rows, X.n_columns)
    work.signed_costs[:] = y
    work.weights[:] = weights
    work.scores[:] = X.to_scipy() @ weights
    n_active = collect_active(work, settings)
    fill_gradient(X, work, n_active, settings.C)
    fill_preconditioner(X, work, n_active, settings)
    return work, n_active


@pytest.mark.parametrize("loss", [0, 1])
def test_same_steps_as_the_dense_reference(text_like, loss):
    X, dense, labels = text_like
    settings = Settings(2.0, loss, 0.01)
    for seed, y in enumerate(labels):
        weights = np.random.default_rng(seed).normal(size=X.n_columns).astype(np.float32)
        work, n_active = prepared(X, y, weights, settings)
        steps = solve_newton_system(X, work, n_active, settings)
        active, curvatures = work.active[:n_active], work.curvatures[:n_active].astype(float)
        theirs, their_steps = naive.truncated_newton_step(dense, active, curvatures, work.gradient.astype(float), C=2.0)
        assert steps == their_steps
        assert work.step == pytest.approx(theirs, rel=1e-3, abs=1e-4)


def test_without_active_instances_one_step_is_exact(text_like):
    X, _, _ = text_like
    settings = Settings(1.0, LOSSES["squared-hinge"], 0.01)
    weights = np.zeros(X.n_columns, np.float32)
    weights[-1] = -3
    work, n_active = prepared(X, np.full(X.n_rows, -1.0), weights, settings)
    assert n_active == 0
    assert solve_newton_system(X, work, n_active, settings) <= 2
    assert work.step == pytest.approx(-work.gradient)
