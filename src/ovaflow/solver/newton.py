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
from ovaflow.solver.problem import (
    Instances,
    LabelProblem,
    Outcome,
    Settings,
    Status,
    Workspace,
)
from ovaflow.sparse.csr import CSR, multiply_vector
from ovaflow.sparse.jit import callee, inner_kernel, kernel

# kernels take integers, not members of an enumeration
CONVERGED = int(Status.CONVERGED)
ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
LINE_SEARCH_FAILED = int(Status.LINE_SEARCH_FAILED)

NO_STEP_LENGTH = 0.0
"""Step length at the start, and of a line search that found none."""

EXHAUSTED_CURVATURE = 1e-16
"""<d, H d> up to which a direction is exhausted: with no active instance H = I and one step is
exact.
"""


class Iteration(NamedTuple):
    """State after a Newton step, and the steps that it took."""

    step_length: float  # a, found by the line search, or NO_STEP_LENGTH
    line_search_halvings: int
    cg_steps: int
    active: int  # instances with a slope under the weights now
    gradient_norm: float  # |g(w)| now


def solve_label(
    X: CSR, instances: Instances, problem: LabelProblem, work: Workspace, settings: Settings
) -> Outcome:
    """Minimize the objective of one label, from ``work.weights`` and into them."""
    settings = settings._replace(C=problem.C)
    set_up_problem(X, instances, problem.positives, np.float32(problem.positive_cost), work)
    return minimize(X, problem.target, work, settings)


@kernel
def set_up_problem(
    X: CSR,
    instances: Instances,
    positives: np.ndarray,
    positive_cost: np.float32,
    work: Workspace,
) -> None:
    """Fill the costs y_i c_i and the scores s = X w.

    c_i = v_i c_+ for positives, v_i for other documents, else 0.
    """
    for i in range(len(work.signed_costs)):
        work.signed_costs[i] = (
            -instances.weights[i] if i < instances.n_documents else np.float32(0.0)
        )
    for i in positives:
        work.signed_costs[i] = instances.weights[i] * positive_cost
    multiply_vector(X.data, X.indices, X.indptr, work.weights, work.scores)


@kernel
def minimize(X: CSR, target: float, work: Workspace, settings: Settings) -> Outcome:
    """Take Newton steps until |g| <= target, from w, with costs and scores as in ``work``.

    Called by :func:`solve_label` on all instances, and by the fast paths on parts of them. The
    objective of the sampled path lacks a constant, so its values must not be compared with others.
    """
    iteration = evaluate_start(X, work, settings)
    active_start = iteration.active
    newton_steps = 0
    cg_steps = 0
    line_search_halvings = 0
    status = CONVERGED
    while iteration.gradient_norm > target:
        if newton_steps == settings.max_newton:
            status = ITERATION_LIMIT
            break
        iteration = take_step(X, iteration, work, settings)
        newton_steps += 1
        cg_steps += iteration.cg_steps
        line_search_halvings += iteration.line_search_halvings
        if iteration.step_length == NO_STEP_LENGTH:
            status = LINE_SEARCH_FAILED
            break
    return Outcome(
        newton_steps=newton_steps,
        cg_steps=cg_steps,
        line_search_halvings=line_search_halvings,
        active_start=active_start,
        active_end=iteration.active,
        objective=compute_objective(work, settings),
        gradient_norm=iteration.gradient_norm,
        gradient_target=target,
        status=status,
        full_passes=1 + newton_steps,
    )


@inner_kernel
def evaluate_start(X: CSR, work: Workspace, settings: Settings) -> Iteration:
    """Find active instances and the gradient of the start, with costs and scores as in ``work``."""
    n_active = collect_active(work, settings)
    gradient_norm = fill_gradient(X, work, n_active, settings.C)
    return Iteration(NO_STEP_LENGTH, 0, 0, n_active, gradient_norm)


@inner_kernel
def take_step(X: CSR, last: Iteration, work: Workspace, settings: Settings) -> Iteration:
    """Take one Newton step: direction p = -H^-1 g, its length a, and w + a p."""
    fill_preconditioner(X, work, last.active, settings)
    cg_steps = solve_newton_system(X, work, last.active, settings)
    multiply_vector(X.data, X.indices, X.indptr, work.step, work.score_steps)
    length, line_search_halvings = search_step_length(work, settings)
    if length == NO_STEP_LENGTH:
        return Iteration(
            NO_STEP_LENGTH, line_search_halvings, cg_steps, last.active, last.gradient_norm
        )
    move_along_step(work, np.float32(length))
    n_active = collect_active(work, settings)
    gradient_norm = fill_gradient(X, work, n_active, settings.C)
    return Iteration(length, line_search_halvings, cg_steps, n_active, gradient_norm)


@callee
def move_along_step(work: Workspace, length: np.float32) -> None:
    """Move w += a p and s += a X p."""
    for j in range(len(work.weights)):
        work.weights[j] += length * work.step[j]
    for i in range(len(work.scores)):
        work.scores[i] += length * work.score_steps[i]


@inner_kernel
def solve_newton_system(X: CSR, work: Workspace, n_active: int, settings: Settings) -> int:
    """Fill the step p = -H^-1 g by conjugate gradient, and return the number of its steps.

    It ends when k (Q_k - Q_{k-1}) >= tol Q_k, where Q_k is the quadratic model after k steps and
    tol = min(1/2, sqrt(|g|_{M^-1})).
    """
    energy = _start_conjugate_gradient(work)
    tolerance = min(0.5, np.sqrt(np.sqrt(energy)))
    model = 0.0
    for k in range(1, settings.max_cg + 1):
        fill_hessian_vector_product(X, work, n_active, settings.C)
        curvature = dot(work.direction, work.hessian_direction)
        if curvature <= EXHAUSTED_CURVATURE:
            return k
        new_model, new_energy = _move_along_direction(work, np.float32(energy / curvature))
        if k * (new_model - model) >= tolerance * new_model:
            return k
        _update_direction(work, np.float32(new_energy / energy))
        model = new_model
        energy = new_energy
    return settings.max_cg


@callee
def _start_conjugate_gradient(work: Workspace) -> np.float64:
    """Set p = 0, r = -g, d = M^-1 r, and return the energy <r, M^-1 r>."""
    energy = np.float32(0.0)
    for j in range(len(work.gradient)):
        residual = -work.gradient[j]
        scaled = residual / work.preconditioner[j]
        work.step[j] = 0.0
        work.residual[j] = residual
        work.direction[j] = scaled
        energy += residual * scaled
    return np.float64(energy)


@callee
def _move_along_direction(work: Workspace, length: np.float32) -> tuple[np.float64, np.float64]:
    """Move p += a d, r -= a H d, and return Q = 1/2 <p, g - r> and the energy <r, M^-1 r>."""
    model = np.float32(0.0)
    energy = np.float32(0.0)
    for j in range(len(work.step)):
        step = work.step[j] + length * work.direction[j]
        residual = work.residual[j] - length * work.hessian_direction[j]
        work.step[j] = step
        work.residual[j] = residual
        model += step * (work.gradient[j] - residual)
        energy += residual * residual / work.preconditioner[j]
    return 0.5 * np.float64(model), np.float64(energy)


@callee
def _update_direction(work: Workspace, ratio: np.float32) -> None:
    """Set the next direction d = M^-1 r + b d."""
    for j in range(len(work.direction)):
        work.direction[j] = work.residual[j] / work.preconditioner[j] + ratio * work.direction[j]


@inner_kernel
def search_step_length(work: Workspace, settings: Settings) -> tuple[float, int]:
    """Search the first length a = 1, 1/2, 1/4, ... with L(w + a p) - L(w) <= c a <g, p>.

    Returns a, :data:`NO_STEP_LENGTH` where there is none, and the number of halvings.
    """
    slope = dot(work.gradient, work.step)
    weight_slope = dot(work.weights, work.step)
    weight_curvature = dot(work.step, work.step)
    length = 1.0
    for line_search_halvings in range(settings.max_line_search_halvings + 1):
        change = length * weight_slope + 0.5 * length * length * weight_curvature
        change += settings.C * loss_change(work, length, settings.loss)
        if change <= settings.sufficient_decrease * length * slope:
            return length, line_search_halvings
        length *= 0.5
    return NO_STEP_LENGTH, settings.max_line_search_halvings


@callee
def loss_change(work: Workspace, length: float, loss: int) -> float:
    """Compute sum_i c_i (phi(y_i (s_i + a <p, x_i>)) - phi(y_i s_i))."""
    total = 0.0
    for i in range(len(work.scores)):
        cost = work.signed_costs[i]
        # both losses in double precision: their difference is far smaller than they are
        margin = np.float64(signed_margin(cost, work.scores[i]))
        moved = margin + length * signed_margin(cost, work.score_steps[i])
        total += abs(cost) * (loss_value(loss, moved) - loss_value(loss, margin))
    return total
