"""Newton's method for one label: the reference that every faster path is compared with."""

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


def solve_label(X, positives, gradient_target, work, settings):
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

    Returns
    -------
    Outcome

    Notes
    -----
    LIBLINEAR 2.40's primal Newton method; MSI paper, sec. 5.
    """
    return Outcome(*minimise(X, positives, gradient_target, work, settings))


@kernel
def minimise(X, positives, target, work, settings):
    """:func:`solve_label` for kernels."""
    _mark(work.sign, positives)
    product(X.data, X.indices, X.indptr, work.weights, work.scores)
    n_active = first_active = collect_active(work, settings)
    norm = fill_gradient(X, work, n_active, settings.C)
    newton = cg = halvings = 0
    status = _CONVERGED
    while norm > target:
        if newton == settings.max_newton:
            status = _ITERATION_LIMIT
            break
        fill_preconditioner(X, work, n_active, settings)
        cg += solve_newton_system(X, work, n_active, settings)
        product(X.data, X.indices, X.indptr, work.step, work.score_steps)
        length, halved = search_step(work, settings)
        halvings += halved
        newton += 1
        if length == FAILED:
            status = _LINE_SEARCH_FAILED
            break
        _advance(work, np.float32(length))
        n_active = collect_active(work, settings)
        norm = fill_gradient(X, work, n_active, settings.C)
    objective = value(work, settings)
    return newton, cg, halvings, first_active, n_active, objective, norm, target, status, 1 + newton


@kernel
def _mark(sign, positives):
    """y_i = +1 for positives, -1 for the others."""
    sign[:] = -1.0
    for i in positives:
        sign[i] = 1.0


@kernel
def _advance(work, length):
    """Move w += a p and s += a X p."""
    for j in range(len(work.weights)):
        work.weights[j] += length * work.step[j]
    for i in range(len(work.scores)):
        work.scores[i] += length * work.score_steps[i]
