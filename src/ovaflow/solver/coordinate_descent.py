"""L1-regularised problems: |w|_1 + C sum_i c_i phi(y_i <w, x_i>) by coordinate descent.

newGLMNET (Yuan, Ho and Lin 2012; LIBLINEAR's ``-s 6``), here for both losses. Each
Newton step minimises the quadratic model of the losses plus |w + p|_1 one
coordinate at a time, where the minimum has a closed form, and ends with a line
search on the true objective. Features whose weight is 0 and whose gradient is
well inside [-1, 1] are left out of the inner passes (shrinking); every step
begins with all features again. For the squared hinge the curvature is that of
the instances with a margin below 1, as in Newton's method without L1.

There is no gradient to bring to zero. What falls instead is the *violation* of
the optimality conditions, summed over features (LIBLINEAR's rule, ``-s 5`` and
``-s 6``): ||g_j + sign(w_j)|| where w_j is not 0, and what |g_j| exceeds 1 by
where it is, with g the gradient of the losses alone. It is
``gradient_norm`` in an :class:`~ovaflow.solver.problem.Outcome`. The bias
feature is penalised like the others, as in LIBLINEAR.
"""

import numpy as np

from ovaflow.solver.losses import loss_curvature, loss_slope
from ovaflow.solver.newton import (
    CONVERGED,
    ITERATION_LIMIT,
    LINE_SEARCH_FAILED,
    NO_STEP,
    loss_change,
    move_along_step,
    set_up_problem,
)
from ovaflow.solver.objective import signed_margin, total_loss
from ovaflow.solver.problem import Outcome
from ovaflow.sparse.csr import CSR, add_row
from ovaflow.sparse.jit import kernel, strict_kernel

_MOSTLY = 0.5
_FLATTEST = 1e-12
_LONGEST = 10.0


def solve_label_l1(
    X, columns, instances, positives, violation_target, work, settings, positive_cost
):
    """Minimise the objective of one label, from ``work.weights`` and into them, with X by columns
    as well.

    ``settings.max_newton`` limits the steps, ``max_cg`` the passes over the features in one step.
    In the Outcome ``cg_steps`` counts these passes, and ``gradient_norm`` is the violation.
    """
    set_up_problem(X, instances, positives, np.float32(positive_cost), work)
    return minimize_l1(columns, violation_target, work, settings)


@kernel
def minimize_l1(columns, target, work, settings, largest=np.inf):
    """Newton steps from w, with costs and scores as in ``work``, until the violation is at most the
    target.

    ``largest`` is the largest violation of a feature at w, where it is known: the first step leaves
    out what will hardly move.
    """
    order = np.empty(len(work.weights), np.int32)
    first_active = active = _fill_slopes(work, settings.loss)
    n_movable, violation, largest = _survey(columns, largest, order, work, settings.C)
    newton = passes = halvings = 0
    status = CONVERGED
    while violation > target:
        if newton == settings.max_newton:
            status = ITERATION_LIMIT
            break
        tolerance = settings.inner_tolerance * violation
        passes += _fill_step(columns, order[:n_movable], active, tolerance, work, settings)
        length, halved = _search(work, settings)
        newton += 1
        halvings += halved
        if length == NO_STEP:
            status = LINE_SEARCH_FAILED
            break
        move_along_step(work, np.float32(length))
        active = _fill_slopes(work, settings.loss)
        n_movable, violation, largest = _survey(columns, largest, order, work, settings.C)
    objective = _length(work.weights) + settings.C * total_loss(work, settings.loss)
    return Outcome(
        newton,
        passes,
        halvings,
        first_active,
        active,
        objective,
        violation,
        target,
        status,
        1 + newton,
    )


@kernel
def _fill_slopes(work, loss):
    """c_i phi'(m_i) y_i and c_i phi''(m_i) of every instance i; returns how many are curved."""
    active = 0
    for i in range(len(work.scores)):
        cost = work.signed_costs[i]
        margin = signed_margin(cost, work.scores[i])
        curvature = loss_curvature(loss, margin)
        work.slopes[i] = loss_slope(loss, margin) * cost
        work.curvatures[i] = curvature * abs(cost)
        active += work.curvatures[i] > 0
    return active


@kernel
def optimality_violation(weight, gradient):
    """|g + sign(w)| where w is not 0, else max(0, |g| - 1)."""
    if weight > 0:
        return abs(gradient + 1.0)
    if weight < 0:
        return abs(gradient - 1.0)
    return max(0.0, abs(gradient) - 1.0)


@kernel
def _survey(columns, largest_before, order, work, C):
    """Gradient and curvature of each feature; ``order`` gets those that may move.

    Returns their number, the sum of all violations, and the largest.
    """
    margin = 1.0 - largest_before / len(work.scores)
    n_movable = 0
    total = 0.0
    largest = 0.0
    for j in range(len(work.weights)):
        slope, curvature = _column_sums(columns, j, work)
        work.gradient[j] = C * slope
        work.curved[j] = max(C * curvature, _FLATTEST)
        work.step[j] = 0.0
        violation = optimality_violation(work.weights[j], C * slope)
        total += violation
        largest = max(largest, violation)
        order[n_movable] = j
        n_movable += work.weights[j] != 0 or abs(C * slope) >= margin
    return n_movable, total, largest


@kernel
def _column_sums(columns, j, work):
    """sum_i c_i phi'(m_i) y_i x_ij and sum_i c_i phi''(m_i) x_ij^2."""
    slope = 0.0
    curvature = 0.0
    for k in range(np.uint64(columns.indptr[j]), np.uint64(columns.indptr[j + 1])):
        i = np.uint32(columns.indices[k])
        value = np.float64(columns.data[k])
        slope += value * work.slopes[i]
        curvature += value * value * work.curvatures[i]
    return slope, curvature


@kernel
def _fill_step(columns, order, active, tolerance, work, settings):
    """Minimise g^T p + 1/2 p^T H p + |w + p|_1 over the features of ``order`` and fill X p; returns
    the passes.

    Where most instances are not curved, the others are copied: passes over
    them are short, and X p is computed once at the end.
    """
    n = len(work.scores)
    work.score_steps[:] = 0.0
    if active > _MOSTLY * n:
        return _descend(
            columns, order, work.curvatures, work.score_steps, n, tolerance, work, settings
        )
    part, curvatures = _curved_part(columns, order, active, work)
    passes = _descend(
        part, order, curvatures, np.zeros(active, np.float32), n, tolerance, work, settings
    )
    for j in order:
        if work.step[j] != 0:
            start = columns.indptr[j]
            end = columns.indptr[j + 1]
            add_row(columns.data, columns.indices, start, end, work.step[j], work.score_steps)
    return passes


@strict_kernel
def _curved_part(columns, order, active, work):
    """Columns restricted to curved instances, empty but for the features of ``order``, and the
    curvatures.
    """
    number = work.active
    curvatures = np.empty(active, np.float32)
    count = 0
    for i in range(len(work.curvatures)):
        number[i] = -1
        if work.curvatures[i] > 0:
            number[i] = count
            curvatures[count] = work.curvatures[i]
            count += 1
    size = 0
    first = 0
    for j in order:
        size += columns.indptr[j + 1] - columns.indptr[j]
    data = np.empty(size, np.float32)
    indices = np.empty(size, np.int32)
    indptr = np.empty_like(columns.indptr)
    filled = 0
    for j in order:
        indptr[first : j + 1] = filled
        first = j + 1
        for k in range(columns.indptr[j], columns.indptr[j + 1]):
            row = number[columns.indices[k]]
            if row >= 0:
                data[filled] = columns.data[k]
                indices[filled] = row
                filled += 1
    indptr[first:] = filled
    return CSR(data, indices, indptr, columns.n_columns, None), curvatures


@kernel
def _descend(columns, order, curvatures, moves, n, tolerance, work, settings):
    """Passes over the features of ``order`` until their violation is at most the tolerance;
    ``moves`` follows X p.

    Features are visited in a random order that is always the same, and left
    out for the rest of the step as they settle at zero; a pass over all of
    them ends it.
    """
    left = len(order)
    seed = np.uint64(1)
    largest = np.inf
    for passes in range(1, settings.max_cg + 1):
        seed = _shuffle(order[:left], seed)
        left_before = left
        margin = 1.0 - largest / n
        left, violation, largest = _pass(
            columns, order, left, margin, curvatures, moves, work, settings.C
        )
        if violation <= tolerance:
            if left_before == len(order):
                return passes
            left = len(order)
            largest = np.inf
    return settings.max_cg


@kernel
def _pass(columns, order, left, margin, curvatures, moves, work, C):
    """One visit of each feature; returns how many remain, the violations met and the largest of
    them.
    """
    total = 0.0
    largest = 0.0
    place = 0
    while place < left:
        j = order[place]
        weight = work.weights[j] + work.step[j]
        gradient = work.gradient[j] + C * _curved_product(columns, j, curvatures, moves)
        violation = optimality_violation(weight, gradient)
        if weight == 0 and abs(gradient) < margin:
            left -= 1
            order[place], order[left] = order[left], order[place]
            continue
        total += violation
        largest = max(largest, violation)
        _move(columns, j, _newton_direction(weight, gradient, work.curved[j]), moves, work)
        place += 1
    return left, total, largest


@kernel
def _curved_product(columns, j, curvatures, moves):
    """sum_i x_ij c_i phi''(m_i) <x_i, p>: what the step so far adds to the gradient."""
    total = 0.0
    for k in range(np.uint64(columns.indptr[j]), np.uint64(columns.indptr[j + 1])):
        i = np.uint32(columns.indices[k])
        total += np.float64(columns.data[k]) * curvatures[i] * moves[i]
    return total


@kernel
def _newton_direction(weight, gradient, curvature):
    """Minimiser z of g z + 1/2 h z^2 + |w + z|, within 10 of 0."""
    if gradient + 1.0 < curvature * weight:
        direction = -(gradient + 1.0) / curvature
    elif gradient - 1.0 > curvature * weight:
        direction = -(gradient - 1.0) / curvature
    else:
        direction = -weight
    return min(max(direction, -_LONGEST), _LONGEST)


@kernel
def _move(columns, j, direction, moves, work) -> None:
    """p_j += z and X p += z x_j."""
    # a weight that is to become zero becomes exactly that
    to_zero = direction == -(work.weights[j] + work.step[j])
    moved = -work.weights[j] if to_zero else np.float32(work.step[j] + direction)
    change = moved - work.step[j]
    work.step[j] = moved
    if change != 0:
        add_row(
            columns.data, columns.indices, columns.indptr[j], columns.indptr[j + 1], change, moves
        )


@strict_kernel
def _shuffle(order, seed):
    """Fisher-Yates with Knuth's linear congruential generator; returns its state."""
    for place in range(len(order) - 1, 0, -1):
        seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        other = (seed >> np.uint64(33)) % np.uint64(place + 1)
        order[place], order[other] = order[other], order[place]
    return seed


@kernel
def _search(work, settings):
    """Length a = 1, 1/2, ... with L(w + a p) - L(w) <= c a (<g, p> + |w + p|_1 - |w|_1); returns a
    and the halvings.
    """
    slope = 0.0
    before = _length(work.weights)
    for j in range(len(work.weights)):
        slope += np.float64(work.gradient[j]) * work.step[j]
    slope += _moved_length(work, 1.0) - before
    length = 1.0
    for halvings in range(settings.max_backtracking_steps + 1):
        change = (
            _moved_length(work, length)
            - before
            + settings.C * loss_change(work, length, settings.loss)
        )
        if change <= settings.sufficient_decrease * length * slope:
            return length, halvings
        length *= 0.5
    return NO_STEP, settings.max_backtracking_steps


@kernel
def _length(weights):
    """|w|_1."""
    total = 0.0
    for j in range(len(weights)):
        total += abs(weights[j])
    return total


@kernel
def _moved_length(work, length):
    """|w + a p|_1."""
    total = 0.0
    for j in range(len(work.weights)):
        total += abs(work.weights[j] + length * work.step[j])
    return total
