"""The objective L(w) = 1/2 |w|^2 + C sum_i c_i phi(y_i <w, x_i>), its gradient and Hessian."""

import numpy as np

from ovaflow.solver.losses import loss_curvature, loss_slope, loss_value
from ovaflow.sparse.csr import add_row, add_squared_row, row_dot
from ovaflow.sparse.jit import inner_kernel, kernel


@kernel
def copy_vector(values, out) -> None:
    """out = v."""
    for j in range(len(values)):
        out[j] = values[j]


@kernel
def dot(left, right):
    """<a, b>."""
    total = np.float32(0.0)
    for j in range(len(left)):
        total += left[j] * right[j]
    return np.float64(total)


@kernel
def signed_margin(signed_cost, score):
    """y s: the score along the sign of a cost."""
    return score if signed_cost > 0 else -score


@kernel
def total_loss(work, loss):
    """sum_i c_i phi(y_i s_i), with s = X w."""
    total = 0.0
    for i in range(len(work.scores)):
        cost = work.signed_costs[i]
        total += abs(cost) * loss_value(loss, signed_margin(cost, work.scores[i]))
    return total


@kernel
def compute_objective(work, settings):
    """L(w) = 1/2 <w, w> + C sum_i c_i phi(y_i s_i)."""
    return 0.5 * dot(work.weights, work.weights) + settings.C * total_loss(work, settings.loss)


@inner_kernel
def collect_active(work, settings):
    """A = {i : c_i phi''(m_i) > 0}, with c_i phi'(m_i) y_i and c_i phi''(m_i) in the same order;
    returns |A|.
    """
    count = 0
    for i in range(len(work.scores)):
        cost = work.signed_costs[i]
        margin = signed_margin(cost, work.scores[i])
        curvature = loss_curvature(settings.loss, margin)
        work.active[count] = i
        work.slopes[count] = loss_slope(settings.loss, margin) * cost
        work.curvatures[count] = curvature * abs(cost)
        count += (curvature > 0) & (cost != 0)
    return count


@inner_kernel
def fill_gradient(X, work, n_active, C):
    """g = w + C sum_{i in A} c_i phi'(m_i) y_i x_i; returns |g|."""
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
def fill_preconditioner(X, work, n_active, settings) -> None:
    """M = (1 - a) I + a diag(H), with diag(H) = 1 + C sum_{i in A} c_i phi''(m_i) x_i^2."""
    work.preconditioner[:] = 1.0
    scale = np.float32(settings.preconditioning * settings.C)
    for k in range(n_active):
        i = work.active[k]
        factor = scale * work.curvatures[k]
        add_squared_row(
            X.data, X.indices, X.indptr[i], X.indptr[i + 1], factor, work.preconditioner
        )


@inner_kernel
def fill_hessian_vector_product(X, work, n_active, C) -> None:
    """H d = d + C sum_{i in A} c_i phi''(m_i) <x_i, d> x_i."""
    copy_vector(work.direction, work.curved)
    for k in range(n_active):
        start = X.indptr[work.active[k]]
        end = X.indptr[work.active[k] + 1]
        factor = (
            np.float32(C)
            * work.curvatures[k]
            * row_dot(X.data, X.indices, start, end, work.direction)
        )
        add_row(X.data, X.indices, start, end, factor, work.curved)
