import naive
import numpy as np
import pytest

from ovaflow.solver.losses import LOSSES
from ovaflow.solver.newton import FAILED, search_step
from ovaflow.solver.problem import Settings, make_workspace


def searched(X, dense, y, weights, step):
    work = make_workspace(X.n_rows, X.n_columns)
    work.signed_costs[:] = y
    work.weights[:] = weights
    work.scores[:] = dense @ weights
    work.score_steps[:] = dense @ step
    work.step[:] = step
    work.gradient[:] = naive.squared_hinge_gradient(dense, y, weights)
    return search_step(work, Settings(1.0, LOSSES["squared-hinge"], 0.01))


@pytest.mark.parametrize("stretch", [0.1, 1.0, 5.0, 30.0, 1000.0])
def test_first_halving_with_sufficient_decrease(text_like, stretch):
    X, dense, labels = text_like
    rng = np.random.default_rng(3)
    for y in labels:
        weights = rng.normal(size=X.n_columns)
        gradient = naive.squared_hinge_gradient(dense, y, weights)
        step = -stretch * gradient / np.linalg.norm(gradient)
        here = naive.squared_hinge_objective(dense, y, weights)
        theirs = next(
            halvings
            for halvings in range(21)
            if naive.squared_hinge_objective(dense, y, weights + 0.5**halvings * step) - here
            <= 0.01 * 0.5**halvings * (gradient @ step)
        )
        assert searched(X, dense, y, weights, step) == (0.5**theirs, theirs)


def test_uphill_is_refused(text_like):
    X, dense, labels = text_like
    weights = np.zeros(X.n_columns)
    uphill = naive.squared_hinge_gradient(dense, labels[0], weights)
    length, _ = searched(X, dense, labels[0], weights, uphill)
    assert length == FAILED
