"""Newton's method for one label: the reference that every faster path is compared with.

LIBLINEAR 2.40's primal Newton method (MSI paper, sec. 5): truncated,
preconditioned conjugate gradient for H p = -g, then a backtracking line search
along p, on the scores alone.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.losses import loss_value
from ovaflow.solver.objective import (
    collect_active,
    compute_objective,
    dot,
    fill_gradient,
    fill_hessian_vector_product,
    fill_preconditioner,
    signed_margin,
)
from ovaflow.solver.problem import Outcome, Status
from ovaflow.sparse.csr import multiply_vector
from ovaflow.sparse.jit import inner_kernel, kernel

CONVERGED = int(Status.CONVERGED)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
LINE_SEARCH_FAILED = int(Status.LINE_SEARCH_FAILED)

NO_STEP = 0.0
"""Step length that stands for none found."""

EXHAUSTED_CURVATURE = 1e-16
"""<d, H d> under which a direction is exhausted: with no active instance H = I and one step is
exact.
"""


class Iteration(NamedTuple):
    """Where a Newton step led, and what it took."""

    step_length: float  # a, found by the line search; 0 at the start, and where it found none
    halvings: int
    cg_steps: int
    active: int  # instances with curved loss under the weights now
    gradient_norm: float  # |g(w)| now


def solve_label(X, instances, positives, gradient_target, work, settings, positive_cost=1.0):
    """Minimise the objective of one label, from ``work.weights`` and into them; returns its
    Outcome.
    """
    set_up_problem(X, instances, positives, np.float32(positive_cost), work)
    return minimize(X, gradient_target, work, settings)


@kernel
def set_up_problem(X, instances, positives, positive_cost, work) -> None:
    """Costs y_i c_i, with c_i = v_i c_+ for positives, v_i for other documents, else 0, and s = X
    w.
    """
    for i in range(len(work.signed_costs)):
        work.signed_costs[i] = (
            -instances.weights[i] if i < instances.n_documents else np.float32(0.0)
        )
    for i in positives:
        work.signed_costs[i] = instances.weights[i] * positive_cost
    multiply_vector(X.data, X.indices, X.indptr, work.weights, work.scores)


@kernel
def minimize(X, target, work, settings):
    """Newton steps from w, with costs and scores as in ``work``, until |g| <= target; returns the
    Outcome.
    """
    at = evaluate_start(X, work, settings)
    first_active = at.active
    newton = cg = halvings = 0
    status = CONVERGED
    while at.gradient_norm > target:
        if newton == settings.max_newton:
            status = ITERATION_LIMIT
            break
        at = take_step(X, at, work, settings)
        newton += 1
        cg += at.cg_steps
        halvings += at.halvings
        if at.step_length == NO_STEP:
            status = LINE_SEARCH_FAILED
            break
    objective = compute_objective(work, settings)
    return Outcome(
        newton,
        cg,
        halvings,
        first_active,
        at.active,
        objective,
        at.gradient_norm,
        target,
        status,
        1 + newton,
    )


@inner_kernel
def evaluate_start(X, work, settings):
    """Active instances and gradient of the start, with costs and scores as in ``work``; an
    :class:`Iteration`.
    """
    n_active = collect_active(work, settings)
    return Iteration(NO_STEP, 0, 0, n_active, fill_gradient(X, work, n_active, settings.C))


@inner_kernel
def take_step(X, at, work, settings):
    """One Newton step from iteration ``at``: direction p = -H^-1 g, its length, w + a p; returns
    the next one.
    """
    fill_preconditioner(X, work, at.active, settings)
    cg = solve_newton_system(X, work, at.active, settings)
    multiply_vector(X.data, X.indices, X.indptr, work.step, work.score_steps)
    length, halvings = search_step_length(work, settings)
    if length == NO_STEP:
        return Iteration(NO_STEP, halvings, cg, at.active, at.gradient_norm)
    move_along_step(work, np.float32(length))
    n_active = collect_active(work, settings)
    return Iteration(length, halvings, cg, n_active, fill_gradient(X, work, n_active, settings.C))


@kernel
def move_along_step(work, length) -> None:
    """Move w += a p and s += a X p."""
    for j in range(len(work.weights)):
        work.weights[j] += length * work.step[j]
    for i in range(len(work.scores)):
        work.scores[i] += length * work.score_steps[i]


@inner_kernel
def solve_newton_system(X, work, n_active, settings):
    """Fill the step p = -H^-1 g, until k (Q_k - Q_{k-1}) >= tol Q_k; returns the steps taken.

    Q_k is the quadratic model after k steps and tol = min(1/2, sqrt(|g|_{M^-1})).
    """
    energy = _start(work)
    tolerance = min(0.5, np.sqrt(np.sqrt(energy)))
    model = 0.0
    for k in range(1, settings.max_cg + 1):
        fill_hessian_vector_product(X, work, n_active, settings.C)
        curvature = dot(work.direction, work.curved)
        if curvature <= EXHAUSTED_CURVATURE:
            return k
        new_model, new_energy = _move(work, np.float32(energy / curvature))
        if k * (new_model - model) >= tolerance * new_model:
            return k
        _update_direction(work, np.float32(new_energy / energy))
        model = new_model
        energy = new_energy
    return settings.max_cg


@kernel
def _start(work):
    """Set p = 0, r = -g, d = M^-1 r; returns <r, M^-1 r>."""
    energy = np.float32(0.0)
    for j in range(len(work.gradient)):
        residual = -work.gradient[j]
        scaled = residual / work.preconditioner[j]
        work.step[j] = 0.0
        work.residual[j] = residual
        work.direction[j] = scaled
        energy += residual * scaled
    return np.float64(energy)


@kernel
def _move(work, length):
    """Step p += a d, r -= a H d; returns Q = 1/2 <p, g - r> and <r, M^-1 r>."""
    model = np.float32(0.0)
    energy = np.float32(0.0)
    for j in range(len(work.step)):
        step = work.step[j] + length * work.direction[j]
        residual = work.residual[j] - length * work.curved[j]
        work.step[j] = step
        work.residual[j] = residual
        model += step * (work.gradient[j] - residual)
        energy += residual * residual / work.preconditioner[j]
    return 0.5 * np.float64(model), np.float64(energy)


@kernel
def _update_direction(work, ratio) -> None:
    """Next direction d = M^-1 r + b d."""
    for j in range(len(work.direction)):
        work.direction[j] = work.residual[j] / work.preconditioner[j] + ratio * work.direction[j]


@kernel
def search_step_length(work, settings):
    """Length a = 1, 1/2, 1/4, ... with L(w + a p) - L(w) <= c a <g, p>; returns a and the halvings."""
    slope = dot(work.gradient, work.step)
    weight_slope = dot(work.weights, work.step)
    weight_curvature = dot(work.step, work.step)
    length = 1.0
    for halvings in range(settings.max_backtracking_steps + 1):
        change = length * weight_slope + 0.5 * length * length * weight_curvature
        change += settings.C * loss_change(work, length, settings.loss)
        if change <= settings.sufficient_decrease * length * slope:
            return length, halvings
        length *= 0.5
    return NO_STEP, settings.max_backtracking_steps


@kernel
def loss_change(work, length, loss):
    """sum_i c_i (phi(y_i (s_i + a <p, x_i>)) - phi(y_i s_i))."""
    total = 0.0
    for i in range(len(work.scores)):
        cost = work.signed_costs[i]
        # both losses in double precision: their difference is far smaller than they are
        margin = np.float64(signed_margin(cost, work.scores[i]))
        moved = margin + length * signed_margin(cost, work.score_steps[i])
        total += abs(cost) * (loss_value(loss, moved) - loss_value(loss, margin))
    return total
