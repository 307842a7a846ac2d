"""Gradients and Hessian products against finite differences of the objective and of the gradient."""

import naive
import numpy as np
import pytest

from ovaflow.solver.coordinate_descent import minimise_l1
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.newton import pose
from ovaflow.solver.objective import collect_active, fill_curved, fill_gradient, fill_preconditioner, value
from ovaflow.solver.problem import Settings, make_workspace
from ovaflow.sparse.csr import transpose

STEP = 1e-7
"""So small that no margin passes the kink of the squared hinge's slope on the way."""

PROBLEMS = [(loss, C, cost) for loss in LOSSES for C, cost in [(1.0, 1.0), (0.5, 1.0), (2.0, 9.0)]]


def posed(X, y, weights, cost):
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = weights
    pose(X, np.flatnonzero(y > 0).astype(np.int32), np.float32(cost), work)
    return work


def along(directions, function):
    """Central differences of a function of the weights' shift along each direction."""
    return np.array([(function(STEP * v) - function(-STEP * v)) / (2 * STEP) for v in directions])


@pytest.mark.parametrize(("loss", "C", "cost"), PROBLEMS)
def test_gradient(text_like, loss, C, cost):
    X, dense, labels = text_like
    settings = Settings(C, LOSSES[loss], 0.01)
    for seed, y in enumerate(labels):
        weights = np.random.default_rng(seed).normal(size=X.n_columns).astype(np.float32)
        work = posed(X, y, weights, cost)
        assert value(work, settings) == pytest.approx(naive.objective(dense, y, weights.astype(float), loss, C, cost))
        norm = fill_gradient(X, work, collect_active(work, settings), settings.C)
        theirs = along(
            np.eye(X.n_columns), lambda shift, y=y, w=weights: naive.objective(dense, y, w + shift, loss, C, cost)
        )
        assert work.gradient == pytest.approx(theirs, rel=1e-3, abs=1e-3)
        assert norm == pytest.approx(np.linalg.norm(theirs), rel=1e-4)


@pytest.mark.parametrize(("loss", "C", "cost"), PROBLEMS)
def test_hessian_products_and_their_diagonal(text_like, loss, C, cost):
    X, dense, labels = text_like
    settings = Settings(C, LOSSES[loss], 0.01, preconditioning=1.0)
    for seed, y in enumerate(labels):
        rng = np.random.default_rng(seed)
        weights, direction = rng.normal(size=(2, X.n_columns)).astype(np.float32)

        def gradient(shift, y=y, w=weights):
            return w + shift + naive.loss_gradient(dense, y, w + shift, loss, C, cost)

        work = posed(X, y, weights, cost)
        work.direction[:] = direction
        n_active = collect_active(work, settings)
        fill_curved(X, work, n_active, settings.C)
        theirs = along([direction.astype(float)], gradient)[0]
        assert work.curved == pytest.approx(theirs, rel=2e-3, abs=2e-3 * np.abs(theirs).max())
        fill_preconditioner(X, work, n_active, settings)
        diagonal = along(np.eye(X.n_columns), gradient).diagonal()
        assert work.preconditioner == pytest.approx(diagonal, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize(("loss", "C", "cost"), PROBLEMS)
def test_gradient_and_curvature_of_coordinate_descent(text_like, loss, C, cost):
    X, dense, labels = text_like
    for seed, y in enumerate(labels):
        weights = np.random.default_rng(seed).normal(size=X.n_columns).astype(np.float32)
        work = posed(X, y, weights, cost)
        minimise_l1(transpose(X), 0.0, work, Settings(C, LOSSES[loss], 0.01, max_newton=0))

        def losses(shift, y=y, w=weights):
            return naive.objective(dense, y, w + shift, loss, C, cost) - 0.5 * (w + shift) @ (w + shift)

        def gradient(shift, y=y, w=weights):
            return naive.loss_gradient(dense, y, w + shift, loss, C, cost)

        assert work.gradient == pytest.approx(along(np.eye(X.n_columns), losses), rel=1e-3, abs=1e-3)
        theirs = np.maximum(along(np.eye(X.n_columns), gradient).diagonal(), 1e-12)
        assert work.curved == pytest.approx(theirs, rel=1e-3, abs=1e-3)
