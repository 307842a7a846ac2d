"""Backtracking line search along p, on the scores alone."""

import numpy as np

from ovaflow.solver.losses import loss_value
from ovaflow.solver.objective import dot, toward
from ovaflow.sparse.jit import kernel

FAILED = 0.0
"""Step length that stands for none found."""


@kernel
def search_step(work, settings):
    """Length a = 1, 1/2, 1/4, ... with L(w + a p) - L(w) <= c a <g, p>; returns a and the halvings."""
    slope = dot(work.gradient, work.step)
    weight_slope = dot(work.weights, work.step)
    weight_curvature = dot(work.step, work.step)
    length = 1.0
    for halvings in range(settings.max_halvings + 1):
        change = length * weight_slope + 0.5 * length * length * weight_curvature
        change += settings.C * loss_change(work, length, settings.loss)
        if change <= settings.sufficient_decrease * length * slope:
            return length, halvings
        length *= 0.5
    return FAILED, settings.max_halvings


@kernel
def loss_change(work, length, loss):
    """sum_i c_i (phi(y_i (s_i + a <p, x_i>)) - phi(y_i s_i))."""
    total = 0.0
    for i in range(len(work.scores)):
        cost = work.signed_costs[i]
        # both losses in double precision: their difference is far smaller than they are
        margin = np.float64(toward(cost, work.scores[i]))
        moved = margin + length * toward(cost, work.score_steps[i])
        total += abs(cost) * (loss_value(loss, moved) - loss_value(loss, margin))
    return total
