"""Losses of a margin m = y <w, x>, with slope and curvature."""

import math

import numpy as np

from ovaflow.sparse.jit import kernel

SQUARED_HINGE = 0
LOGISTIC = 1
LOSSES = {"squared-hinge": SQUARED_HINGE, "logistic": LOGISTIC}
"""Code of each loss by the name that the config uses."""

SLOPE_AT_ZERO = {SQUARED_HINGE: -2.0, LOGISTIC: -0.5}
"""phi'(0), from which |g(0)| follows without a pass over the instances."""


@kernel
def loss_value(loss: int, margin: float) -> float:
    """Compute the loss phi(m): max(0, 1 - m)^2 or log(1 + exp(-m))."""
    if loss == SQUARED_HINGE:
        slack = max(1.0 - margin, 0.0)
        return slack * slack
    return max(-margin, 0.0) + math.log1p(math.exp(-abs(margin)))


@kernel
def loss_slope(loss: int, margin: np.float32) -> np.float32:
    """Compute the slope phi'(m): -2 max(0, 1 - m) or -1 / (1 + exp(m))."""
    if loss == SQUARED_HINGE:
        return np.float32(-2.0) * max(np.float32(1.0) - margin, np.float32(0.0))
    # the exponential of -|m| never overflows
    power = math.exp(-abs(margin))
    numerator = power if margin > 0 else np.float32(1.0)
    return -numerator / (np.float32(1.0) + power)


@kernel
def loss_curvature(loss: int, margin: np.float32) -> np.float32:
    """Compute the curvature phi''(m): 2 where m < 1, or e / (1 + e)^2 with e = exp(-|m|)."""
    if loss == SQUARED_HINGE:
        return np.float32(2.0) if margin < np.float32(1.0) else np.float32(0.0)
    # not s (1 - s) of the slope s, which is 0 from |m| = 17 on
    power = math.exp(-abs(margin))
    return power / ((np.float32(1.0) + power) * (np.float32(1.0) + power))
