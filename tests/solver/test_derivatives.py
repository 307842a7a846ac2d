"""Losses, gradients and Hessian products against finite differences."""

from collections.abc import Callable

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from solving import make_work_at

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
"""Small enough that no margin passes the kink of the squared hinge's slope on the way."""


def differentiate(directions: np.ndarray, function: Callable) -> np.ndarray:
    """Compute central differences of a function of the weights' shift along each direction."""
    return np.array([(function(STEP * v) - function(-STEP * v)) / (2 * STEP) for v in directions])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("C", "cost"), [(0.5, 1.0), (2.0, 9.0)])
def test_gradients_and_hessian_products_are_differences_of_the_objective(
    text_like, loss, C, cost
) -> None:
    X = text_like.X
    dense = text_like.dense
    settings = Settings(C, LOSSES[loss], preconditioning=1.0)
    for seed, y in enumerate(text_like.labels):
        costs = np.where(y > 0, cost, 1.0)
        rng = np.random.default_rng(seed)
        weights, direction = rng.normal(size=(2, X.n_columns)).astype(np.float32)

        def gradient_at(shift, y=y, weights=weights, costs=costs):
            moved = weights + shift
            return moved + naive.loss_gradient(dense, y, moved, loss, C, costs)

        gradient = gradient_at(0.0)
        diagonal = differentiate(np.eye(X.n_columns), gradient_at).diagonal()
        product = differentiate([direction.astype(float)], gradient_at)[0]
        objective = naive.objective(dense, y, weights.astype(float), loss, C, costs)

        work = make_work_at(X, y, weights, cost)
        assert compute_objective(work, settings) == pytest.approx(objective)
        n_active = collect_active(work, settings)
        norm = fill_gradient(X, work, n_active, settings.C)
        assert work.gradient == pytest.approx(gradient, rel=1e-3, abs=1e-3)
        assert norm == pytest.approx(np.linalg.norm(gradient), rel=1e-4)
        work.direction[:] = direction
        fill_hessian_vector_product(X, work, n_active, settings.C)
        bound = 2e-3 * np.abs(product).max()
        assert work.hessian_direction == pytest.approx(product, rel=2e-3, abs=bound)
        fill_preconditioner(X, work, n_active, settings)
        assert work.preconditioner == pytest.approx(diagonal, rel=1e-3, abs=1e-3)

        # coordinate descent keeps those of the losses alone
        work = make_work_at(X, y, weights, cost)
        minimize_l1(transpose(X), 0.0, work, settings._replace(max_newton=0))
        assert work.gradient == pytest.approx(gradient - weights, rel=1e-3, abs=1e-3)
        loss_diagonal = np.maximum(diagonal - 1, 1e-12)
        assert work.preconditioner == pytest.approx(loss_diagonal, rel=1e-3, abs=1e-3)


THEIRS = {
    "squared-hinge": lambda margin: np.maximum(0, 1 - margin) ** 2,
    "logistic": lambda margin: np.logaddexp(0, -margin),
}


@pytest.mark.parametrize("name", LOSSES)
@given(margin=st.floats(-50, 50, width=32))
def test_losses(name, margin) -> None:
    loss = LOSSES[name]
    theirs = THEIRS[name]
    h = 1e-4
    slope = (theirs(margin + h) - theirs(margin - h)) / (2 * h)
    curvature = (theirs(margin + h) - 2 * theirs(margin) + theirs(margin - h)) / h**2
    assert loss_value(loss, float(margin)) == pytest.approx(theirs(margin), rel=1e-6, abs=1e-9)
    assert loss_slope(loss, np.float32(margin)) == pytest.approx(slope, rel=1e-3, abs=1e-3)
    if abs(margin - 1) > 1e-3:
        ours = loss_curvature(loss, np.float32(margin))
        assert ours == pytest.approx(curvature, rel=1e-3, abs=2e-3)
    assert loss_slope(loss, np.float32(0)) == SLOPE_AT_ZERO[loss]


@given(margin=st.floats(-700, 700))
def test_logistic_derivatives_keep_all_digits_far_out(margin) -> None:
    loss = LOSSES["logistic"]
    slope = -expit(-margin)
    curvature = expit(margin) * expit(-margin)
    assert loss_slope(loss, margin) == pytest.approx(slope, rel=1e-14, abs=0)
    assert loss_curvature(loss, margin) == pytest.approx(curvature, rel=1e-14, abs=0)
    if abs(margin) < 87:
        # float32 has all its digits for numbers from 1e-38 on
        single = np.float32(margin)
        assert loss_slope(loss, single) == pytest.approx(-expit(-float(single)), rel=1e-6, abs=0)
        curvature = expit(float(single)) * expit(-float(single))
        assert loss_curvature(loss, single) == pytest.approx(curvature, rel=1e-6, abs=0)


@pytest.mark.parametrize("margin", [-1e4, -200.0, 200.0, 1e4])
def test_logistic_is_finite_far_out(margin) -> None:
    loss = LOSSES["logistic"]
    assert np.isfinite(loss_value(loss, margin))
    assert np.isfinite(loss_slope(loss, np.float32(margin)))
    assert np.isfinite(loss_curvature(loss, np.float32(margin)))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("length", [30.0, 300.0])
def test_instances_far_on_the_wrong_side_pull_the_gradient(text_like, loss, length) -> None:
    X = text_like.X
    y = text_like.labels[0]
    weights = np.zeros(X.n_columns, np.float32)
    # the last feature is 1: these are the scores of all instances
    weights[-1] = length
    settings = Settings(1.0, LOSSES[loss])
    work = make_work_at(X, y, weights)
    fill_gradient(X, work, collect_active(work, settings), settings.C)
    theirs = weights + naive.loss_gradient(text_like.dense, y, weights, loss)
    assert work.gradient == pytest.approx(theirs, rel=1e-4, abs=1e-3)
