"""The objective L(w) = 1/2 |w|^2 + C sum_i c_i phi(y_i <w, x_i>), its gradient and Hessian.

The kernels read the costs y_i c_i and the scores s = X w from a
:class:`~ovaflow.solver.problem.Workspace` and write their results into it.
"""

import numpy as np

from ovaflow.solver.losses import loss_curvature, loss_slope, loss_value
from ovaflow.solver.problem import Settings, Workspace
from ovaflow.sparse.csr import CSR, add_row, add_squared_row, row_dot
from ovaflow.sparse.jit import callee, inner_kernel


@callee
def copy_vector(values: np.ndarray, out: np.ndarray) -> None:
    """Copy a vector into another one."""
    for j in range(len(values)):
        out[j] = values[j]


@callee
def dot(left: np.ndarray, right: np.ndarray) -> np.float64:
    """Compute <a, b>, summed in float32."""
    total = np.float32(0.0)
    for j in range(len(left)):
        total += left[j] * right[j]
    return np.float64(total)


@callee
def signed_margin(signed_cost: np.float32, score: np.float32) -> np.float32:
    """Compute the margin y s, with the sign y of a cost."""
    return score if signed_cost > 0 else -score


@callee
def total_loss(work: Workspace, loss: int) -> float:
    """Compute sum_i c_i phi(y_i s_i)."""
    total = 0.0
    for i in range(len(work.scores)):
        cost = work.signed_costs[i]
        total += abs(cost) * loss_value(loss, signed_margin(cost, work.scores[i]))
    return total


@inner_kernel
def compute_objective(work: Workspace, settings: Settings) -> float:
    """Compute L(w) = 1/2 <w, w> + C sum_i c_i phi(y_i s_i)."""
    return 0.5 * dot(work.weights, work.weights) + settings.C * total_loss(work, settings.loss)


@inner_kernel
def collect_active(work: Workspace, settings: Settings) -> int:
    """Collect the active instances A = {i : c_i phi'(m_i) < 0}, and return their number.

    The losses of all others have no curvature either. ``active``, ``slopes`` and ``curvatures`` get
    the instances, c_i phi'(m_i) y_i and c_i phi''(m_i) in the same order.
    """
    count = 0
    for i in range(len(work.scores)):
        cost = work.signed_costs[i]
        margin = signed_margin(cost, work.scores[i])
        slope = loss_slope(settings.loss, margin)
        work.active[count] = i
        work.slopes[count] = slope * cost
        work.curvatures[count] = loss_curvature(settings.loss, margin) * abs(cost)
        # without a branch, which the processor would often predict wrongly
        count += (slope < 0) & (cost != 0)
    return count


@inner_kernel
def fill_gradient(X: CSR, work: Workspace, n_active: int, C: float) -> np.float64:
    """Fill g = w + C sum_{i in A} c_i phi'(m_i) y_i x_i, and return |g|."""
    copy_vector(work.weights, work.gradient)
    for k in range(n_active):
        i = work.active[k]
        add_row(
            X.data,
            X.indices,
            X.indptr[i],
            X.indptr[i + 1],
            np.float32(C) * work.slopes[k],
            work.gradient,
        )
    return np.sqrt(dot(work.gradient, work.gradient))


@inner_kernel
def fill_preconditioner(X: CSR, work: Workspace, n_active: int, settings: Settings) -> None:
    """Fill M = (1 - a) I + a diag(H), with diag(H) = 1 + C sum_{i in A} c_i phi''(m_i) x_i^2."""
    work.preconditioner[:] = 1.0
    scale = np.float32(settings.preconditioning * settings.C)
    for k in range(n_active):
        i = work.active[k]
        factor = scale * work.curvatures[k]
        add_squared_row(
            X.data, X.indices, X.indptr[i], X.indptr[i + 1], factor, work.preconditioner
        )


@inner_kernel
def fill_hessian_vector_product(X: CSR, work: Workspace, n_active: int, C: float) -> None:
    """Fill H d = d + C sum_{i in A} c_i phi''(m_i) <x_i, d> x_i."""
    copy_vector(work.direction, work.hessian_direction)
    for k in range(n_active):
        start = X.indptr[work.active[k]]
        end = X.indptr[work.active[k] + 1]
        factor = (
            np.float32(C)
            * work.curvatures[k]
            * row_dot(X.data, X.indices, start, end, work.direction)
        )
        add_row(X.data, X.indices, start, end, factor, work.hessian_direction)
