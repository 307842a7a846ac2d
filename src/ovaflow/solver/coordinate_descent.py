"""L1-regularized problems: |w|_1 + C sum_i c_i phi(y_i <w, x_i>) by coordinate descent.

newGLMNET (Yuan, Ho and Lin 2012; LIBLINEAR's ``-s 6``), here for both losses. Each
Newton step minimizes the quadratic model of the losses plus |w + p|_1 one
coordinate at a time, where the minimum has a closed form, and ends with a line
search on the true objective. Features whose weight is 0 and whose gradient is
well inside [-1, 1] are left out of the inner passes (shrinking); every step
begins with all features again. For the squared hinge the curvature is that of
the instances with a margin below 1, as in Newton's method without L1.

The stopping rule is that of LIBLINEAR's ``-s 5`` and ``-s 6``: the *violation* of
the optimality conditions, summed over features, falls below a target. It is
|g_j + sign(w_j)| where w_j is not 0, and max(0, |g_j| - 1) where it is, with g
the gradient of the losses alone. It is ``gradient_norm`` in an
:class:`~ovaflow.solver.problem.Outcome`. The bias feature is penalized like the
others, as in LIBLINEAR.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.losses import loss_curvature, loss_slope
from ovaflow.solver.newton import (
    CONVERGED,
    ITERATION_LIMIT,
    LINE_SEARCH_FAILED,
    NO_STEP_LENGTH,
    loss_change,
    move_along_step,
    set_up_problem,
)
from ovaflow.solver.objective import signed_margin, total_loss
from ovaflow.solver.problem import Instances, LabelProblem, Outcome, Settings, Workspace
from ovaflow.sparse.csr import CSR, add_row
from ovaflow.sparse.jit import callee, kernel, strict_callee

_LARGE_ACTIVE_SHARE = 0.5
"""Share of active instances beyond which passes over all instances cost less than a copy of the
active ones.
"""

_SMALLEST_CURVATURE = 1e-12
"""Curvature of features that no active instance has, so that it can be divided by (LIBLINEAR's
value).
"""

_LONGEST_COORDINATE_STEP = 10.0
"""Bound of the change of a weight in one visit (LIBLINEAR's value)."""


class _Survey(NamedTuple):
    """Optimality conditions under some weights."""

    n_movable: int  # features that the next step may change
    violation: float  # of all features
    largest: float  # of one feature


class _Pass(NamedTuple):
    """Result of one pass over features."""

    n_left: int  # features that have not settled at zero
    violation: float  # met by the pass, of all features
    largest: float  # of one feature


def solve_label_l1(
    X: CSR,
    columns: CSR,
    instances: Instances,
    problem: LabelProblem,
    work: Workspace,
    settings: Settings,
) -> Outcome:
    """Minimize the objective of one label, from ``work.weights`` and into them.

    ``columns`` is X transposed. ``settings.max_newton`` limits the steps, ``max_cg`` the passes
    over the features in one step, which ``cg_steps`` of the Outcome counts.
    """
    settings = settings._replace(C=problem.C)
    set_up_problem(X, instances, problem.positives, np.float32(problem.positive_cost), work)
    return minimize_l1(columns, problem.target, work, settings)


@kernel
def minimize_l1(
    columns: CSR, target: float, work: Workspace, settings: Settings, largest: float = np.inf
) -> Outcome:
    """Take Newton steps until the violation is at most the target, from w.

    Costs and scores are those in ``work``. ``largest`` is the largest violation of a feature at w,
    if it is known: the first step then leaves out features that will hardly move.
    """
    order = np.empty(len(work.weights), np.int32)
    active = _fill_slopes(work, settings.loss)
    active_start = active
    survey = _survey_features(columns, largest, order, work, settings.C)
    newton_steps = 0
    passes = 0
    line_search_halvings = 0
    status = CONVERGED
    while survey.violation > target:
        if newton_steps == settings.max_newton:
            status = ITERATION_LIMIT
            break
        tolerance = settings.inner_tolerance * survey.violation
        movable = order[: survey.n_movable]
        passes += _fill_step(columns, movable, active, tolerance, work, settings)
        length, halvings = _search_step_length(work, settings)
        newton_steps += 1
        line_search_halvings += halvings
        if length == NO_STEP_LENGTH:
            status = LINE_SEARCH_FAILED
            break
        move_along_step(work, np.float32(length))
        active = _fill_slopes(work, settings.loss)
        survey = _survey_features(columns, survey.largest, order, work, settings.C)
    return Outcome(
        newton_steps=newton_steps,
        cg_steps=passes,
        line_search_halvings=line_search_halvings,
        active_start=active_start,
        active_end=active,
        objective=_l1_norm(work.weights) + settings.C * total_loss(work, settings.loss),
        gradient_norm=survey.violation,
        gradient_target=target,
        status=status,
        full_passes=1 + newton_steps,
    )


@callee
def _fill_slopes(work: Workspace, loss: int) -> int:
    """Fill c_i phi'(m_i) y_i and c_i phi''(m_i) of every instance, and return how many are active.

    Here ``slopes`` and ``curvatures`` are in the order of the instances.
    """
    active = 0
    for i in range(len(work.scores)):
        cost = work.signed_costs[i]
        margin = signed_margin(cost, work.scores[i])
        curvature = loss_curvature(loss, margin)
        work.slopes[i] = loss_slope(loss, margin) * cost
        work.curvatures[i] = curvature * abs(cost)
        # a sum without a branch becomes vector code
        active += work.curvatures[i] > 0
    return active


@callee
def optimality_violation(weight: float, gradient: float) -> float:
    """Compute |g + sign(w)| where w is not 0, else max(0, |g| - 1)."""
    if weight > 0:
        return abs(gradient + 1.0)
    if weight < 0:
        return abs(gradient - 1.0)
    return max(0.0, abs(gradient) - 1.0)


@callee
def _survey_features(
    columns: CSR, largest_before: float, order: np.ndarray, work: Workspace, C: float
) -> _Survey:
    """Fill gradient and curvature of each feature, and ``order`` with those that may move.

    A feature of weight 0 may move unless its gradient is inside [-1, 1] by more than a margin,
    which shrinks with the largest violation (LIBLINEAR's shrinking).
    """
    margin = 1.0 - largest_before / len(work.scores)
    n_movable = 0
    total = 0.0
    largest = 0.0
    for j in range(len(work.weights)):
        slope, curvature = _sum_column(columns, j, work)
        work.gradient[j] = C * slope
        work.preconditioner[j] = max(C * curvature, _SMALLEST_CURVATURE)
        work.step[j] = 0.0
        violation = optimality_violation(work.weights[j], C * slope)
        total += violation
        largest = max(largest, violation)
        order[n_movable] = j
        if work.weights[j] != 0 or abs(C * slope) >= margin:
            n_movable += 1
    return _Survey(n_movable, total, largest)


@callee
def _sum_column(columns: CSR, j: int, work: Workspace) -> tuple[float, float]:
    """Compute sum_i c_i phi'(m_i) y_i x_ij and sum_i c_i phi''(m_i) x_ij^2."""
    slope = 0.0
    curvature = 0.0
    for k in range(np.uint64(columns.indptr[j]), np.uint64(columns.indptr[j + 1])):
        i = np.uint32(columns.indices[k])
        value = np.float64(columns.data[k])
        slope += value * work.slopes[i]
        curvature += value * value * work.curvatures[i]
    return slope, curvature


@callee
def _fill_step(
    columns: CSR,
    order: np.ndarray,
    active: int,
    tolerance: float,
    work: Workspace,
    settings: Settings,
) -> int:
    """Minimize g^T p + 1/2 p^T H p + |w + p|_1 over the features of ``order``, and fill X p.

    Returns the number of passes. Where most instances are not active, the others are copied:
    passes over them are short, and X p is computed once at the end.
    """
    n = len(work.scores)
    work.score_steps[:] = 0.0
    if active > _LARGE_ACTIVE_SHARE * n:
        return _descend(
            columns, order, work.curvatures, work.score_steps, n, tolerance, work, settings
        )
    part, curvatures = _copy_active_rows(columns, order, active, work)
    passes = _descend(
        part, order, curvatures, np.zeros(active, np.float32), n, tolerance, work, settings
    )
    for j in order:
        if work.step[j] != 0:
            start = columns.indptr[j]
            end = columns.indptr[j + 1]
            add_row(columns.data, columns.indices, start, end, work.step[j], work.score_steps)
    return passes


@strict_callee
def _copy_active_rows(
    columns: CSR, order: np.ndarray, active: int, work: Workspace
) -> tuple[CSR, np.ndarray]:
    """Copy the entries of active instances in the features of ``order``, and the curvatures.

    The instances are renumbered; other features are empty.
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


@callee
def _descend(
    columns: CSR,
    order: np.ndarray,
    curvatures: np.ndarray,
    score_steps: np.ndarray,
    n: int,
    tolerance: float,
    work: Workspace,
    settings: Settings,
) -> int:
    """Pass over the features of ``order`` until their violation is at most the tolerance.

    Returns the number of passes. ``curvatures`` (m,) and ``score_steps`` (m,), which follows X p,
    are those of the instances in ``columns``; n is the number of all instances. Features are
    visited in a random order that is always the same, and left out for the rest of the step as
    they settle at zero; a pass over all of them ends it.
    """
    n_left = len(order)
    seed = np.uint64(1)
    largest = np.inf
    for passes in range(1, settings.max_cg + 1):
        seed = _shuffle(order[:n_left], seed)
        n_left_before = n_left
        margin = 1.0 - largest / n
        visited = _visit_features(
            columns, order, n_left, margin, curvatures, score_steps, work, settings.C
        )
        n_left = visited.n_left
        largest = visited.largest
        if visited.violation <= tolerance:
            if n_left_before == len(order):
                return passes
            n_left = len(order)
            largest = np.inf
    return settings.max_cg


@callee
def _visit_features(
    columns: CSR,
    order: np.ndarray,
    n_left: int,
    margin: float,
    curvatures: np.ndarray,
    score_steps: np.ndarray,
    work: Workspace,
    C: float,
) -> _Pass:
    """Visit each of the first ``n_left`` features once.

    Those that settle at zero move behind the others.
    """
    total = 0.0
    largest = 0.0
    visited = 0
    while visited < n_left:
        j = order[visited]
        weight = work.weights[j] + work.step[j]
        gradient = work.gradient[j] + C * _step_gradient(columns, j, curvatures, score_steps)
        violation = optimality_violation(weight, gradient)
        if weight == 0 and abs(gradient) < margin:
            n_left -= 1
            order[visited], order[n_left] = order[n_left], order[visited]
            continue
        total += violation
        largest = max(largest, violation)
        direction = _newton_direction(weight, gradient, work.preconditioner[j])
        _move_feature(columns, j, direction, score_steps, work)
        visited += 1
    return _Pass(n_left, total, largest)


@callee
def _step_gradient(columns: CSR, j: int, curvatures: np.ndarray, score_steps: np.ndarray) -> float:
    """Compute sum_i x_ij c_i phi''(m_i) <x_i, p>, which the step so far adds to the gradient."""
    total = 0.0
    for k in range(np.uint64(columns.indptr[j]), np.uint64(columns.indptr[j + 1])):
        i = np.uint32(columns.indices[k])
        total += np.float64(columns.data[k]) * curvatures[i] * score_steps[i]
    return total


@callee
def _newton_direction(weight: float, gradient: float, curvature: float) -> float:
    """Compute the minimizer z of g z + 1/2 h z^2 + |w + z|, bounded."""
    if gradient + 1.0 < curvature * weight:
        direction = -(gradient + 1.0) / curvature
    elif gradient - 1.0 > curvature * weight:
        direction = -(gradient - 1.0) / curvature
    else:
        direction = -weight
    return min(max(direction, -_LONGEST_COORDINATE_STEP), _LONGEST_COORDINATE_STEP)


@callee
def _move_feature(
    columns: CSR, j: int, direction: float, score_steps: np.ndarray, work: Workspace
) -> None:
    """Move p_j += z and X p += z x_j."""
    # a weight that is to become zero becomes exactly that
    to_zero = direction == -(work.weights[j] + work.step[j])
    moved = -work.weights[j] if to_zero else np.float32(work.step[j] + direction)
    change = moved - work.step[j]
    work.step[j] = moved
    if change != 0:
        start = columns.indptr[j]
        end = columns.indptr[j + 1]
        add_row(columns.data, columns.indices, start, end, change, score_steps)


@strict_callee
def _shuffle(order: np.ndarray, seed: np.uint64) -> np.uint64:
    """Shuffle by Fisher-Yates with Knuth's linear congruential generator, and return its state."""
    for last in range(len(order) - 1, 0, -1):
        seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        other = (seed >> np.uint64(33)) % np.uint64(last + 1)
        order[last], order[other] = order[other], order[last]
    return seed


@callee
def _search_step_length(work: Workspace, settings: Settings) -> tuple[float, int]:
    """Search the first length a = 1, 1/2, ... that brings a share c of the linear decrease.

    L(w + a p) - L(w) <= c a (<g, p> + |w + p|_1 - |w|_1). Returns a, ``NO_STEP_LENGTH`` where
    there is none, and the number of halvings.
    """
    slope = 0.0
    before = _l1_norm(work.weights)
    for j in range(len(work.weights)):
        slope += np.float64(work.gradient[j]) * work.step[j]
    slope += _moved_l1_norm(work, 1.0) - before
    length = 1.0
    for line_search_halvings in range(settings.max_line_search_halvings + 1):
        change = (
            _moved_l1_norm(work, length)
            - before
            + settings.C * loss_change(work, length, settings.loss)
        )
        if change <= settings.sufficient_decrease * length * slope:
            return length, line_search_halvings
        length *= 0.5
    return NO_STEP_LENGTH, settings.max_line_search_halvings


@callee
def _l1_norm(weights: np.ndarray) -> float:
    """Compute |w|_1."""
    total = 0.0
    for j in range(len(weights)):
        total += abs(weights[j])
    return total


@callee
def _moved_l1_norm(work: Workspace, length: float) -> float:
    """Compute |w + a p|_1."""
    total = 0.0
    for j in range(len(work.weights)):
        total += abs(work.weights[j] + length * work.step[j])
    return total
