"""Losses, gradients and Hessian products against finite differences."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from solving import make_problem

from ovaflow.solver.coordinate_descent import minimize_l1
from ovaflow.solver.losses import LOSSES, SLOPE_AT_ZERO, loss_curvature, loss_slope, loss_value
from ovaflow.solver.objective import (
    collect_active,
    compute_objective,
    fill_gradient,
    fill_hessian_vector_product,
    fill_preconditioner,
)
from ovaflow.solver.problem import Settings
from ovaflow.sparse.csr import transpose

STEP = 1e-7
"""So small that no margin passes the kink of the squared hinge's slope on the way."""

PROBLEMS = [(loss, C, cost) for loss in LOSSES for C, cost in [(0.5, 1.0), (2.0, 9.0)]]


def along(directions, function):
    """Central differences of a function of the weights' shift along each direction."""
    return np.array([(function(STEP * v) - function(-STEP * v)) / (2 * STEP) for v in directions])


@pytest.mark.parametrize(("loss", "C", "cost"), PROBLEMS)
def test_newton_and_coordinate_descent(text_like, loss, C, cost) -> None:
    X, dense, labels = text_like
    settings = Settings(C, LOSSES[loss], 0.01, preconditioning=1.0)
    for seed, y in enumerate(labels):
        costs = np.where(y > 0, cost, 1.0)
        weights, direction = (
            np.random.default_rng(seed).normal(size=(2, X.n_columns)).astype(np.float32)
        )

        def gradient(shift, problem=(loss, C, costs), y=y, w=weights):
            return w + shift + naive.loss_gradient(dense, y, w + shift, *problem)

        slopes = gradient(0.0)
        diagonal = along(np.eye(X.n_columns), gradient).diagonal()
        work = make_problem(X, y, weights, cost)
        wide = weights.astype(float)
        assert compute_objective(work, settings) == pytest.approx(
            naive.objective(dense, y, wide, loss, C, costs)
        )
        n_active = collect_active(work, settings)
        norm = fill_gradient(X, work, n_active, settings.C)
        assert work.gradient == pytest.approx(slopes, rel=1e-3, abs=1e-3)
        assert norm == pytest.approx(np.linalg.norm(slopes), rel=1e-4)
        work.direction[:] = direction
        fill_hessian_vector_product(X, work, n_active, settings.C)
        theirs = along([direction.astype(float)], gradient)[0]
        assert work.hessian_direction == pytest.approx(
            theirs, rel=2e-3, abs=2e-3 * np.abs(theirs).max()
        )
        fill_preconditioner(X, work, n_active, settings)
        assert work.preconditioner == pytest.approx(diagonal, rel=1e-3, abs=1e-3)
        # coordinate descent keeps those of the losses alone
        work = make_problem(X, y, weights, cost)
        minimize_l1(transpose(X), 0.0, work, settings._replace(max_newton=0))
        assert work.gradient == pytest.approx(slopes - weights, rel=1e-3, abs=1e-3)
        assert work.preconditioner == pytest.approx(
            np.maximum(diagonal - 1, 1e-12), rel=1e-3, abs=1e-3
        )


THEIRS = {
    "squared-hinge": lambda margin: np.maximum(0, 1 - margin) ** 2,
    "logistic": lambda margin: np.logaddexp(0, -margin),
}


@pytest.mark.parametrize("name", LOSSES)
@given(margin=st.floats(-50, 50, width=32))
def test_losses(name, margin) -> None:
    loss = LOSSES[name]
    value = THEIRS[name]
    h = 1e-4
    slope = (value(margin + h) - value(margin - h)) / (2 * h)
    curvature = (value(margin + h) - 2 * value(margin) + value(margin - h)) / h**2
    assert loss_value(loss, float(margin)) == pytest.approx(value(margin), rel=1e-6, abs=1e-9)
    assert loss_slope(loss, np.float32(margin)) == pytest.approx(slope, rel=1e-3, abs=1e-3)
    if abs(margin - 1) > 1e-3:
        assert loss_curvature(loss, np.float32(margin)) == pytest.approx(
            curvature, rel=1e-3, abs=2e-3
        )
    assert loss_slope(loss, np.float32(0)) == SLOPE_AT_ZERO[loss]


@pytest.mark.parametrize("margin", [-1e4, -200.0, 200.0, 1e4])
def test_logistic_is_finite_far_out(margin) -> None:
    loss = LOSSES["logistic"]
    single = np.float32(margin)
    found = loss_value(loss, margin), loss_slope(loss, single), loss_curvature(loss, single)
    assert np.isfinite(found).all()
