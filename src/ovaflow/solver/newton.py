"""Newton's method for one label: the reference that every faster path is compared with."""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.conjugate_gradient import solve_newton_system
from ovaflow.solver.line_search import FAILED, search_step
from ovaflow.solver.objective import collect_active, fill_gradient, fill_preconditioner, value
from ovaflow.solver.problem import Outcome, Status
from ovaflow.sparse.csr import product
from ovaflow.sparse.jit import kernel

_CONVERGED = int(Status.CONVERGED)
_ITERATION_LIMIT = int(Status.ITERATION_LIMIT)
_LINE_SEARCH_FAILED = int(Status.LINE_SEARCH_FAILED)


class Iteration(NamedTuple):
    """Where a Newton step led, and what it took.

    Attributes
    ----------
    step_length : float
        Length a that the line search found; 0 at the start, and where it found none.
    halvings, cg_steps : int
        Of this step.
    active : int
        Instances with curved loss under the weights now.
    gradient_norm : float
        |g(w)| now.
    """

    step_length: float
    halvings: int
    cg_steps: int
    active: int
    gradient_norm: float


def solve_label(X, positives, gradient_target, work, settings, positive_cost=1.0):
    """Minimise the objective of one label, from ``work.weights`` and into them.

    Parameters
    ----------
    X : CSR, shape (n, d)
    positives : ndarray of int32, shape (n_positives,)
        Instances that carry the label.
    gradient_target : float
        Norm of the gradient to reach, see :mod:`ovaflow.solver.stopping`.
    work : Workspace
    settings : Settings
    positive_cost : float
        What the loss of a positive counts, that of a negative being 1.

    Returns
    -------
    Outcome

    Notes
    -----
    LIBLINEAR 2.40's primal Newton method; MSI paper, sec. 5.
    """
    pose(X, positives, np.float32(positive_cost), work)
    return Outcome(*minimise(X, gradient_target, work, settings))


@kernel
def pose(X, positives, positive_cost, work):
    """Costs y_i c_i, with c_i = ``positive_cost`` for positives and 1 for the others, and s = X w."""
    work.signed_costs[:] = -1.0
    for i in positives:
        work.signed_costs[i] = positive_cost
    product(X.data, X.indices, X.indptr, work.weights, work.scores)


@kernel
def minimise(X, target, work, settings):
    """Newton steps from w, with costs and scores as in ``work``, until |g| <= target."""
    at = begin(X, work, settings)
    first_active = at.active
    newton = cg = halvings = 0
    status = _CONVERGED
    while at.gradient_norm > target:
        if newton == settings.max_newton:
            status = _ITERATION_LIMIT
            break
        at = take_step(X, at, work, settings)
        newton += 1
        cg += at.cg_steps
        halvings += at.halvings
        if at.step_length == FAILED:
            status = _LINE_SEARCH_FAILED
            break
    objective = value(work, settings)
    return newton, cg, halvings, first_active, at.active, objective, at.gradient_norm, target, status, 1 + newton


@kernel
def begin(X, work, settings):
    """Active instances and gradient of the start, with costs and scores as in ``work``; an :class:`Iteration`."""
    n_active = collect_active(work, settings)
    return Iteration(FAILED, 0, 0, n_active, fill_gradient(X, work, n_active, settings.C))


@kernel
def take_step(X, at, work, settings):
    """One Newton step from iteration ``at``: direction p = -H^-1 g, its length, w + a p; returns the next one."""
    fill_preconditioner(X, work, at.active, settings)
    cg = solve_newton_system(X, work, at.active, settings)
    product(X.data, X.indices, X.indptr, work.step, work.score_steps)
    length, halvings = search_step(work, settings)
    if length == FAILED:
        return Iteration(FAILED, halvings, cg, at.active, at.gradient_norm)
    _advance(work, np.float32(length))
    n_active = collect_active(work, settings)
    return Iteration(length, halvings, cg, n_active, fill_gradient(X, work, n_active, settings.C))


@kernel
def _advance(work, length):
    """Move w += a p and s += a X p."""
    for j in range(len(work.weights)):
        work.weights[j] += length * work.step[j]
    for i in range(len(work.scores)):
        work.scores[i] += length * work.score_steps[i]
