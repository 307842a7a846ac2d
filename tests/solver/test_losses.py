import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovaflow.solver.losses import LOSSES, SLOPE_AT_ZERO, loss_curvature, loss_slope, loss_value

MARGINS = st.floats(-50, 50, width=32)


def squared_hinge(margin):
    return np.maximum(0, 1 - margin) ** 2


def logistic(margin):
    return np.logaddexp(0, -margin)


THEIRS = {"squared-hinge": squared_hinge, "logistic": logistic}


@pytest.mark.parametrize("name", LOSSES)
@given(margin=MARGINS)
def test_values_and_derivatives(name, margin):
    loss, value = LOSSES[name], THEIRS[name]
    h = 1e-4
    slope = (value(margin + h) - value(margin - h)) / (2 * h)
    curvature = (value(margin + h) - 2 * value(margin) + value(margin - h)) / h**2
    assert loss_value(loss, float(margin)) == pytest.approx(value(margin), rel=1e-6, abs=1e-9)
    assert loss_slope(loss, np.float32(margin)) == pytest.approx(slope, rel=1e-3, abs=1e-3)
    if abs(margin - 1) > 1e-3:
        assert loss_curvature(loss, np.float32(margin)) == pytest.approx(curvature, rel=1e-3, abs=2e-3)


@pytest.mark.parametrize("name", LOSSES)
def test_slope_at_zero(name):
    assert loss_slope(LOSSES[name], np.float32(0)) == SLOPE_AT_ZERO[LOSSES[name]]


@pytest.mark.parametrize("margin", [-1e4, -200.0, 200.0, 1e4])
def test_logistic_is_finite_far_out(margin):
    loss = LOSSES["logistic"]
    for ours in (
        loss_value(loss, margin),
        loss_slope(loss, np.float32(margin)),
        loss_curvature(loss, np.float32(margin)),
    ):
        assert np.isfinite(ours)
