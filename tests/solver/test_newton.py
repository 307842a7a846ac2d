"""Directions and steps of Newton's method, and the stopping rule, against naive references."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose
from solving import make_work_at

from ovaflow.settings.train import TrainLabels
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.newton import NO_STEP_LENGTH, search_step_length, solve_newton_system
from ovaflow.solver.objective import collect_active, fill_gradient, fill_preconditioner
from ovaflow.solver.problem import Settings
from ovaflow.solver.stopping import Tolerance, scale_tolerance


@pytest.mark.parametrize("loss", [0, 1])
def test_same_steps_as_the_dense_reference(text_like, loss) -> None:
    X = text_like.X
    settings = Settings(2.0, loss)
    for seed, y in enumerate(text_like.labels):
        weights = np.random.default_rng(seed).normal(size=X.n_columns).astype(np.float32)
        work = make_work_at(X, y, weights)
        n_active = collect_active(work, settings)
        fill_gradient(X, work, n_active, settings.C)
        fill_preconditioner(X, work, n_active, settings)
        steps = solve_newton_system(X, work, n_active, settings)
        active = work.active[:n_active]
        curvatures = work.curvatures[:n_active].astype(float)
        theirs, their_steps = naive.truncated_newton_step(
            text_like.dense, active, curvatures, work.gradient.astype(float), C=2.0
        )
        assert steps == their_steps
        assert work.step == pytest.approx(theirs, rel=1e-3, abs=1e-4)


def search_along(
    text_like, y: np.ndarray, weights: np.ndarray, step: np.ndarray, share: float = 0.01
) -> tuple[float, int]:
    """Search the length of a step that brings a share of the linear decrease."""
    work = make_work_at(text_like.X, y, weights)
    work.score_steps[:] = text_like.dense @ step
    work.step[:] = step
    work.gradient[:] = weights + naive.loss_gradient(text_like.dense, y, weights)
    settings = Settings(1.0, LOSSES["squared-hinge"], sufficient_decrease=share)
    return search_step_length(work, settings)


@pytest.mark.parametrize("share", [0.01, 0.5])
@pytest.mark.parametrize("stretch", [0.1, 5.0, 1000.0])
def test_the_first_length_with_sufficient_decrease_is_taken(text_like, stretch, share) -> None:
    dense = text_like.dense
    rng = np.random.default_rng(3)
    for y in text_like.labels:
        weights = rng.normal(size=text_like.X.n_columns)
        gradient = weights + naive.loss_gradient(dense, y, weights)
        step = -stretch * gradient / np.linalg.norm(gradient)
        before = naive.objective(dense, y, weights)
        lengths = [0.5**k for k in range(21)]
        decreases = [naive.objective(dense, y, weights + a * step) - before for a in lengths]
        enough = np.array(decreases) <= share * np.array(lengths) * (gradient @ step)
        assert enough.any()
        theirs = int(enough.argmax())
        assert search_along(text_like, y, weights, step, share) == (lengths[theirs], theirs)


def test_uphill_is_refused(text_like) -> None:
    y = text_like.labels[0]
    weights = np.zeros(text_like.X.n_columns)
    uphill = naive.loss_gradient(text_like.dense, y, weights)
    length, _ = search_along(text_like, y, weights, uphill)
    assert length == NO_STEP_LENGTH


def test_labels_of_few_positives_may_have_the_tolerance_of_twenty() -> None:
    counts = np.array([0, 1, 2, 5, 19, 20, 30, 980, 999])
    ours = scale_tolerance(Tolerance(0.01, loosest_epsilon=0.1), counts, 1000)
    theirs = [1e-4, 1e-4, 2e-4, 2e-4, 2e-4, 2e-4, 3e-4, 2e-4, 1e-4]
    assert_allclose(ours, theirs)


@pytest.mark.parametrize(
    ("training", "epsilon", "loosest_epsilon"),
    [
        ({"epsilon": 0.05}, 0.05, 0.0),
        ({}, 0.01, 0.1),
        ({"loss": "logistic"}, 0.01, 0.0),
        ({"regularization": "l1"}, 0.01, 0.0),
    ],
)
def test_only_auto_is_looser_and_only_where_that_was_measured(
    training, epsilon, loosest_epsilon
) -> None:
    ours = Tolerance.from_training(TrainLabels(**training))
    assert ours == Tolerance(epsilon, loosest_epsilon)
